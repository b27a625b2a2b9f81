import type { Incoming, Outgoing } from '../core/effects.ts';

/** With a credential, or with a certificate and its key, as PEM. */
export type Login = { credential: string } | { certificate: string; key: string };

/** The driver is told of each; none comes after `close` was called, or after `lost`. */
export interface ConnectionEvents {
  /** The service has accepted the login. */
  connected(): void;
  message(kind: Incoming, text: string): void;
  /** The PUBACK of a publish has come. */
  confirmed(token: number): void;
  /** Also when it never came about. `isRefused`: the service knows no such device, or the login is wrong. */
  lost(reason: string, isRefused: boolean): void;
}

/** One connection, from its attempt to its end. */
export interface Connection {
  subscribe(kinds: readonly Incoming[]): void;
  publish(outgoing: Outgoing, token: number): void;
  /** Sends the PUBACK of the oldest message that has none. */
  accept(): void;
  /** Ends it now. */
  close(): void;
}

/** Begins an attempt. */
export type Open = (login: Login, events: ConnectionEvents) => Connection;

/** The logins of a device: two, while it comes to another one. */
export interface Logins {
  readonly current: Login;
  /** The service has accepted `current`. */
  succeeded(): void;
  /** The service has refused `current`. */
  refused(): void;
}
