import type { Span } from '../../runtime/tracing.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Due } from './due.ts';

/** A command in the form that is sent: the schema mqtt/command. */
export interface Command {
  transactionId: number;
  operation: string;
  parameters: object;
  issuedAt: string;
  /** The number of connections on which the command was published, this one included. */
  attempt: number;
}

/** A connection of a device that has subscribed to its commands. */
export interface DeviceLink {
  deviceId: string;
  /**
   * The epoch of the connection: it rises each time the device connects, to any node. Undefined when only one process
   * uses the database.
   */
  epoch: number | undefined;
  /**
   * Writes one command. `acknowledged` runs at most once, at its PUBACK. With a subscription of QoS 0 there is none, and
   * `written` runs instead: nothing is known of the device before its acknowledgement. `due` is the row of the command.
   */
  publish(command: Command, acknowledged: () => void, written: () => void, due: Due): void;
  /** The most unacknowledged commands that the device takes at a time; the usual number without it. */
  window?: number | undefined;
}

/** The state that the outbox keeps in memory for each connection. */
export interface ConnectionState {
  readonly link: DeviceLink;
  /** The most unacknowledged commands. */
  readonly window: number;
  /** The last transactionId that was published, or claimed to be published, on this connection. */
  cursor: number;
  /** Whether the database may hold due commands after the cursor. */
  backlog: boolean;
  /** Transactions up to the cursor that were cancelled, and whose cancels were not claimed yet. */
  readonly cancelled: Set<number>;
  /**
   * Whether the database may hold further cancels of commands up to the cursor, because another node may have stored
   * one.
   */
  looksForCancels: boolean;
  /**
   * Transactions whose cancels were sent on this connection, so that they are not sent again when another node
   * announces a cancel.
   */
  readonly sentCancels: Set<number>;
  /** Commands up to the cursor that were not published on this connection, because their rollouts held them back. */
  readonly heldBack: Map<number, string>;
  /** Whether a rollout of `heldBack` may have been released. */
  looksForReleased: boolean;
  /**
   * Transactions whose commands were claimed but not written yet: their parameters are being made (a download URL), or
   * those of an earlier command are.
   */
  readonly unsent: Set<number>;
  /**
   * Commands that were claimed and have neither a PUBACK nor an answer. Commands that a running unit of work is about
   * to claim count too.
   */
  inFlight: number;
  /**
   * The commands in flight that were written to the socket, and when, in the order of writing, by transactionId; a
   * cancel is stored as its negative transactionId.
   */
  readonly written: Map<number, Micros>;
  /** The spans of the commands in flight that are traced, by the same numbers; undefined until there was one. */
  spans: Map<number, Span> | undefined;
  claiming: boolean;
  open: boolean;
  /** Aborted when the connection ends. */
  readonly closing: AbortController;
  /** The last command whose parameters are being made; later commands wait for it, so that their order is kept. */
  preparing: Promise<void> | undefined;
  /**
   * The number of commands that wait until their parameters, or those of an earlier command, are made. `paused`: the
   * first of them pauses after a failure.
   */
  turns: number;
  paused: boolean;
}

/** The state of a new connection: its cursor is 0, so that all unfinished transactions are sent. */
export const createConnectionState = (link: DeviceLink, usualWindow: number): ConnectionState => ({
  link,
  window: link.window ?? usualWindow,
  cursor: 0,
  backlog: true,
  cancelled: new Set(),
  looksForCancels: false,
  sentCancels: new Set(),
  heldBack: new Map(),
  looksForReleased: false,
  unsent: new Set(),
  inFlight: 0,
  written: new Map(),
  spans: undefined,
  claiming: false,
  open: true,
  closing: new AbortController(),
  preparing: undefined,
  turns: 0,
  paused: false,
});
