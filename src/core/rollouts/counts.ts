import type { AbortRule, MemberState, Stage } from './rollout.ts';

/** The number of devices of a stage in a state, with a code. */
export interface Count {
  stage: number;
  state: MemberState;
  /** The code of a failure or refusal; empty without one. */
  code: string;
  devices: number;
}

export type StateCounts = Record<MemberState, number>;

/** Adds up counts by state; of one stage, or of all. */
export function byState(counts: readonly Count[], stage?: number): StateCounts {
  const sums: StateCounts = {
    waiting: 0,
    unfinished: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    unchanged: 0,
    refused: 0,
  };
  for (const count of counts) if (stage === undefined || count.stage === stage) sums[count.state] += count.devices;
  return sums;
}

/** The number of devices that have a result. */
export function resultsSoFar(counts: readonly Count[]): number {
  const { succeeded, failed } = byState(counts);
  return succeeded + failed;
}

/** A command that was not delivered in time says nothing about what it would have done. */
const SAYS_NOTHING = 'EXPIRED';

/** The results that the abort rule counts. */
export interface Results {
  failures: number;
  results: number;
}

/** The results so far, as the abort rule counts them. */
export function resultsOf({ codes }: AbortRule, counts: readonly Count[]): Results {
  let [failures, results] = [0, 0];
  for (const { state, code, devices } of counts) {
    if (state !== 'succeeded' && state !== 'failed') continue;
    const isFailure = state === 'failed' && (codes ? codes.includes(code) : code !== SAYS_NOTHING);
    if (isFailure) failures += devices;
    if (isFailure || code !== SAYS_NOTHING) results += devices;
  }
  return { failures, results };
}

/** Whether the results since `before` make the abort rule stop the rollout. */
export function isOverLimit(rule: AbortRule, counts: readonly Count[], before?: Results): boolean {
  const now = resultsOf(rule, counts);
  const failures = now.failures - (before?.failures ?? 0);
  const results = now.results - (before?.results ?? 0);
  return results > 0 && results >= rule.minimumResults && failures * 100 >= rule.failedPercent * results;
}

/** Whether every device of a stage has ended. */
const hasEnded = ({ waiting, unfinished }: StateCounts): boolean => waiting + unfinished === 0;

/**
 * Whether a stage has its share of successes. Devices that were refused or cancelled do not count. Without a share, all
 * devices must have ended.
 */
export function hasShare({ continueWhen }: Stage, counts: StateCounts): boolean {
  if (!continueWhen) return hasEnded(counts);
  const { waiting, unfinished, succeeded, failed, unchanged } = counts;
  const good = succeeded + unchanged;
  return good * 100 >= continueWhen.succeededPercent * (good + failed + waiting + unfinished);
}

/** Whether a stage can never reach its share any more, unless somebody lets failed devices try again. */
export const hasFailed = (stage: Stage, counts: StateCounts): boolean => hasEnded(counts) && !hasShare(stage, counts);

/** Whether a rollout has nothing left to do: its last stage has begun, and every device has ended. */
export const isDone = (counts: StateCounts, stage: number, stages: number): boolean =>
  stage >= stages - 1 && hasEnded(counts);
