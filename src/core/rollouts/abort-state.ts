import { openOf } from '@lapel/schemas/base/rollouts';
import { byState, type Count, resultsOf } from './counts.ts';
import type { Plan } from './rollout.ts';

/** How far the abort rule is from stopping a rollout. */
export interface AbortState {
  failures: number;
  results: number;
  /** The failures that stop it, if all results until then are failures; null when so few devices are left that it never acts. */
  stopsAt: number | null;
  acceptedFailures: number;
  acceptedResults: number;
}

/** The results that the abort rule counts since the latest resume; null without a rule. */
export function abortStateOf({ abort, accepted, continuous }: Plan, counts: readonly Count[]): AbortState | null {
  if (!abort) return null;
  const all = resultsOf(abort, counts);
  const [acceptedFailures, acceptedResults] = [accepted?.failures ?? 0, accepted?.results ?? 0];
  const [failures, results] = [all.failures - acceptedFailures, all.results - acceptedResults];
  const { failedPercent, minimumResults } = abort;
  const forShare = (failedPercent * results - 100 * failures) / (100 - failedPercent);
  // At 100 percent one success is enough that the rule never acts.
  const more = failedPercent === 100 && failures < results ? Infinity : failedPercent === 100 ? 0 : Math.ceil(forShare);
  const further = Math.max(0, more, Math.max(1, minimumResults) - results);
  const left = continuous ? Infinity : openOf(byState(counts));
  const isOutOfReach = further > left || further === Infinity;
  return { failures, results, stopsAt: isOutOfReach ? null : failures + further, acceptedFailures, acceptedResults };
}
