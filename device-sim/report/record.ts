import type { Figures } from '../customer/figures.ts';
import type { RolloutSummary } from '../customer/rollout-closing.ts';

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
  /**
   * The part of the run that this process played, from 1, when several processes shared the run. Null: it played the
   * whole run.
   */
  readonly shard: { readonly index: number; readonly of: number } | null;
  readonly groups: readonly { readonly name: string; readonly devices: number }[];
  /**
   * The figures of the whole run, then those of each phase in order. A phase that is repeated has one entry for all its
   * rounds.
   */
  readonly chapters: readonly Chapter[];
  readonly samples: readonly Sample[];
  /** How often each fault was played. */
  readonly faults: Readonly<Record<string, number>>;
  /** The rollouts of the customer, as they were at the end. Absent in records of runs without this part. */
  readonly rollouts?: readonly RolloutSummary[];
  /** How often each check of the simulator has looked. Absent without a customer, and in records of earlier versions. */
  readonly looks?: Readonly<Record<string, number>>;
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

/** The name of the entry in `chapters` that covers the whole run. */
export const WHOLE_RUN = 'run';

export interface Chapter {
  readonly name: string;
  readonly spans: readonly { readonly from: number; readonly to: number }[];
  /** The figures that the customer has counted; null in a run without a customer. */
  readonly figures: Figures | null;
  /** The same for each group or action that an expectation names, such as `group: well`. */
  readonly scopes?: Readonly<Record<string, Figures>>;
  /**
   * The counts of the fleet, by name: most are totals within the phase; some, such as `connected`, are the state at its
   * end.
   */
  readonly fleet: Readonly<Record<string, number>>;
}

/** The state of a run at one second. Counts are totals since the start; latencies are those of that second alone. */
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
   * About the simulator itself in that second: the longest delay of its event loop, the share of a processor that it
   * used, and the longest delay with which it began a due action.
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
  /** The total time in which the process stood still, and the total time in which its event loop was full. */
  readonly standstill: number;
  readonly full: number;
  /** The longest delay of its event loop, and the longest delay of an action after it was due. */
  readonly loopDelay: number;
  readonly behind: number;
}

/** The memory of this process, in bytes. */
export interface Memory {
  /** The bytes before the first device was made, when all devices were connected, and at the end. */
  readonly before: number;
  readonly connected: number;
  readonly end: number;
}

/** Whether an expectation holds, with the measured value. */
export interface Verdict {
  readonly text: string;
  /** The phase that the expectation is about; null: the whole run. */
  readonly phase: string | null;
  readonly holds: boolean;
  /** False: the expectation does not hold, and the simulator was too slow to blame the service. */
  readonly measurable: boolean;
  /** The value in the unit of the expectation; null if there was nothing to measure. */
  readonly value: number | null;
  /** The value as reports show it, such as `1.53 s`. */
  readonly shown: string;
  /** If the expectation does not hold: the events of one device that show why, one in a line. */
  readonly story: readonly string[];
}
