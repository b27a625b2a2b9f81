/** A command as it goes over the wire: the schema mqtt/command. */
export interface Command {
  transactionId: number;
  operation: string;
  parameters: object;
  issuedAt: string;
  /** 1 at the first connection that it is published on; higher on each further one. */
  attempt: number;
}

/** One connected device that subscribes its commands. */
export interface DeviceLink {
  deviceId: string;
  /** Under which it has the device; undefined where there are no other nodes. */
  epoch: number | undefined;
  /** Writes one command; `acknowledged` runs at most once, when its PUBACK came (or, at QoS 0, when it was written). */
  publish(command: Command, acknowledged: () => void): void;
}

/** What the outbox knows of a connection. */
export interface Lane {
  readonly link: DeviceLink;
  /** The last transactionId that was published, or taken to be published, on this connection. */
  cursor: number;
  /** True while the database may hold commands after the cursor. */
  backlog: boolean;
  /** Transactions up to the cursor that were cancelled: their cancels are in the database, and not taken yet. */
  readonly cancelled: Set<number>;
  /** True while the database may hold other cancels than those: another node may have stored one. */
  looksForCancels: boolean;
  /** Cancels that were written, where there are other nodes. */
  readonly sentCancels: Set<number>;
  /** Commands that are taken and wait for what is prepared before them, or for their own preparation. */
  readonly unsent: Set<number>;
  /** Published and not yet acknowledged by PUBACK; slots that are reserved for a running unit of work count too. */
  inFlight: number;
  /** Those of them that were written: their transactionIds, of a cancel less than 0. */
  readonly written: Set<number>;
  claiming: boolean;
  open: boolean;
  /** Aborted when the lane closes. */
  readonly closing: AbortController;
  /** Set while a command is being prepared: what comes after it waits, so that the order holds. */
  preparing: Promise<void> | undefined;
  /** Commands that wait so, and whether the first of them waits for the clock. */
  turns: number;
  paused: boolean;
}

/** Behind nothing: all that is unfinished goes out. */
export const createLane = (link: DeviceLink): Lane => ({
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
