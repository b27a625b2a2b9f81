import type { HealthRule } from '../rollout.ts';
import { chanceOf } from './exact-test.ts';

/** The values of a group's devices; undefined of those of which they are not known yet. */
export type Values = readonly (number | undefined)[];

/** The finding of a rule. */
export interface Finding {
  /** The devices with the release of which the measure is known, and the mean that is judged; null without such devices. */
  treated: { devices: number; value: number | null };
  control: { devices: number; value: number | null };
  /** The probability of such a difference by chance; null where it was not tested. */
  probability: number | null;
  fires: boolean;
}

/**
 * The probability with which all looks at all rules together stop a rollout whose release changes nothing, at most. Rules
 * with `atMost` are limits that a person chose, and no part of it.
 */
export const LEVEL = 0.004;
/** One device counts at most this many times the limit: one broken device is no broken release. */
const MOST_OF_ONE = 4;

export const known = (values: Values): number[] => values.filter((value) => value !== undefined);
export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The mean of a group as a rule judges it, and as it is shown: percent for `silent`, else of a device and hour. Null where
 * nothing is known.
 */
export function meanFor({ measure, atMost }: Pick<HealthRule, 'measure' | 'atMost'>, values: Values): number | null {
  const all = known(values);
  if (measure === 'silent') return all.length === 0 ? null : (mean(all) ?? 0) * 100;
  return mean(atMost === undefined ? all : all.map((value) => Math.min(value, MOST_OF_ONE * atMost)));
}

/**
 * The probability that chance alone makes the treated group look so much worse. The cuts are the same for both groups, so
 * the test is exact for any distribution: a few devices that reconnect for ever count as a few devices.
 */
export function chanceThatWorse(treated: readonly number[], control: readonly number[]): number {
  const all = [...treated, ...control].toSorted((one, other) => one - other);
  // The middle shows a release that harms all a little, the other cut one that harms some of the devices much.
  const shares = [0.5, 1 - treated.length / all.length / 2];
  const isBinary = all.every((value) => value === 0 || value === 1);
  const limits = new Set(isBinary ? [0] : shares.map((share) => all[Math.floor((all.length - 1) * share)] as number));
  let least = 1;
  for (const limit of limits) {
    const bad = (values: readonly number[]): number => values.filter((value) => value > limit).length;
    const groups = {
      treated: treated.length,
      treatedBad: bad(treated),
      control: control.length,
      controlBad: bad(control),
    };
    least = Math.min(least, chanceOf(groups));
  }
  return Math.min(1, least * limits.size);
}

/**
 * The level of the look number `look` (from 1) at one of several rules. The levels of all looks together are at most LEVEL,
 * however often is looked.
 */
export const levelOf = (look: number, rules: number): number => LEVEL / rules / (look * (look + 1));

/** Judges a rule. `level` is the probability below which a difference counts; undefined: it is not tested now. */
export function judge(rule: HealthRule, treated: Values, control: Values, level: number | undefined): Finding {
  const [ours, theirs] = [known(treated), known(control)];
  const finding = {
    treated: { devices: ours.length, value: meanFor(rule, treated) },
    control: { devices: theirs.length, value: meanFor(rule, control) },
    probability: null,
    fires: false,
  };
  const { atMost, timesControl, minimumDevices } = rule;
  if (ours.length < minimumDevices) return finding;
  if (atMost !== undefined) return { ...finding, fires: (finding.treated.value ?? 0) > atMost };
  if (timesControl === undefined || theirs.length < minimumDevices || level === undefined) return finding;
  const probability = chanceThatWorse(ours, theirs);
  const isWorse = (finding.treated.value ?? 0) > timesControl * (finding.control.value ?? 0);
  return { ...finding, probability, fires: isWorse && probability < level };
}
