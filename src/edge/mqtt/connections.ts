import type { Socket } from 'node:net';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { addressGroup } from '../../runtime/socket-bounds.ts';
import { createLoginTime } from './login-time.ts';

// Who has waited for less than this may still be about to speak, and is not cut off for another of the same address.
const STALE_MICROSECONDS = 1_000_000;
/** A device at 600 bytes a second needs ten seconds for a handshake with a chain of certificates. */
const HANDSHAKE_MILLISECONDS = 30_000;
/** Connections that have not logged in may take this part of all places. */
const WAITING_SHARE = 0.5;
const PER_ADDRESS = 1_000;

interface Parts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  /** Connections at most. Below the process's limit of open files. */
  most: number;
  /** Connections of one address that have not logged in; 0 is no limit. Null: 1000, and no limit for loopback, where a proxy may be. */
  perAddress: number | null;
  /** LAPEL_MQTT_LOGIN_SECONDS */
  loginSeconds: number;
}

/** One connection, from its first moment, before any handshake. */
export interface Place {
  readonly address: string;
  /** The address itself; of IPv6 `address` is the network that it is in. */
  readonly remoteAddress: string;
  /** Its handshake may begin: until then it waited for its turn here. */
  shakesHands(): void;
  /** The handshake has come to its end: the time to log in begins. */
  secured(): void;
  /** The whole CONNECT has come: what takes time from here on is the service. */
  spoke(): void;
  /** The CONNECT was refused: the connection is about to end, and waits again until it has. */
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
 * Places for connections. All of them together are bounded, and those that have not logged in have a share of that which
 * they cannot exceed: the oldest of them goes for a new one, so whoever opens connections and says nothing cuts off
 * nobody but himself. Of one address there are fewer still, and whoever has just come is let finish: a thousand devices
 * behind one address that come back at once are served one after another.
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
    if (leftOut !== undefined) log.warn({ reason, address, leftOut }, 'connections are closed by a bound');
  }

  function wait(one: Waiting): void {
    waiting.add(one);
    const same = byAddress.get(one.address);
    if (same) same.add(one);
    else byAddress.set(one.address, new Set([one]));
  }

  function waitsNoMore(one: Waiting): void {
    if (!waiting.delete(one)) return;
    const same = byAddress.get(one.address);
    same?.delete(one);
    if (same?.size === 0) byAddress.delete(one.address);
  }

  function cut(one: Waiting, reason: 'waiting' | 'address' | 'login_time'): void {
    note(reason, one.address);
    waitsNoMore(one);
    sockets.delete(one.socket);
    one.socket.destroy();
  }

  const late = (one: Waiting): void => cut(one, 'login_time');
  const loginTime = createLoginTime<Waiting>({ clock, milliseconds: loginSeconds * 1000 }, late);
  const handshakeTime = createLoginTime<Waiting>({ clock, milliseconds: HANDSHAKE_MILLISECONDS }, late);

  /** Makes room for one more of the address; false when there is none. */
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
    /** Takes a socket in, or closes it and answers undefined. One that has a handshake before it says when that begins, and ends. */
    admit(socket: Socket, begins: 'handshake' | 'login'): Place | undefined {
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
        waitsNoMore(one);
        sockets.delete(socket);
        count();
      });
      return {
        address,
        remoteAddress: socket.remoteAddress ?? '',
        shakesHands() {
          if (sockets.has(socket)) handshakeTime.begin(one);
        },
        secured() {
          handshakeTime.end(one);
          if (sockets.has(socket)) loginTime.begin(one);
        },
        spoke() {
          loginTime.end(one);
          waitsNoMore(one);
          count();
        },
        refused() {
          if (!sockets.has(socket)) return;
          wait(one);
          // While its login was looked at, others may have taken its place among those that wait.
          const oldest = waiting.size > share ? first(waiting) : undefined;
          if (oldest) cut(oldest, 'waiting');
          count();
        },
        loggedIn() {
          waitsNoMore(one);
          count();
        },
      };
    },

    /** Ends all of them. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}
