import type { Ending } from '../recording/traffic.ts';

/** A step of a device, `at` milliseconds after the beginning of the record. */
export type Step = { readonly at: number } & (
  | { readonly do: 'connect' }
  | { readonly do: 'disconnect'; readonly how: Ending }
  | { readonly do: 'publish'; readonly topic: 'events' | 'status'; readonly payload: Readonly<Record<string, unknown>> }
);

/** A message about a command, `after` milliseconds after the command. */
export interface Saying {
  readonly after: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The part of one device in a record. */
export interface Script {
  readonly steps: readonly Step[];
  /**
   * The recorded commands of each operation, in their order, each with all that the device said until its final answer.
   * An empty list: the device gave no answer.
   */
  readonly answers: ReadonlyMap<string, readonly (readonly Saying[])[]>;
}

/** A record, as the devices need it. */
export interface RecordedTraffic {
  /** The time of its beginning, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The devices, in the order in which they came. */
  readonly scripts: readonly Script[];
  /** Whether the record ended at its greatest size. */
  readonly isFull: boolean;
}
