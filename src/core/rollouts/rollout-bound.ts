import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Sql } from '../../platform/database/sql.ts';
import { countAtWork } from './rollout-repository.ts';

/** The most rollouts of an application that are at work. */
const MOST_AT_WORK = 100;

export type RolloutBound = ReturnType<typeof createRolloutBound>;

/** Makes the function that checks whether one more rollout of an application may be at work. Throws TOO_MANY_ROLLOUTS. */
export const createRolloutBound =
  (metrics: Pick<Metrics, 'rolloutsRefused'>) =>
  async (sql: Sql, applicationId: string): Promise<void> => {
    if ((await countAtWork(sql, applicationId)) < MOST_AT_WORK) return;
    metrics.rolloutsRefused.inc({ bound: 'at_work' });
    throw new DomainError('TOO_MANY_ROLLOUTS', { values: { limit: MOST_AT_WORK } });
  };
