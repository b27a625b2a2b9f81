import type { Socket } from 'node:net';
import type { Clock } from './clock.ts';

interface ConnectionLimits {
  /** Connections at a time of one address (of IPv6 one network of 64 bits, which is what one customer has). */
  perAddress: number;
  /** Of all addresses. */
  total: number;
  /**
   * Milliseconds in which a peer takes something of what is written to it. Progress shows by chunks, so whoever writes
   * much heeds back-pressure and writes in slices.
   */
  stallMs: number;
}

type ConnectionBound = 'connections_per_address' | 'connections' | 'write_progress';

interface Parts {
  clock: Clock;
  limits: ConnectionLimits;
  /** A bound was hit: an older connection was cut for a new one, a new one refused, or one cut whose peer does not read. */
  onBound(bound: ConnectionBound, outcome: 'cut' | 'refused'): void;
}

interface Connection {
  socket: Socket;
  address: string;
  /** Bytes that the peer took, and since when they are no more. */
  taken: number;
  since: number;
}

export type SocketBounds = ReturnType<typeof createSocketBounds>;

/** Checks of progress within the time that a peer has for some. */
const CHECKS = 4;

/**
 * The bounds of a listener's connections. When one is hit, the connection that has waited for its peer for longest is cut
 * for the new one: idle, half a request, an answer that nobody reads. So an address that holds its bound harms its own
 * connections, and one that holds few is not cut for those of one that holds many. What the service works for is not cut.
 */
export function createSocketBounds({ clock, limits, onBound }: Parts) {
  const { perAddress, total, stallMs } = limits;
  const all = new Map<Socket, Connection>();
  const counts = new Map<string, number>();
  /** In the order in which they began to wait for their peers. */
  const waiting = new Set<Connection>();
  let stopChecks: (() => void) | undefined;

  function remove(connection: Connection): void {
    if (!all.delete(connection.socket)) return;
    waiting.delete(connection);
    const left = (counts.get(connection.address) ?? 0) - 1;
    if (left > 0) counts.set(connection.address, left);
    else counts.delete(connection.address);
    if (all.size > 0) return;
    stopChecks?.();
    stopChecks = undefined;
  }

  function longestWaiting(address: string | undefined): Connection | undefined {
    for (const connection of waiting) {
      if (address === undefined || connection.address === address) return connection;
    }
    return undefined;
  }

  function heaviest(): string | undefined {
    let most: [address: string, count: number] = ['', 0];
    for (const entry of counts) if (entry[1] > most[1]) most = entry;
    return most[0];
  }

  function cut(connection: Connection): void {
    connection.socket.destroy();
    remove(connection);
  }

  /** A peer that reads nothing of its answers would have them kept for it, for as long as it likes. */
  function check(): void {
    const now = clock.now();
    for (const connection of all.values()) {
      const { socket } = connection;
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken !== connection.taken) {
        connection.taken = taken;
        connection.since = now;
      } else if (now - connection.since >= stallMs * 1000) {
        onBound('write_progress', 'cut');
        cut(connection);
      }
    }
    stopChecks = all.size > 0 ? clock.after(stallMs / CHECKS, check) : undefined;
  }

  return {
    /** Takes in a new connection, which waits for its peer; false when it was refused, and destroyed. */
    admit(socket: Socket): boolean {
      const address = addressGroup(socket.remoteAddress);
      const ownFull = (counts.get(address) ?? 0) >= perAddress;
      if (ownFull || all.size >= total) {
        const bound = ownFull ? 'connections_per_address' : 'connections';
        const oldest = ownFull ? longestWaiting(address) : (longestWaiting(heaviest()) ?? longestWaiting(undefined));
        onBound(bound, oldest ? 'cut' : 'refused');
        if (!oldest) {
          socket.destroy();
          return false;
        }
        cut(oldest);
      }
      const connection = { socket, address, taken: 0, since: clock.now() };
      all.set(socket, connection);
      waiting.add(connection);
      counts.set(address, (counts.get(address) ?? 0) + 1);
      socket.once('close', () => remove(connection));
      stopChecks ??= clock.after(stallMs / CHECKS, check);
      return true;
    },

    /** The service has something to do for it. */
    works(socket: Socket): void {
      const connection = all.get(socket);
      if (connection) waiting.delete(connection);
    },

    /** It waits for its peer again. */
    waits(socket: Socket): void {
      const connection = all.get(socket);
      if (connection) waiting.add(connection); // one that waits already keeps its place
    },

    /** True while a new connection of a new address would be refused. */
    isFull: (): boolean => all.size >= total && waiting.size === 0,
    /** Connections that are open. */
    open: (): number => all.size,
  };
}

/** What stands for one peer: its IPv4 address, or the first 64 bits of its IPv6 address. */
export function addressGroup(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length);
  const [left = [], right = []] = (address.split('%')[0] ?? '')
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
