import type { Metrics } from '../../../metrics.ts';

export interface Keepable {
  /** The developer for whom the connection carried its last message. */
  owner: string;
  socket: { destroy(): unknown };
}

export type KeptConnections = ReturnType<typeof createKeptConnections>;

/**
 * Bounds the idle connections to all receivers. Receivers decide how many origins they have and how long a connection may
 * be kept, so without a bound one of them could take all open files of the service. Above a bound the connection that is
 * idle for longest is closed.
 */
export function createKeptConnections({
  most,
  metrics,
}: {
  /** The most that are kept of all developers, and of one; see `shareOpenFiles`. */
  most: { service: number; developer: number };
  metrics: Pick<Metrics, 'receiverConnectionsKept' | 'receiverConnectionsClosed' | 'receiverConnectionsLimit'>;
}) {
  metrics.receiverConnectionsLimit.set(most.service);
  const kept = new Set<Keepable>();
  const byOwner = new Map<string, Set<Keepable>>();

  function release(connection: Keepable): void {
    if (!kept.delete(connection)) return;
    const own = byOwner.get(connection.owner);
    own?.delete(connection);
    if (own?.size === 0) byOwner.delete(connection.owner);
    metrics.receiverConnectionsKept.set(kept.size);
  }

  function closeOldest(among: ReadonlySet<Keepable>, bound: 'developer' | 'service'): void {
    for (const oldest of among) {
      release(oldest);
      metrics.receiverConnectionsClosed.inc({ bound });
      oldest.socket.destroy();
      return;
    }
  }

  return {
    /** Call this when a connection becomes idle. */
    keep(connection: Keepable): void {
      const own = byOwner.get(connection.owner) ?? new Set();
      byOwner.set(connection.owner, own.add(connection));
      kept.add(connection);
      metrics.receiverConnectionsKept.set(kept.size);
      if (own.size > most.developer) closeOldest(own, 'developer');
      else if (kept.size > most.service) closeOldest(kept, 'service');
    },

    /** Call this when a connection is used again, or has ended. */
    release,
  };
}
