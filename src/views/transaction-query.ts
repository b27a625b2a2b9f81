import type { TransactionQuery } from '../platform/contracts/types.ts';
import { readDuration } from '../runtime/clock.ts';
import type { Micros } from '../runtime/units.ts';
import type { OverviewQuery } from './transactions.ts';

/** Turns the query of a request into the query of the view; `now` is in microseconds. */
export function readOverviewQuery(query: TransactionQuery, now: Micros): OverviewQuery {
  const { unfinished, warning, olderThan, operation, ...rest } = query;
  return {
    ...rest,
    unfinished: unfinished === 'true',
    warning: warning === 'true',
    ...(operation !== undefined && { operations: [operation] }),
    ...(olderThan !== undefined && { createdBefore: now - readDuration(olderThan) }),
  };
}
