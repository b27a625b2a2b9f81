import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Sql } from '../../platform/database/sql.ts';
import { countAtWork } from './rollout-repository.ts';

/** The most rollouts of an application that are at work. */
const MOST_AT_WORK = 100;
/** The most of them, with those that revert others. */
const MOST_WITH_REVERTS = 2 * MOST_AT_WORK;

/** The errors of bounds, with their names in the metric. */
const BOUNDS: Partial<Record<ErrorCode, string>> = { TOO_MANY_ROLLOUTS: 'at_work', ROLLOUT_TOO_LARGE: 'devices' };

/**
 * Checks whether one more rollout of an application may be at work. One that reverts another one has places of its own: it
 * is urgent, and the other one, which it ends, is at work until its commands are cancelled. Throws TOO_MANY_ROLLOUTS.
 */
export async function requireRoom(sql: Sql, applicationId: string, { reverts }: { reverts?: string } = {}) {
  const limit = reverts === undefined ? MOST_AT_WORK : MOST_WITH_REVERTS;
  if ((await countAtWork(sql, applicationId)) < limit) return;
  throw new DomainError('TOO_MANY_ROLLOUTS', { values: { limit } });
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
