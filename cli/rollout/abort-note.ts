import type { Rollout } from './rollout-text.ts';

/**
 * A note about an abort rule that can never act in a new rollout, or not in its first stages, because these have fewer
 * devices than the rule needs results; null when it can act in every stage.
 */
export function abortNote({ rules, stages, devices }: Pick<Rollout, 'rules' | 'stages' | 'devices'>): string | null {
  const { abort, continuous } = rules;
  if (!abort || devices === 0) return null;
  const needs = `note: the abort rule needs ${abort.minimumResults} results, and`;
  const has = (many: number): string => `${many} ${many === 1 ? 'device' : 'devices'}`;
  if (devices < abort.minimumResults) {
    const end = continuous ? ' before more devices join' : '';
    return `${needs} the rollout has ${has(devices)}: it cannot pause the rollout${end} (--after ${devices} can)`;
  }
  let [before, many] = [0, 0];
  for (const { planned } of stages) {
    if (many + planned >= abort.minimumResults) break;
    many += planned;
    before += 1;
  }
  if (before === 0) return null;
  const first = before === 1 ? 'the first stage has' : `the first ${before} stages have`;
  return `${needs} ${first} ${has(many)}: it cannot pause the rollout before stage ${before + 1} of ${stages.length}`;
}
