import type { Verdict } from '@lapel/schemas/base/rollout-verdict';
import type { HealthRule, Measure } from '../rollout.ts';
import { chanceThatWorse, type Finding, known, mean, meanFor, type Values } from './judgement.ts';

export type Word = Verdict['measures'][Measure];

/** The devices of a group that must be known before it is compared without a rule. */
const NEEDED = 5;
/**
 * The probability below which a group is worse, and the one above which it is so no more: a word that came and went with
 * each look would refuse every approval.
 */
const WORSE = 0.01;
const WORSE_NO_MORE = 0.1;
/** The same as shares of the limit of a rule with `atMost`. */
const NEAR = 0.75;
const NEAR_NO_MORE = 0.5;

interface About {
  measure: Measure;
  rules: readonly HealthRule[];
  /** The findings of the rules, in their order. */
  findings: readonly Finding[];
  /** The word of the look before. */
  before: Word | undefined;
  /** The values of the devices as a rule takes them: several rules may be about the measure, in their own times. */
  ruled(rule: HealthRule): Values;
}

/** How the devices of a stage are by a measure, in a word: beside those that wait, and beside the limits of the rules. */
export function wordOf({ measure, rules, findings, before, ruled }: About, ours: Values, theirs: Values): Word {
  const own = rules.flatMap((rule, index) => (rule.measure === measure ? [{ rule, finding: findings[index] }] : []));
  if (own.some(({ finding }) => finding?.fires)) return 'broken';
  const [treated, control] = [known(ours), known(theirs)];
  const wanted = Math.max(NEEDED, ...own.map(({ rule }) => rule.minimumDevices));
  const isCounted = own.length > 0 || measure === 'silent';
  if (treated.length === 0 || treated.length < (isCounted ? Math.min(wanted, ours.length) : NEEDED)) return 'unknown';
  const wasWorse = before === 'worse' || before === 'broken';
  const limits = own.flatMap(({ rule }) => (rule.atMost === undefined ? [] : [{ rule, limit: rule.atMost }]));
  const near = wasWorse ? NEAR_NO_MORE : NEAR;
  if (limits.some(({ rule, limit }) => (meanFor(rule, ruled(rule)) ?? 0) > limit * near)) return 'worse';
  if (control.length >= NEEDED) {
    const isMore = (mean(treated) ?? 0) > (mean(control) ?? 0);
    return isMore && chanceThatWorse(treated, control) < (wasWorse ? WORSE_NO_MORE : WORSE) ? 'worse' : 'good';
  }
  if (limits.length > 0) return 'good';
  if (measure === 'silent') return mean(treated) === 0 ? 'good' : 'worse';
  return 'unknown';
}
