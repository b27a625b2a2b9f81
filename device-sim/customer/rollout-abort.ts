import type { Look } from '../promises/looks.ts';
import type { KnownRollout, RolloutDifference, RolloutSnapshot } from './rollout-snapshot.ts';

interface Results {
  readonly failed: number;
  readonly results: number;
}

/** A rule that the customer's books can judge: the counts of the service do not tell codes apart. */
interface Rule {
  readonly failedPercent: number;
  readonly minimumResults: number;
}

/** Codes of failures that the rule does not count by default. */
const SAYS_NOTHING = 'EXPIRED';

const isTrue = ({ failedPercent, minimumResults }: Rule, { failed, results }: Results): boolean =>
  results > 0 && results >= minimumResults && failed * 100 >= failedPercent * results;

/**
 * Whether the rule was true before the last of these results already. It is not known whether that one was a failure,
 * so the rule must have been true either way.
 */
const wasTrueBefore = (rule: Rule, { failed, results }: Results): boolean =>
  isTrue(rule, { failed: Math.max(0, failed - 1), results: results - 1 }) &&
  isTrue(rule, { failed: Math.min(failed, results - 1), results: results - 1 });

/**
 * Judges whether the abort rule stopped a rollout with the right result: with the first one that makes it true. Only the
 * first pause is judged, because the rule then counts anew; and not if the rule tells codes apart, or if commands have
 * expired.
 */
export function wrongPauses(
  { rollout }: RolloutSnapshot,
  { plan, events, transactions }: KnownRollout,
  look: Look = () => {},
): RolloutDifference[] {
  const rule = plan.body.abort;
  const hasExpired = [...transactions.values()].some(({ result }) => result?.code === SAYS_NOTHING);
  if (!rule || rule.codes || hasExpired || rollout.history.some(({ event }) => event === 'retried')) return [];
  look('rollout-abort');
  const limit = `the limit of ${rule.failedPercent} % of at least ${rule.minimumResults} results`;
  const said = ({ failed, results }: Results): string => `${failed} of ${results} results were failures`;
  const ended = [...transactions.values()]
    .filter(({ result }) => result?.status === 'succeeded' || result?.status === 'failed')
    .toSorted((one, other) => (one.result?.at ?? 0) - (other.result?.at ?? 0));
  /** The story is that of the last result before the pause, in the order in which the webhooks arrived. */
  const about = ({ results }: Results, text: string): RolloutDifference => {
    const { deviceId = '', transactionId } = ended[results - 1] ?? {};
    return { deviceId, text, ...(transactionId !== undefined && { transactionId }) };
  };
  const pauses = rollout.history.filter(({ event }) => event === 'paused');
  const now = { failed: rollout.counts.failed, results: rollout.counts.failed + rollout.counts.succeeded };
  if (pauses.length === 0)
    return rollout.state === 'cancelled' || !isTrue(rule, now)
      ? []
      : [about(now, `${said(now)}, which is at ${limit}, and it was never paused`)];
  const [first, second] = events.filter(({ type }) => type === 'rollout.paused');
  if (!first || second || pauses.length > 1 || first.reason !== 'ABORT_RULE') return [];
  const then = { failed: first.counts.failed, results: first.counts.failed + first.counts.succeeded };
  if (!isTrue(rule, then))
    return [about(then, `it was paused by its rule when ${said(then)}, which is below ${limit}`)];
  return wasTrueBefore(rule, then)
    ? [about(then, `it was paused when ${said(then)}, although the rule (${limit}) was true one result before`)]
    : [];
}
