import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Sql } from '../../platform/database/sql.ts';
import { countAtWork } from './rollout-repository.ts';

/** The most rollouts of an application that are at work. */
const MOST_AT_WORK = 100;

/** The errors of bounds, with their names in the metric. */
const BOUNDS: Partial<Record<ErrorCode, string>> = { TOO_MANY_ROLLOUTS: 'at_work', ROLLOUT_TOO_LARGE: 'devices' };

/** Checks whether one more rollout of an application may be at work. Throws TOO_MANY_ROLLOUTS. */
export async function requireRoom(sql: Sql, applicationId: string): Promise<void> {
  if ((await countAtWork(sql, applicationId)) < MOST_AT_WORK) return;
  throw new DomainError('TOO_MANY_ROLLOUTS', { values: { limit: MOST_AT_WORK } });
}

/**
 * Makes a function that counts what a bound refuses. It counts calls and not units of work, because a unit that is refused
 * may run twice.
 */
export const countRefusals =
  <Given extends unknown[], Result>(
    metrics: Pick<Metrics, 'rolloutsRefused'>,
    work: (...given: Given) => Promise<Result>,
  ): ((...given: Given) => Promise<Result>) =>
  async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      const bound = error instanceof DomainError ? BOUNDS[error.code] : undefined;
      if (bound !== undefined) metrics.rolloutsRefused.inc({ bound });
      throw error;
    }
  };
