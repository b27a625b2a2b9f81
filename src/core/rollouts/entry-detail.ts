import type { Verdict } from '@lapel/schemas/base/rollout-verdict';
import type { HealthDetail } from './health/figures.ts';
import type { Measure } from './rollout.ts';

/** The details of an entry in the history of a rollout. */
export interface EntryDetail {
  /** The finding of the rule that has paused it. */
  health?: HealthDetail;
  /** The verdict on the present stage at a pause, or the one that somebody has accepted. */
  verdict?: Verdict;
}

/** Details as they are stored; null without any. The verdict is null before the first stage. */
export const writtenDetail = (health: HealthDetail | undefined, verdict: Verdict | null | undefined): string | null =>
  health || verdict ? JSON.stringify({ ...(health && { health }), ...(verdict && { verdict }) }) : null;

/** Reads stored details. Earlier releases have stored the finding alone. */
export function readDetail(detail: string | null): EntryDetail {
  if (detail === null) return {};
  const stored = JSON.parse(detail) as EntryDetail | HealthDetail;
  return 'rule' in stored ? { health: stored } : stored;
}

/** The measures of the rules in the details of pauses, with their stages. */
export const firedOf = (
  pauses: readonly { stage: number | null; detail: string | null }[],
): { stage: number; measure: Measure }[] =>
  pauses.flatMap(({ stage, detail }) => {
    const measure = readDetail(detail).health?.rule.measure;
    return measure === undefined || stage === null ? [] : [{ stage, measure }];
  });
