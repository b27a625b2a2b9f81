/** A command in the form that is sent: the schema mqtt/command. */
export interface Command {
  transactionId: number;
  operation: string;
  parameters: object;
  issuedAt: string;
  /** The number of connections on which the command was published, this one included. */
  attempt: number;
}

/** A connection of a device that subscribes its commands. */
export interface DeviceLink {
  deviceId: string;
  /** The epoch under which the connection has the device; undefined when the process is alone. */
  epoch: number | undefined;
  /** Writes one command; `acknowledged` runs at most once, at its PUBACK (or, at QoS 0, when it was written). */
  publish(command: Command, acknowledged: () => void): void;
}

/** The outbox's state of a connection. */
export interface ConnectionState {
  readonly link: DeviceLink;
  /** The last transactionId that was published, or claimed to be published, on this connection. */
  cursor: number;
  /** Whether the database may hold due commands after the cursor. */
  backlog: boolean;
  /** Transactions up to the cursor that were cancelled, and whose cancels were not claimed yet. */
  readonly cancelled: Set<number>;
  /** Whether the database may hold further cancels, because another node may have stored one. */
  looksForCancels: boolean;
  /** Transactions whose cancels were written, so that a hint of another node does not send them again. */
  readonly sentCancels: Set<number>;
  /** Commands that were claimed, and that wait for their own preparation or for that of an earlier command. */
  readonly unsent: Set<number>;
  /** Commands that are claimed and not acknowledged by PUBACK; those that a running unit of work reserves count too. */
  inFlight: number;
  /** The commands in flight that were written, by transactionId; a cancel by its negative transactionId. */
  readonly written: Set<number>;
  claiming: boolean;
  open: boolean;
  /** Aborted when the connection ends. */
  readonly closing: AbortController;
  /** Set while a command is being prepared; later commands wait for it, so that the order is kept. */
  preparing: Promise<void> | undefined;
  /** The number of commands that wait for preparations, and whether the first of them waits for the clock. */
  turns: number;
  paused: boolean;
}

/** The state of a new connection: its cursor is 0, so that all unfinished transactions are sent. */
export const createConnectionState = (link: DeviceLink): ConnectionState => ({
  link,
  cursor: 0,
  backlog: true,
  cancelled: new Set(),
  looksForCancels: false,
  sentCancels: new Set(),
  unsent: new Set(),
  inFlight: 0,
  written: new Set(),
  claiming: false,
  open: true,
  closing: new AbortController(),
  preparing: undefined,
  turns: 0,
  paused: false,
});
