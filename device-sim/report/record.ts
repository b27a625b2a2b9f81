import type { Figures } from '../customer/figures.ts';

/**
 * All that is kept of a run: plain data. It is report.json, the page and the closing table are made of it, and those of
 * several processes that shared a run can be made into one. Times are milliseconds, those in a run since its start.
 */
export interface RunRecord {
  /** Of this shape. */
  readonly format: 1;
  readonly scenario: string;
  readonly about: string;
  readonly run: string;
  readonly seed: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly milliseconds: number;
  readonly service: { readonly api: string | null; readonly mqtt: string };
  /** Which part of a run that several processes share, from 1; null when it is all of it. */
  readonly shard: { readonly index: number; readonly of: number } | null;
  readonly groups: readonly { readonly name: string; readonly devices: number }[];
  /** The first one is the whole run, then the phases in their order, each with all its rounds. */
  readonly chapters: readonly Chapter[];
  readonly samples: readonly Sample[];
  /** How often each fault was played. */
  readonly faults: Readonly<Record<string, number>>;
  readonly verdicts: readonly Verdict[];
  /** What became of that without which it has not taken place. */
  readonly requirements: readonly Verdict[];
  /** Why it has not taken place, each in a line; empty when it has. */
  readonly notRun: readonly string[];
  readonly own: Own;
  readonly memory: Memory;
  /** What went wrong, or was strange, in words. */
  readonly troubles: readonly string[];
  readonly troublesNotShown: number;
  /** Whether it was ended before its time, by Ctrl-C. */
  readonly interrupted: boolean;
}

/** The name of the chapter that is the whole run. */
export const WHOLE_RUN = 'run';

export interface Chapter {
  readonly name: string;
  readonly spans: readonly { readonly from: number; readonly to: number }[];
  /** What the customer's books say of what was asked for in it; null where there was no customer. */
  readonly figures: Figures | null;
  /** What the fleet went through while it lasted, by name; some are as they were at its end. */
  readonly fleet: Readonly<Record<string, number>>;
}

/** What was so once a second. Counts are since the start; the latencies are of that second. */
export interface Sample {
  readonly at: number;
  readonly connected: number;
  readonly accepted: number;
  readonly settled: number;
  readonly unfinished: number;
  readonly errors: number;
  readonly delivered: Latencies | null;
  readonly settledAfter: Latencies | null;
  /** Of the simulator, in that second: the longest that its event loop was late, its share of a processor, and how late it began an action. */
  readonly loopDelay: number;
  readonly processor: number;
  readonly behind: number;
}

export interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

/** How the simulator itself was. Milliseconds. */
export interface Own {
  /** In all, for how long it stood still, and for how long its event loop was full. */
  readonly standstill: number;
  readonly full: number;
  /** The longest that its event loop was late, and that an action was begun after it was due. */
  readonly loopDelay: number;
  readonly behind: number;
}

/** Bytes that this process takes. */
export interface Memory {
  /** Before there was any device, when all were connected, and at the end. */
  readonly before: number;
  readonly connected: number;
  readonly end: number;
}

/** What became of an expectation. */
export interface Verdict {
  readonly text: string;
  /** The phase that it is about; null: the whole run. */
  readonly phase: string | null;
  readonly holds: boolean;
  /** False: it does not hold, and the simulator itself was too slow to say that somebody else is why. */
  readonly measurable: boolean;
  /** In the unit of the expectation; null when there was nothing to measure. */
  readonly value: number | null;
  /** The value for people. */
  readonly shown: string;
  /** The shortest story of a device that it does not hold for. */
  readonly story: readonly string[];
}
