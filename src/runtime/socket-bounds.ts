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
   * Milliseconds within which a peer must take some of the data that is written to it. Progress is seen only when a
   * whole written chunk was taken, so code that sends much data must write it in slices and heed back-pressure.
   */
  stallMs: number;
}

type ConnectionBound = 'connections_per_address' | 'connections' | 'write_progress';

interface Parts {
  clock: Clock;
  limits: ConnectionLimits;
  /** The address that a connection counts for; by default that of the other end. */
  addressOf?(socket: Socket): string;
  /** True for an address with the connections of many clients, which has no bound of its own; by default none is. */
  isShared?(address: string): boolean;
  /**
   * Called when a bound was reached: an older connection was closed for a new one, a new one was refused, or a
   * connection was closed because its peer does not read.
   */
  onBound(bound: ConnectionBound, outcome: 'cut' | 'refused'): void;
}

interface Connection {
  socket: Socket;
  address: string;
  /** The bytes that the peer has taken so far, and the time at which this number last changed. */
  taken: number;
  since: number;
  /** True when a request has come. */
  isUsed: boolean;
}

export type SocketBounds = ReturnType<typeof createSocketBounds>;

/** How often the progress of a connection is checked within `stallMs`. */
const CHECKS = 4;

/**
 * Bounds the connections of a listener. When a bound is reached, the connection that has waited for its peer for
 * longest is closed for the new one: an idle connection, one with half a request, or one whose answer nobody reads. So
 * an address with too many connections harms only its own, and an address with few connections loses none to an address
 * with many. A connection whose request is being worked on is never closed.
 */
export function createSocketBounds({
  clock,
  limits,
  onBound,
  addressOf = (socket) => socket.remoteAddress ?? '',
  isShared = () => false,
}: Parts) {
  const { perAddress, total, stallMs } = limits;
  const all = new Map<Socket, Connection>();
  const counts = createCounts();
  /** The connections that wait for their peers, in the order in which they began to wait. */
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

  /** Closes connections whose peers have read nothing for `stallMs`: their unread answers would stay in memory. */
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
    /**
     * Accepts a new connection, which counts as waiting for its peer until a request arrives. Returns false when the
     * connection was closed because of a bound.
     */
    admit(socket: Socket): boolean {
      const from = addressOf(socket);
      const address = addressGroup(from);
      const ownFull = counts.of(address) >= perAddress && !isShared(from);
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
      const connection = { socket, address, taken: 0, since: clock.now(), isUsed: false };
      all.set(socket, connection);
      waiting.add(connection);
      counts.add(address, 1);
      socket.once('close', () => remove(connection));
      stopChecks ??= clock.after(stallMs / CHECKS, check);
      return true;
    },

    /** Called when TLS is set up on an admitted connection: from now on `secure` stands for it. */
    secures(socket: Socket, secure: Socket): void {
      const connection = all.get(socket);
      if (!connection) return;
      all.delete(socket);
      all.set(secure, connection);
      connection.socket = secure;
      secure.once('close', () => remove(connection));
    },

    /**
     * Called when the service begins to work on a request of this connection, which is not closed for another one from
     * now on.
     */
    works(socket: Socket): void {
      const connection = all.get(socket);
      if (!connection) return;
      connection.isUsed = true;
      waiting.delete(connection);
    },

    /** Called when the connection waits for its peer again. */
    waits(socket: Socket): void {
      const connection = all.get(socket);
      if (connection) waiting.add(connection); // a connection that waits already keeps its position in the order
    },

    /** Closes the connections whose peers have sent nothing. */
    endSilent(): void {
      for (const connection of all.values()) {
        if (!connection.isUsed && connection.socket.bytesRead === 0) cut(connection);
      }
    },

    /** Closes all connections. */
    endAll(): void {
      for (const connection of all.values()) cut(connection);
    },

    /** True while a new connection would be refused, because all connections have a request in work. */
    isFull: (): boolean => all.size >= total && waiting.size === 0,
    open: (): number => all.size,
  };
}

/**
 * The text by which connections of one peer are counted: its IPv4 address, or the first 64 bits of its IPv6 address.
 */
export function addressGroup(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length);
  const [left = [], right = []] = (address.split('%')[0] ?? '')
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
