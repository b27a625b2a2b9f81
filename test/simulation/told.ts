import type { RunRecord } from '@lapel/device-sim/report/record';
import type { Meetings } from './meetings.ts';

/** The facts of a world that the command gets. */
export interface Told {
  readonly seed: number;
  /** The expectations that do not hold, each with what is known of it; or the error that ended the world. */
  readonly broken: readonly string[];
  /** Why the world showed nothing, if it did not take place. */
  readonly notRun: readonly string[];
  readonly trace: string;
  readonly meetings: Meetings;
  /** How often the database was judged. */
  readonly looks: number;
  /** How the rollouts ended. */
  readonly rollouts: NonNullable<RunRecord['rollouts']>;
  readonly events: number;
  readonly milliseconds: number;
  /** Milliseconds of this machine. */
  readonly took: number;
}

/** What is broken in a world whose database was looked at too seldom to show anything. */
export const HARDLY_JUDGED = 'the database was hardly judged';

/** A world that ended without a word. */
export const untold = (seed: number, text: string): Told => ({
  seed,
  broken: [text],
  notRun: [],
  trace: '',
  meetings: {},
  looks: 0,
  rollouts: [],
  events: 0,
  milliseconds: 0,
  took: 0,
});
