import type { Figures } from '../customer/figures.ts';

/**
 * The whole record of a run, as plain data. report.json is this record; the page and the closing table are made from
 * it, and the records of several processes that shared a run can be merged. Times are milliseconds; those inside a run
 * count from its start.
 */
export interface RunRecord {
  /** The version of this format. */
  readonly format: 1;
  readonly scenario: string;
  readonly about: string;
  readonly run: string;
  readonly seed: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly milliseconds: number;
  readonly service: { readonly api: string | null; readonly mqtt: string };
  /** The part of a run that several processes share, from 1; null if this is the whole run. */
  readonly shard: { readonly index: number; readonly of: number } | null;
  readonly groups: readonly { readonly name: string; readonly devices: number }[];
  /** The whole run first, then the phases in their order, each with all its rounds. */
  readonly chapters: readonly Chapter[];
  readonly samples: readonly Sample[];
  /** How often each fault was played. */
  readonly faults: Readonly<Record<string, number>>;
  readonly verdicts: readonly Verdict[];
  /** The verdicts on the requirements in `takesPlace`. */
  readonly requirements: readonly Verdict[];
  /** The reasons why the run did not take place, each in a line; empty if it did. */
  readonly notRun: readonly string[];
  readonly own: Own;
  readonly memory: Memory;
  /** Faults and strange events, in words. */
  readonly troubles: readonly string[];
  readonly troublesNotShown: number;
  /** Whether Ctrl-C ended the run early. */
  readonly interrupted: boolean;
}

/** The name of the chapter that is the whole run. */
export const WHOLE_RUN = 'run';

export interface Chapter {
  readonly name: string;
  readonly spans: readonly { readonly from: number; readonly to: number }[];
  /** The figures of the customer; null without a customer. */
  readonly figures: Figures | null;
  /** The counts of the fleet, by name. Some are the state at the end of the chapter. */
  readonly fleet: Readonly<Record<string, number>>;
}

/** The state once a second. Counts are since the start; latencies are of that second. */
export interface Sample {
  readonly at: number;
  readonly connected: number;
  readonly accepted: number;
  readonly settled: number;
  readonly unfinished: number;
  readonly errors: number;
  readonly delivered: Latencies | null;
  readonly settledAfter: Latencies | null;
  /**
   * Of the simulator in that second: the longest delay of its event loop, its share of a processor, and the longest
   * delay of an action.
   */
  readonly loopDelay: number;
  readonly processor: number;
  readonly behind: number;
}

export interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

/** How slow the simulator itself was, in milliseconds. */
export interface Own {
  /** The total time in which it stood still, and in which its event loop was full. */
  readonly standstill: number;
  readonly full: number;
  /** The longest delay of its event loop, and the longest delay of an action after it was due. */
  readonly loopDelay: number;
  readonly behind: number;
}

/** The memory of this process, in bytes. */
export interface Memory {
  /** Before the first device, when all devices were connected, and at the end. */
  readonly before: number;
  readonly connected: number;
  readonly end: number;
}

/** The verdict on an expectation. */
export interface Verdict {
  readonly text: string;
  /** The phase of the expectation; null for the whole run. */
  readonly phase: string | null;
  readonly holds: boolean;
  /** False: the expectation does not hold, and the simulator was too slow to blame the service. */
  readonly measurable: boolean;
  /** The value in the unit of the expectation; null if nothing was measured. */
  readonly value: number | null;
  /** The value for people. */
  readonly shown: string;
  /** The shortest story of a device for which the expectation does not hold. */
  readonly story: readonly string[];
}
