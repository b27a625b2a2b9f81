import type { Socket } from 'node:net';
import type { Metrics } from '../../metrics.ts';
import { clientAddress, isProxied } from '../../platform/entrance/client-address.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import type { Networks } from '../../runtime/networks.ts';
import { addressGroup } from '../../runtime/socket-bounds.ts';
import { createLoginTime } from './login-time.ts';

// Microseconds for which a new connection may still be about to send its CONNECT. It is not closed in this time to make
// room for another connection of the same address.
const STALE_MICROSECONDS = 1_000_000;
/** Milliseconds for a TLS handshake: a device at 600 bytes per second needs ten seconds for a chain of certificates. */
const HANDSHAKE_MILLISECONDS = 30_000;
/** The part of all connections that may be without a login at a time. */
const WAITING_SHARE = 0.5;
const PER_ADDRESS = 1_000;

interface Parts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  /** The most connections in all. The caller sets it below the process's limit of open files. */
  most: number;
  /**
   * The most connections of one address that have not logged in; 0 is no limit. Null means 1000, and no limit for
   * loopback addresses, where a proxy with the connections of all devices may run.
   */
  perAddress: number | null;
  /** The addresses of proxies; undefined when none is trusted. */
  trusted?: Networks | undefined;
  /** The setting LAPEL_MQTT_LOGIN_SECONDS. */
  loginSeconds: number;
}

/** An accepted socket, from its first moment, before any handshake. */
export interface AcceptedSocket {
  readonly address: string;
  /** The IP address. For IPv6, `address` is only its network, because one peer can use all addresses of a network. */
  readonly remoteAddress: string;
  /**
   * A proxy names the client that the connection is for. Returns the socket for that client; undefined when it had to
   * be closed because of a bound.
   */
  comesFrom(remoteAddress: string): AcceptedSocket | undefined;
  /** The TLS handshake begins. Until then the socket waited, because only a few handshakes begin at a time. */
  handshakeBegan(): void;
  /** The TLS handshake is finished: the time for the login begins. */
  handshakeEnded(): void;
  /**
   * The whole CONNECT has arrived. The time limit for logins ends here, because the service causes all later delays.
   */
  connectReceived(): void;
  /** The CONNECT was refused. Until the connection ends it counts again as one that has not logged in. */
  refused(): void;
  loggedIn(deviceId: string): void;
}

interface Waiting {
  socket: Socket;
  /** The client, as its connections are counted. */
  address: string;
  since: number;
}

const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

const first = <Item>(items: Set<Item> | undefined): Item | undefined => items?.values().next().value;

/**
 * Bounds the connections of devices:
 * - In all. Of these, only WAITING_SHARE may be without a login. When a new connection exceeds a bound, the oldest one
 *   without a login is closed. So a client that opens connections without logging in harms only clients that do the
 *   same.
 * - For each address, as long as they are without a login. Here a connection of less than a second is never closed: a
 *   thousand devices behind one address that reconnect at once are served one after another.
 */
export function createConnections({ clock, log, logLimit, metrics, most, perAddress, loginSeconds, trusted }: Parts) {
  const sockets = new Set<Socket>();
  const waiting = new Set<Waiting>();
  const byAddress = new Map<string, Set<Waiting>>();
  const share = Math.max(1, Math.floor(most * WAITING_SHARE));
  metrics.mqttConnectionsLimit.set(most);

  function count(): void {
    metrics.mqttConnections.set(sockets.size);
    metrics.mqttWaiting.set(waiting.size);
  }

  function note(reason: 'connections' | 'waiting' | 'address' | 'login_time', address: string): void {
    metrics.mqttRefused.inc({ reason });
    const leftOut = logLimit(reason === 'address' ? `${reason} ${address}` : reason);
    if (leftOut !== undefined)
      log.warn(
        { reason, address, leftOut },
        'the limit of connections of devices is reached, so a connection is closed',
      );
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

  /**
   * Makes room for one more connection from an address: closes an older one without a login if a bound is reached.
   * Returns false when none may be closed.
   */
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

  /** The most connections without a login that an address may have; 0 is no limit. */
  function boundOf(remoteAddress: string, isNamed: boolean): number {
    const isShared = !isNamed && (LOOPBACK.test(remoteAddress) || trusted?.has(remoteAddress) === true);
    return perAddress ?? (isShared ? 0 : PER_ADDRESS);
  }

  return {
    /**
     * Accepts a socket, or closes it and returns undefined. With `handshake` the caller reports the begin and end of
     * the TLS handshake.
     */
    admit(socket: Socket, begins: 'handshake' | 'login'): AcceptedSocket | undefined {
      const remoteAddress = clientAddress(socket);
      const address = addressGroup(remoteAddress);
      if (!makeRoom(address, boundOf(remoteAddress, isProxied(socket)))) {
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
      const accepted: AcceptedSocket = {
        address,
        remoteAddress,
        comesFrom(client) {
          if (!sockets.has(socket)) return undefined;
          stopWaiting(one);
          sockets.delete(socket); // it needs no room besides its own
          if (!makeRoom(addressGroup(client), boundOf(client, true))) {
            count();
            socket.destroy();
            return undefined;
          }
          sockets.add(socket);
          one.address = addressGroup(client);
          wait(one);
          return { ...accepted, address: one.address, remoteAddress: client };
        },
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
          // Other connections may have come while this login was being checked, so that there are now too many without
          // a login.
          const oldest = waiting.size > share ? first(waiting) : undefined;
          if (oldest) cut(oldest, 'waiting');
          count();
        },
        loggedIn() {
          stopWaiting(one);
          count();
        },
      };
      return accepted;
    },

    /** Closes all connections. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}
