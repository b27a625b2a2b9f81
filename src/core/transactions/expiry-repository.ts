import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { StoredTerms } from './terms.ts';

const SET_TERMS = inSets(
  'UPDATE transactions SET expires_at = ?, answer_within = ?, ends_at = ? WHERE transaction_id = ?',
  ['bigint', 'bigint', 'bigint', 'bigint'],
);
const SET_ENDS_AT = inSets('UPDATE transactions SET ends_at = ? WHERE transaction_id = ?', ['bigint', 'bigint']);
const SET_EARLY_END = inSets(
  `UPDATE transactions SET ends_at = NULL, late = '', superseded_by = ? WHERE transaction_id = ?`,
  ['bigint', 'bigint'],
);

/** Stores the terms of a new transaction, and the time at which the service has to end it. */
export const setTerms = (
  unit: UnitOfWork,
  transactionId: number,
  { expiresAt, answerWithin }: StoredTerms,
  endsAt: Micros | null,
): void => unit.later(SET_TERMS, [expiresAt, answerWithin, endsAt, transactionId]);

/** Stores the time at which the service has to end a transaction; null: it need not. */
export const setEndsAt = (unit: UnitOfWork, transactionId: number, endsAt: Micros | null): void =>
  unit.later(SET_ENDS_AT, [endsAt, transactionId]);

/** Stores that the service itself ended a transaction, so that a later result of the device is kept. */
export const setEarlyEnd = (unit: UnitOfWork, transactionId: number, supersededBy: number | null): void =>
  unit.later(SET_EARLY_END, [supersededBy, transactionId]);

/** Stores the result that the device sent after an early end; the first one stays. */
export async function setLate(sql: Sql, transactionId: number, late: object): Promise<void> {
  const text = `UPDATE transactions SET late = ? WHERE transaction_id = ? AND late = ''`;
  await sql.run(text, JSON.stringify(late), transactionId);
}

export interface Ending {
  transactionId: number;
  deviceId: string;
  rolloutId: string | null;
}

/** Transactions whose time has passed: those with the earliest times, or those with the latest. */
export const findEnding = (
  sql: Sql,
  now: Micros,
  { end, limit }: { end: 'earliest' | 'latest'; limit: number },
): Promise<Ending[]> => {
  const order = end === 'earliest' ? 'ends_at, transaction_id' : 'ends_at DESC, transaction_id DESC';
  return sql.all(
    `SELECT transaction_id AS "transactionId", device_id AS "deviceId", rollout_id AS "rolloutId" FROM transactions
     WHERE ends_at <= ? ORDER BY ${order} LIMIT (? + 0)`,
    now,
    limit,
  );
};

/** The next time at which the service has to end a transaction; undefined when there is none. */
export async function nextEnding(sql: Sql): Promise<Micros | undefined> {
  const row = await sql.get<{ endsAt: Micros }>(
    `SELECT ends_at AS "endsAt" FROM transactions WHERE ends_at IS NOT NULL ORDER BY ends_at, transaction_id LIMIT 1`,
  );
  return row?.endsAt;
}

/** The time of a transaction whose end was moved stays in the future, so it is told by its end, which comes before that. */
const IS_FROM_THE_FUTURE = 'ends_at > ? AND ends_at > created_at AND created_at > ?';

/** Whether a transaction that has an end was stored after `latest`: the clock was ahead then. */
export const isFromTheFuture = async (sql: Sql, now: Micros, latest: Micros): Promise<boolean> =>
  (await sql.get(`SELECT 1 AS one FROM transactions WHERE ${IS_FROM_THE_FUTURE} LIMIT 1`, now, latest)) !== undefined;

/**
 * Moves the ends of transactions that were stored while the clock was ahead by as much as it was: `latest` is the latest
 * time that a right clock can have given.
 */
export const pullDown = (sql: Sql, now: Micros, latest: Micros): Promise<number> =>
  sql.run(
    `UPDATE transactions SET ends_at = ends_at - (created_at - ?), expires_at = expires_at - (created_at - ?)
     WHERE ${IS_FROM_THE_FUTURE}`,
    now,
    now,
    now,
    latest,
  );
