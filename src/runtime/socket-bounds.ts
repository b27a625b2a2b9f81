import type { Socket } from 'node:net';
import type { Clock } from './clock.ts';
import { createCounts } from './counts.ts';

interface ConnectionLimits {
  /**
   * Simultaneous connections from one address (for IPv6 from one network of 64 bits, which is the size that one
   * customer has).
   */
  perAddress: number;
  /** The most simultaneous connections from all addresses. */
  total: number;
  /**
   * Milliseconds within which a peer must take some of the data that is written to it. Progress is seen by chunks, so
   * code that writes much data must heed back-pressure and write in slices.
   */
  stallMs: number;
}

type ConnectionBound = 'connections_per_address' | 'connections' | 'write_progress';

interface Parts {
  clock: Clock;
  limits: ConnectionLimits;
  /**
   * Called when a bound was reached: an older connection was closed for a new one, a new one was refused, or a
   * connection was closed because its peer does not read.
   */
  onBound(bound: ConnectionBound, outcome: 'cut' | 'refused'): void;
}

interface Connection {
  socket: Socket;
  address: string;
  /** Bytes that the peer has taken, and the time since which this number is unchanged. */
  taken: number;
  since: number;
}

export type SocketBounds = ReturnType<typeof createSocketBounds>;

/** The number of checks of progress within `stallMs`. */
const CHECKS = 4;

/**
 * The bounds of a listener's connections. At a bound, the connection that has waited for its peer for longest is closed
 * for the new one: an idle one, half a request, an answer that nobody reads. So an address at its bound harms its own
 * connections only, and an address with few connections loses none to an address with many. A connection whose request
 * is being worked on is never closed.
 */
export function createSocketBounds({ clock, limits, onBound }: Parts) {
  const { perAddress, total, stallMs } = limits;
  const all = new Map<Socket, Connection>();
  const counts = createCounts();
  /** Ordered by the times at which they began to wait for their peers. */
  const waiting = new Set<Connection>();
  let stopChecks: (() => void) | undefined;

  function remove(connection: Connection): void {
    if (!all.delete(connection.socket)) return;
    waiting.delete(connection);
    counts.add(connection.address, -1);
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

  function cut(connection: Connection): void {
    connection.socket.destroy();
    remove(connection);
  }

  /**
   * Closes connections whose peers read nothing of their answers: the service would have to keep these answers in
   * memory for as long as the peer likes.
   */
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
    /** Accepts a new connection, which first waits for its peer; returns false when it was refused and destroyed. */
    admit(socket: Socket): boolean {
      const address = addressGroup(socket.remoteAddress);
      const ownFull = counts.of(address) >= perAddress;
      if (ownFull || all.size >= total) {
        const bound = ownFull ? 'connections_per_address' : 'connections';
        const oldest = ownFull
          ? longestWaiting(address)
          : (longestWaiting(counts.highest()) ?? longestWaiting(undefined));
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
      counts.add(address, 1);
      socket.once('close', () => remove(connection));
      stopChecks ??= clock.after(stallMs / CHECKS, check);
      return true;
    },

    /** The service works on a request of this connection: it may not be closed for another one. */
    works(socket: Socket): void {
      const connection = all.get(socket);
      if (connection) waiting.delete(connection);
    },

    /** The connection waits for its peer again. */
    waits(socket: Socket): void {
      const connection = all.get(socket);
      if (connection) waiting.add(connection); // a connection that already waits keeps its position
    },

    /** True while a new connection from a new address would be refused. */
    isFull: (): boolean => all.size >= total && waiting.size === 0,
    open: (): number => all.size,
  };
}

/** The name of one peer: its IPv4 address, or the first 64 bits of its IPv6 address. */
export function addressGroup(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length);
  const [left = [], right = []] = (address.split('%')[0] ?? '')
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
