import { HEALTH_MEASURES } from '@lapel/schemas/base/rollouts';
import type { Micros } from '../../../runtime/units.ts';
import type { HealthRule, Measure } from '../rollout.ts';
import { type Finding, meanFor, type Values } from './judgement.ts';
import { type Observed, VALUE } from './observation.ts';
import { type Word, wordOf } from './words.ts';

/** The figures of a group of devices: the mean of each measure, as far as it is known. */
export type GroupFigures = { devices: number; seen: number } & Record<Measure, number | null>;

/** The figures of the devices of a stage that have the release. */
export interface StageFigures {
  stage: number;
  treated: GroupFigures & { versionKept: number | null };
  /** The devices that are silent, and the word for each measure; absent in looks of earlier releases. */
  silentDevices?: number;
  words?: Words;
}
export type Words = Record<Measure | 'versionKept', Word>;

/** The findings of a look at the health of a rollout. Everything is of one moment. */
export interface HealthFigures {
  at: Micros;
  /** Since when the service could hear devices without an interruption. */
  listensSince: Micros;
  stages: StageFigures[];
  control: GroupFigures;
  /** The rules, and what each of them saw, in their order. */
  of: readonly HealthRule[];
  rules: Finding[];
  /** The devices that the rules count. */
  judged: number;
}

/** The finding of a rule that has paused a rollout. */
export interface HealthDetail {
  rule: HealthRule;
  treated: Finding['treated'];
  control: Finding['control'];
  probability: number | null;
}

/** Whether rules are the same: somebody may have changed those of a rollout since a look. */
export const areSame = (some: readonly HealthRule[] = [], others: readonly HealthRule[] = []): boolean =>
  JSON.stringify(some) === JSON.stringify(others);

/** The values of a measure, a device each. */
export const valuesOf = (
  devices: readonly Observed[],
  rule: Pick<HealthRule, 'measure' | 'within' | 'types'>,
): Values => devices.map((device) => VALUE[rule.measure](device, rule));

/** The first rule about a measure, as which it is shown. */
const aboutOf = (rules: readonly HealthRule[], measure: Measure): Omit<HealthRule, 'minimumDevices'> =>
  rules.find((rule) => rule.measure === measure) ?? { measure };

/** The figures of a group. A measure that a rule is about is taken as the rule takes it. */
export function figuresOf(devices: readonly Observed[], rules: readonly HealthRule[]): GroupFigures {
  const means = HEALTH_MEASURES.map((measure) => {
    const rule = aboutOf(rules, measure);
    const value = meanFor(rule, valuesOf(devices, rule));
    return [measure, value === null ? null : Math.round(value * 100) / 100] as const;
  });
  const seen = devices.filter(({ seenAt, since }) => seenAt > since).length;
  return { devices: devices.length, seen, ...(Object.fromEntries(means) as Record<Measure, number | null>) };
}

/** The figures of a stage in words; `before`: those of the look before. */
export function wordsOf(
  { of, rules }: Pick<HealthFigures, 'of' | 'rules'>,
  own: readonly Observed[],
  control: readonly Observed[],
  versionKept: number | null,
  before: Words | undefined,
): Pick<StageFigures, 'silentDevices' | 'words'> {
  const about = (measure: Measure) => aboutOf(of, measure);
  const words = HEALTH_MEASURES.map((measure) => {
    const word = wordOf(
      { measure, rules: of, findings: rules, before: before?.[measure], ruled: (rule) => valuesOf(own, rule) },
      valuesOf(own, about(measure)),
      valuesOf(control, about(measure)),
    );
    return [measure, word] as const;
  });
  const kept = versionKept === null ? 'unknown' : versionKept === 100 ? 'good' : 'worse';
  return {
    silentDevices: valuesOf(own, about('silent')).filter((value) => value === 1).length,
    words: { ...(Object.fromEntries(words) as Record<Measure, Word>), versionKept: kept },
  };
}
