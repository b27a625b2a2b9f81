import type { RolloutDetails } from '@lapel/schemas/contracts/types';
import { areSame, type HealthFigures } from '../core/rollouts/health/figures.ts';
import type { HealthRule } from '../core/rollouts/rollout.ts';
import { toUtc } from '../runtime/clock.ts';

/** The health of the devices of a stage, as the last look found it. */
export function stageHealth(
  figures: HealthFigures | undefined,
  stage: number,
): RolloutDetails['stages'][number]['health'] {
  const treated = figures?.stages.find((one) => one.stage === stage)?.treated;
  return figures && treated
    ? { at: toUtc(figures.at), treated, control: { ...figures.control, versionKept: null } }
    : null;
}

/** The rules as the last look found them; none if somebody has changed them since. */
export function healthRules(
  figures: HealthFigures | undefined,
  rules: readonly HealthRule[] = [],
): RolloutDetails['healthRules'] {
  if (!figures || !areSame(figures.of, rules)) return [];
  return rules.flatMap((rule, index) => {
    const finding = figures.rules[index];
    if (!finding) return [];
    const { treated, control } = finding;
    const { atMost, timesControl } = rule;
    const stopsAt = atMost ?? (control.value === null ? null : (timesControl ?? 0) * control.value);
    return [{ rule: rule as RolloutDetails['healthRules'][number]['rule'], treated, control, stopsAt }];
  });
}
