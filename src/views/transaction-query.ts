import { readDuration } from '@lapel/schemas/base/duration';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { TransactionQuery } from '@lapel/schemas/contracts/types';
import type { Micros } from '../runtime/units.ts';
import { isByEnd, isOfFailures } from './transaction-conditions.ts';
import type { OverviewQuery } from './transactions.ts';

interface Times {
  now: Micros;
  /** The period of the query. */
  since?: Micros;
  until?: Micros;
}

/** Throws REQUEST_INVALID when a query names a version without its package. */
export function requirePackageOf(query: { package?: string; version?: string }): void {
  if (query.version === undefined || query.package !== undefined) return;
  throw DomainError.invalid({ loc: ['query', 'package'], msg: 'Field required with version', type: 'missing' });
}

/**
 * Turns the query of a request into the query of the view. The period is that of the ends of transactions when failures
 * are wanted, and otherwise that of their creations. Throws REQUEST_INVALID.
 */
export function readOverviewQuery(query: TransactionQuery, { now, since, until }: Times): OverviewQuery {
  requirePackageOf(query);
  const { unfinished, warning, olderThan, operation, sort, since: _since, until: _until, ...rest } = query;
  const kinds = { unfinished: unfinished === 'true', warning: warning === 'true' };
  if (sort !== undefined && isByEnd({ ...rest, ...kinds })) {
    const msg = 'Failures come by their ends, the last one first; name a device or a rollout to sort them by creation';
    throw DomainError.invalid({ loc: ['query', 'sort'], msg, type: 'extra_forbidden' });
  }
  const isFailure = isOfFailures(query);
  const oldest = olderThan === undefined ? undefined : now - readDuration(olderThan);
  const before = isFailure ? oldest : Math.min(oldest ?? Number.POSITIVE_INFINITY, until ?? Number.POSITIVE_INFINITY);
  return {
    ...rest,
    ...kinds,
    ...(sort !== undefined && { oldestFirst: sort === 'createdAt' }),
    ...(operation !== undefined && { operations: [operation] }),
    ...(since !== undefined && (isFailure ? { endedSince: since } : { createdSince: since })),
    ...(until !== undefined && isFailure && { endedBefore: until }),
    ...(before !== undefined && Number.isFinite(before) && { createdBefore: before }),
  };
}
