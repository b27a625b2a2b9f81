import type { Socket } from 'node:net';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { addressGroup } from '../../runtime/socket-bounds.ts';
import { createLoginTime } from './login-time.ts';

// A connection that has waited for less than this may be about to send its CONNECT, and is not closed for another one
// of the same address.
const STALE_MICROSECONDS = 1_000_000;
/** Milliseconds for a TLS handshake: a device at 600 bytes per second needs ten seconds for a chain of certificates. */
const HANDSHAKE_MILLISECONDS = 30_000;
/** The share of all connections that may be waiting for their login. */
const WAITING_SHARE = 0.5;
const PER_ADDRESS = 1_000;

interface Parts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  /** The most connections. It is below the process's limit of open files. */
  most: number;
  /**
   * The most connections of one address that have not logged in; 0 is no limit. Null: 1000, with no limit for loopback,
   * where a proxy may run.
   */
  perAddress: number | null;
  /** The setting LAPEL_MQTT_LOGIN_SECONDS. */
  loginSeconds: number;
}

/** An accepted socket, from its first moment, before any handshake. */
export interface AcceptedSocket {
  readonly address: string;
  /** The address itself; for IPv6 `address` is its network. */
  readonly remoteAddress: string;
  /** The TLS handshake begins; before that the socket waited for its turn. */
  handshakeBegan(): void;
  /** The TLS handshake is finished: the time for the login begins. */
  handshakeEnded(): void;
  /** The whole CONNECT has arrived: further delays are caused by the service, and do not count. */
  connectReceived(): void;
  /** The CONNECT was refused: the connection will end, and counts as waiting again until then. */
  refused(): void;
  loggedIn(): void;
}

interface Waiting {
  socket: Socket;
  address: string;
  since: number;
}

const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

const first = <Item>(items: Set<Item> | undefined): Item | undefined => items?.values().next().value;

/**
 * Bounds the connections. Their number is bounded in all, and connections that have not logged in may have only a share
 * of it. At that bound the oldest waiting connection is closed for a new one, so a client that opens connections
 * without logging in closes only those like its own. The number per address is smaller still, and there a recent
 * connection is never closed: a thousand devices behind one address that reconnect at once are served one after
 * another.
 */
export function createConnections({ clock, log, logLimit, metrics, most, perAddress, loginSeconds }: Parts) {
  const sockets = new Set<Socket>();
  const waiting = new Set<Waiting>();
  const byAddress = new Map<string, Set<Waiting>>();
  const share = Math.max(1, Math.floor(most * WAITING_SHARE));

  function count(): void {
    metrics.mqttConnections.set(sockets.size);
    metrics.mqttWaiting.set(waiting.size);
  }

  function note(reason: 'connections' | 'waiting' | 'address' | 'login_time', address: string): void {
    metrics.mqttRefused.inc({ reason });
    const leftOut = logLimit(reason === 'address' ? `${reason} ${address}` : reason);
    if (leftOut !== undefined)
      log.warn({ reason, address, leftOut }, 'a bound of connections is reached; connections are closed');
  }

  function wait(one: Waiting): void {
    waiting.add(one);
    const same = byAddress.get(one.address);
    if (same) same.add(one);
    else byAddress.set(one.address, new Set([one]));
  }

  function stopWaiting(one: Waiting): void {
    if (!waiting.delete(one)) return;
    const same = byAddress.get(one.address);
    same?.delete(one);
    if (same?.size === 0) byAddress.delete(one.address);
  }

  function cut(one: Waiting, reason: 'waiting' | 'address' | 'login_time'): void {
    note(reason, one.address);
    stopWaiting(one);
    sockets.delete(one.socket);
    one.socket.destroy();
  }

  const late = (one: Waiting): void => cut(one, 'login_time');
  const loginTime = createLoginTime<Waiting>({ clock, milliseconds: loginSeconds * 1000 }, late);
  const handshakeTime = createLoginTime<Waiting>({ clock, milliseconds: HANDSHAKE_MILLISECONDS }, late);

  /** Makes room for one more connection of an address; false when that is impossible. */
  function makeRoom(address: string, bound: number): boolean {
    const same = byAddress.get(address);
    if (bound > 0 && same && same.size >= bound) {
      const oldest = first(same);
      if (!oldest || clock.now() - oldest.since < STALE_MICROSECONDS) {
        note('address', address);
        return false;
      }
      cut(oldest, 'address');
    }
    if (waiting.size < share && sockets.size < most) return true;
    const oldest = first(waiting);
    if (oldest) cut(oldest, 'waiting');
    if (sockets.size < most) return true;
    note('connections', address);
    return false;
  }

  return {
    /**
     * Accepts a socket, or closes it and returns undefined. For TLS sockets the caller reports the begin and end of the
     * handshake.
     */
    admit(socket: Socket, begins: 'handshake' | 'login'): AcceptedSocket | undefined {
      const address = addressGroup(socket.remoteAddress);
      const unbound = LOOPBACK.test(socket.remoteAddress ?? '');
      if (!makeRoom(address, perAddress ?? (unbound ? 0 : PER_ADDRESS))) {
        socket.destroy();
        return undefined;
      }
      const one: Waiting = { socket, address, since: clock.now() };
      if (begins === 'login') loginTime.begin(one);
      sockets.add(socket);
      wait(one);
      count();
      socket.once('close', () => {
        handshakeTime.end(one);
        loginTime.end(one);
        stopWaiting(one);
        sockets.delete(socket);
        count();
      });
      return {
        address,
        remoteAddress: socket.remoteAddress ?? '',
        handshakeBegan() {
          if (sockets.has(socket)) handshakeTime.begin(one);
        },
        handshakeEnded() {
          handshakeTime.end(one);
          if (sockets.has(socket)) loginTime.begin(one);
        },
        connectReceived() {
          loginTime.end(one);
          stopWaiting(one);
          count();
        },
        refused() {
          if (!sockets.has(socket)) return;
          wait(one);
          // While the login was being checked, others may have filled the share of waiting connections.
          const oldest = waiting.size > share ? first(waiting) : undefined;
          if (oldest) cut(oldest, 'waiting');
          count();
        },
        loggedIn() {
          stopWaiting(one);
          count();
        },
      };
    },

    /** Closes all connections. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}
