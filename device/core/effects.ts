import type { Ack, EventMessage } from '../disk/records.ts';

/** Topics of a device below `devices/{deviceId}/`. */
export type Incoming = 'commands' | 'responses' | 'errors';
export const INCOMING: readonly Incoming[] = ['commands', 'responses', 'errors'];

/** The lists that a device can try, by the parameter, and the setting, that has them. */
export type ListKind = 'networks' | 'apns';

export interface RequestMessage {
  requestId: string;
  type: string;
  data: object;
}

export type Outgoing =
  | { kind: 'acks'; message: Ack }
  | { kind: 'events'; message: EventMessage }
  | { kind: 'requests'; message: RequestMessage }
  | { kind: 'status'; message: object };

/** A command for the maker. */
export interface Command {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly transactionId: number;
  readonly issuedAt: string;
  /** A restart came in the middle of this command: it may have been carried out in part. */
  readonly interrupted: boolean;
  /** What was stored for this command before the restart; undefined if nothing was. */
  readonly progress?: unknown;
}

/** The answer to a request: its data, or why there is none. */
export type Answered =
  | { requestId: string; data: Record<string, unknown> }
  | { requestId: string; error: { code: string; message: string } };

export type LogLevel = 'info' | 'warning' | 'error';

/** A thing for the driver of the core to do, in the order in which they come. */
export type Effect =
  | { subscribe: readonly Incoming[] }
  | { publish: Outgoing; token: number }
  /** The PUBACK of the oldest message that has none. */
  | { accept: Incoming }
  | { begin: Command }
  | { answered: Answered }
  /** The maker uses this list from now on. */
  | { networks: { kind: ListKind; list: readonly unknown[] } }
  /** End the connection, or the attempt at one. */
  | { leave: Record<string, never> }
  | { log: { level: LogLevel; text: string } }
  /** Call `timePassed` at this time of the monotonic clock. */
  | { wake: number };
