import type { Sql } from '../../platform/database/sql.ts';
import { findCounts } from './count-repository.ts';
import { byState } from './counts.ts';
import type { Rate, Rollout } from './rollout.ts';

/** The commands of a minute after so many devices have succeeded. */
export function rateAfter(rate: Rate, succeeded: number): number {
  if (typeof rate === 'number') return rate;
  const doublings = Math.floor(succeeded / rate.doubleAfter);
  return Math.min(rate.to, rate.from * 2 ** Math.min(doublings, 30));
}

/** The present rate of a rollout; undefined without one. It is computed from the counts, so it survives a restart. */
export async function rateNow(
  sql: Sql,
  { rolloutId, plan }: Pick<Rollout, 'rolloutId' | 'plan'>,
): Promise<number | undefined> {
  const { ratePerMinute: rate } = plan;
  if (rate === undefined || typeof rate === 'number') return rate;
  return rateAfter(rate, byState(await findCounts(sql, rolloutId)).succeeded);
}
