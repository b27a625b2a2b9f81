import { MEMBER_STATES, openOf } from '@lapel/schemas/base/rollouts';
import type { AbortRule, MemberState, Plan, Stage } from './rollout.ts';

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
  const sums = Object.fromEntries(MEMBER_STATES.map((state) => [state, 0])) as StateCounts;
  for (const count of counts) if (stage === undefined || count.stage === stage) sums[count.state] += count.devices;
  return sums;
}

/**
 * The code of an unfinished member whose command must not be published yet. The statements that claim commands
 * (`due-repository.ts`) name it, too.
 */
export const NO_PLACE = 'NO_PLACE';

/** The numbers of unfinished members that have a place, and of those that wait for one. */
export function placesOf(counts: readonly Count[]): { taken: number; without: number } {
  let [taken, without] = [0, 0];
  for (const { state, code, devices } of counts) {
    if (state !== 'unfinished') continue;
    if (code === NO_PLACE) without += devices;
    else taken += devices;
  }
  return { taken, without };
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

/**
 * The plan after results are taken back. The abort rule takes them for results that somebody has accepted, as far as there
 * are such: otherwise it would take the next failures for accepted ones.
 */
export function withoutResults(plan: Plan, gone: readonly Count[]): Plan {
  const { abort, accepted } = plan;
  if (!abort || !accepted) return plan;
  const { failures, results } = resultsOf(abort, gone);
  return {
    ...plan,
    accepted: {
      failures: Math.max(0, accepted.failures - failures),
      results: Math.max(0, accepted.results - results),
    },
  };
}

/** Whether every device of a stage has ended. */
const hasEnded = (counts: StateCounts): boolean => openOf(counts) === 0;

/** The most results for which a stage waits that names no minimum. */
const MOST_NEEDED = 20;

/**
 * The results without which a stage proves too little. Without a minimum of its own a stage needs half of its devices that
 * had something to do: a result of one of many, of which the others expired, says nothing about the many.
 */
export function neededResults({ continueWhen }: Pick<Stage, 'continueWhen'>, withWork: number): number {
  const minimum = continueWhen?.minimumResults;
  return minimum === undefined ? Math.min(MOST_NEEDED, Math.ceil(withWork / 2)) : Math.min(minimum, withWork);
}

/** The number of devices of a stage that have, or had, something to do. */
export const withWorkOf = (own: StateCounts): number => own.succeeded + own.failed + openOf(own);

/**
 * Whether a stage has its share of successes, one of them at least: a stage that nobody has carried out proves nothing.
 * Devices that were unchanged, refused or cancelled do not count, and no command that expired. A stage without devices, or
 * of unchanged ones only, has nothing to prove. Rollouts of earlier releases have stages without a share, whose devices must
 * all have ended.
 */
export function hasShare(rules: Stage, counts: readonly Count[], stage: number): boolean {
  const own = byState(counts, stage);
  const { continueWhen } = rules;
  if (withWorkOf(own) + own.refused + own.cancelled === 0) return true;
  if (own.succeeded === 0) return false;
  if (!continueWhen) return hasEnded(own);
  const expired = counts.find(
    (count) => count.stage === stage && count.state === 'failed' && count.code === SAYS_NOTHING,
  );
  const results = own.succeeded + own.failed - (expired?.devices ?? 0);
  if (results < neededResults(rules, withWorkOf(own))) return false;
  return own.succeeded * 100 >= continueWhen.succeededPercent * (results + openOf(own));
}

/** Whether a stage can never reach its share any more, unless somebody lets failed devices try again. */
export const hasFailed = (rules: Stage, counts: readonly Count[], stage: number): boolean =>
  hasEnded(byState(counts, stage)) && !hasShare(rules, counts, stage);

/** Whether a rollout has nothing left to do: its last stage has begun, and every device has ended. */
export const isDone = (counts: StateCounts, stage: number, stages: number): boolean =>
  stage >= stages - 1 && hasEnded(counts);
