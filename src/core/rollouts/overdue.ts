import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { findCounts } from './count-repository.ts';
import { byState, hasFailed, hasShare, isDone, placesOf } from './counts.ts';
import { findWaiting } from './member-repository.ts';
import { FOR_EVER } from './retrying.ts';
import { type Rollout, revertsItself } from './rollout.ts';
import { findAsked } from './rollout-repository.ts';
import { isOpen } from './window.ts';

/** A rollout whose devices are not all stored after this time has lost the process that stored them. */
export const PREPARED_WITHIN_MICROS = 15 * 60 * 1_000_000;

/** Whether a stage of a running rollout should have ended, or the rollout. */
async function isStageOver(sql: Sql, rollout: Rollout, before: Micros): Promise<boolean> {
  const { rolloutId, plan, stage, shareSince, approved } = rollout;
  const counts = await findCounts(sql, rolloutId);
  if (!plan.continuous && isDone(byState(counts), stage, plan.stages.length)) return true;
  const rules = plan.stages[stage];
  if (!rules || stage >= plan.stages.length - 1) return false;
  const failed = hasFailed(rules, counts, stage);
  const isLetPass = failed && (plan.letPass ?? -1) >= stage;
  if (failed && !isLetPass) return true;
  if (!isLetPass && !hasShare(rules, counts, stage)) return false;
  if (shareSince === null) return true;
  const soaked = shareSince + (rules.continueWhen?.soakFor ?? 0) * 1_000_000;
  return soaked < before && !(rules.approval && approved < stage);
}

/**
 * Whether a step of a rollout was already due at `before` (microseconds), as far as the rows tell: the steps are those of
 * `steps.ts`. The caller must know that nobody takes the rollouts further, and that no pace holds this one up.
 */
export async function isOverdue(sql: Sql, rollout: Rollout, before: Micros): Promise<boolean> {
  const { rolloutId, state, plan, stage, publishes, drained, createdAt } = rollout;
  switch (state) {
    case 'preparing':
      return createdAt + PREPARED_WITHIN_MICROS < before;
    case 'scheduled':
      return (plan.startAt ?? createdAt) < before;
    case 'running': {
      const opens = !plan.window || isOpen(plan.window, before);
      if (!publishes || !opens) return publishes || !drained || opens;
      if (stage < 0 || (await isStageOver(sql, rollout, before))) return true;
      if ((await findAsked(sql, rolloutId)) === undefined) return false;
      const { maxUnfinished: most } = plan;
      if (most !== undefined && placesOf(await findCounts(sql, rolloutId)).taken >= most) return false;
      const wanted = { now: before, longest: FOR_EVER, limit: 1 };
      for (let each = 0; each <= stage; each += 1)
        if ((await findWaiting(sql, rolloutId, { ...wanted, stage: each })).length > 0) return true;
      return false;
    }
    case 'paused':
      return !drained || revertsItself(rollout);
    case 'completed':
    case 'cancelled':
      return !drained;
  }
}
