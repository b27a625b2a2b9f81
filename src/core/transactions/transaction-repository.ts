import { type NewestPage, newestFirst, type PageQuery } from '../../platform/database/newest-first.ts';
import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import { ROWS_PER_READ } from '../../platform/database/sweep.ts';
import { insertOf, updateOf } from '../../platform/database/written-sets.ts';
import type { Operation } from './operations.ts';
import { parametersOf, placeOf } from './stored-parameters.ts';
import { isFinished, type TransactionStatus } from './transaction.ts';
import {
  COLUMNS,
  type TransactionRow as Row,
  type TransactionRecord,
  toListed,
  toRecord,
} from './transaction-record.ts';

export type { TransactionRecord } from './transaction-record.ts';

// SQLite runs each of these statements by itself; PostgreSQL runs one of them for many devices at once.
const INSERT = insertOf<NewTransaction, string>('transactions', [
  ['device_id', 'text', ({ deviceId }) => deviceId],
  ['application_id', 'text', ({ applicationId }) => applicationId],
  ['operation', 'text', ({ operation }) => operation],
  ['parameters', 'text', (_, sealed) => sealed],
  ['status', "'queued'"],
  ['due', '1'],
  ['attempts', 'bigint', ({ attempts }) => attempts],
  ['created_at', 'bigint', ({ createdAt }) => createdAt],
  ['updated_at', 'bigint', ({ createdAt }) => createdAt],
  ['published_at', 'bigint', ({ publishedAt }) => publishedAt],
  ['subject', 'text', ({ subject }) => subject],
  ['traceparent', 'text', ({ traceparent }) => traceparent],
]);
const FIND = inSets(`SELECT ${COLUMNS} FROM transactions WHERE transaction_id = ?`, ['bigint']);
const UPDATE = updateOf<TransactionRecord, boolean>(
  'transactions',
  [
    ['status = ?', 'text', ({ status }) => status],
    ['due = ?', 'bigint', (_, due) => (due ? 1 : 0)],
    ['attempts = ?', 'bigint', ({ attempts }) => attempts],
    ['updated_at = ?', 'bigint', ({ updatedAt }) => updatedAt],
    ['delivered_at = ?', 'bigint', ({ deliveredAt }) => deliveredAt],
    ['completed_at = ?', 'bigint', ({ completedAt }) => completedAt],
    ['progress = ?', 'bigint', ({ progress }) => progress],
    ['result = ?', 'text', ({ result }) => (result === null ? null : JSON.stringify(result))],
    ['error_code = ?', 'text', ({ errorCode }) => errorCode],
    ['error_message = ?', 'text', ({ errorMessage }) => errorMessage],
    ['delivery_id = ?', 'text', ({ deliveryId }) => deliveryId],
    // A finished transaction loses its parameters, since they can hold passwords.
    [
      'parameters = CASE WHEN CAST(? AS BIGINT) IS NULL THEN parameters END',
      'bigint',
      ({ completedAt }) => completedAt,
    ],
  ],
  [['transaction_id = ?', 'bigint', ({ transactionId }) => transactionId]],
);
const MARK_DELIVERED = inSets(
  `UPDATE transactions SET status = CASE WHEN status = 'queued' THEN 'delivered' ELSE status END,
     delivered_at = ?, updated_at = ?, ends_at = ? + answer_within * 1000000
   WHERE transaction_id = ? AND delivered_at IS NULL AND completed_at IS NULL`,
  ['bigint', 'bigint', 'bigint', 'bigint'],
);
const COUNT_DUE = inSets(
  'SELECT count(*) AS count FROM (SELECT 1 FROM transactions WHERE device_id = ? AND due = 1 LIMIT ?) AS due',
  ['text', 'bigint'],
);
type NewTransaction = Pick<
  TransactionRecord,
  'deviceId' | 'applicationId' | 'operation' | 'attempts' | 'createdAt' | 'publishedAt' | 'subject' | 'traceparent'
>;

const sealedIn = (unit: UnitOfWork, transaction: NewTransaction, parameters: string): string =>
  unit.vault.seal(placeOf(transaction), parameters);

/** Stores a queued transaction with its parameters as JSON; identifiers rise and are never used twice. */
export const insertTransaction = (unit: UnitOfWork, transaction: NewTransaction, parameters: string): Promise<number> =>
  unit.insert(INSERT.text, ...INSERT.values(transaction, sealedIn(unit, transaction, parameters)));

/** Like `insertTransaction`, as the last statement of a unit; see `insertLater`. */
export const insertTransactionLater = (
  unit: UnitOfWork,
  transaction: NewTransaction,
  parameters: string,
  inserted: (transactionId: number) => void,
): void => unit.insertLater(INSERT.text, INSERT.values(transaction, sealedIn(unit, transaction, parameters)), inserted);

export async function findTransaction(sql: Sql, transactionId: number): Promise<TransactionRecord | undefined> {
  const row = await sql.get<Row>(FIND, transactionId);
  return row && toRecord(row);
}

/** Stores the rollout that made a transaction. */
export const setRollout = (unit: UnitOfWork, transactionId: number, rolloutId: string): void =>
  unit.later('UPDATE transactions SET rollout_id = ? WHERE transaction_id = ?', [rolloutId, transactionId]);

/** Removes a transaction whose command was never published, and that nobody was notified of. */
export async function deleteUnpublished(unit: UnitOfWork, transactionId: number): Promise<void> {
  await unit.run(
    'DELETE FROM transactions WHERE transaction_id = ? AND attempts = 0 AND completed_at IS NULL',
    transactionId,
  );
}

/** The parameters of an unfinished transaction. */
export async function findParameters(sql: Sql, transactionId: number): Promise<object> {
  const row = await sql.get<Parameters<typeof placeOf>[0] & { parameters: string | null }>(
    `SELECT device_id AS "deviceId", operation, created_at AS "createdAt", parameters FROM transactions
     WHERE transaction_id = ?`,
    transactionId,
  );
  return row ? parametersOf(sql, row, row.parameters) : {};
}

/** Stores the new state. `due` says whether the device gets the command, or its cancel, when it connects again. */
export const updateTransaction = (unit: UnitOfWork, record: TransactionRecord, due: boolean): void =>
  unit.later(UPDATE.text, UPDATE.values(record, due));

/** Clears the time of the publication of a transaction that was claimed, but not published. */
export async function markUnpublished(sql: Sql, transactionId: number): Promise<void> {
  await sql.run('UPDATE transactions SET published_at = NULL WHERE transaction_id = ? AND attempts = 0', transactionId);
}

/** Stores the device's PUBACK, which changes the state of a queued transaction only. */
export const markDelivered = (unit: UnitOfWork, transactionId: number, at: number): void =>
  unit.later(MARK_DELIVERED, [at, at, at, transactionId]);

/** Stores that the device has received the cancel, so that nothing is due any more. */
export const markCancelDelivered = (unit: UnitOfWork, transactionId: number): void =>
  unit.later(`UPDATE transactions SET due = 0 WHERE transaction_id = ? AND completed_at IS NOT NULL`, [transactionId]);

/** The number of a device's due transactions, at most `most`; only the index is read. */
export async function countDue(sql: Sql, deviceId: string, most: number): Promise<number> {
  const row = await sql.get<{ count: number }>(COUNT_DUE, deviceId, most);
  return row?.count ?? 0;
}

/** The number of a device's unfinished transactions. (Due cancels belong to finished ones.) */
export async function countUnfinished(sql: Sql, deviceId: string): Promise<number> {
  const text = 'SELECT count(*) AS count FROM transactions WHERE device_id = ? AND due = 1 AND completed_at IS NULL';
  return (await sql.get<{ count: number }>(text, deviceId))?.count ?? 0;
}

/**
 * Characters above which the parameters of an unfinished transaction count as large, and are in the index
 * `transactions_large`.
 */
export const LARGE_PARAMETERS = 4096;

/** The characters of the large parameters that wait for all devices of an application, or for one of them. */
export async function sumLargeParameters(sql: Sql, applicationId: string, deviceId?: string): Promise<number> {
  const own = deviceId === undefined ? '' : ' AND device_id = ?';
  const row = await sql.get<{ sum: number | null }>(
    `SELECT SUM(parameters_length) AS sum FROM transactions
     WHERE completed_at IS NULL AND parameters_length > 4096 AND application_id = ?${own}`,
    applicationId,
    ...(deviceId === undefined ? [] : [deviceId]),
  );
  return row?.sum ?? 0;
}

/** The characters of the large parameters of an application's unfinished transactions of one operation for a device. */
export async function sumLargeParametersOf(
  sql: Sql,
  { applicationId, deviceId, operation }: { applicationId: string; deviceId: string; operation: Operation },
): Promise<number> {
  const row = await sql.get<{ sum: number | null }>(
    `SELECT SUM(parameters_length) AS sum FROM transactions WHERE completed_at IS NULL AND parameters_length > 4096
     AND application_id = ? AND device_id = ? AND operation = ?`,
    applicationId,
    deviceId,
    operation,
  );
  return row?.sum ?? 0;
}

/** The unfinished transactions of a device, oldest first: those of one application, or all. */
export async function unfinishedOf(sql: Sql, deviceId: string, applicationId?: string): Promise<TransactionRecord[]> {
  const own = applicationId === undefined ? '' : ' AND application_id = ?';
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM transactions
     WHERE device_id = ? AND due = 1 AND completed_at IS NULL${own} ORDER BY transaction_id`,
    deviceId,
    ...(applicationId === undefined ? [] : [applicationId]),
  );
  return rows.map(toRecord);
}

/** Ends all due transactions and cancels of a device that is removed. */
export async function clearDue(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('UPDATE transactions SET due = 0 WHERE device_id = ? AND due = 1', deviceId);
}

export interface TransactionFilter extends PageQuery<number> {
  status?: TransactionStatus;
  operation?: Operation;
}

/** A page of a device's transactions of one application, newest first. */
export async function listTransactions(
  sql: Sql,
  deviceId: string,
  applicationId: string,
  { status, operation, ...page }: TransactionFilter,
): Promise<NewestPage<TransactionRecord>> {
  const filters: [condition: string, value: SqlValue][] = [];
  if (status !== undefined) filters.push(['status = ?', status]);
  if (operation !== undefined) filters.push(['operation = ?', operation]);
  const isDue = status !== undefined && !isFinished(status);
  const own = 'device_id = ? AND application_id = ?';
  // Due transactions and others have separate indexes, so that a new command writes to only one of them.
  const wheres = isDue ? [`${own} AND due = 1`] : [`${own} AND due = 1`, `${own} AND due = 0`];
  const found = await newestFirst<Row, number>(sql, {
    table: 'transactions',
    key: 'transaction_id',
    keyOf: ({ transactionId }) => transactionId,
    sizeOf: ({ result, late }) => (result?.length ?? 0) + (late?.length ?? 0),
    columns: COLUMNS,
    ranges: wheres.map((where) => ({ where, values: [deviceId, applicationId] })),
    filter: filters.length > 0 ? filters.map(([condition]) => condition).join(' AND ') : null,
    filterValues: filters.map(([, value]) => value),
    page,
  });
  return { ...found, rows: found.rows.map(toListed) };
}

/**
 * The number of due transactions, and the time at which the oldest was stored. It reads all due transactions, so it belongs on a
 * thread of its own.
 */
export async function surveyDue(sql: Sql): Promise<{ count: number; oldestAt: number | null }> {
  const row = await sql.get<{ count: number; oldestAt: number | null }>(
    `SELECT found.count AS count, t.created_at AS "oldestAt" FROM
       (SELECT count(*) AS count, MIN(transaction_id) AS first FROM transactions WHERE due = 1) AS found
       LEFT JOIN transactions t ON t.transaction_id = found.first`,
  );
  return row ?? { count: 0, oldestAt: null };
}

/**
 * Looks at the next `limit` rows after a transactionId. Returns the last transactionId among them, and the earliest
 * time at which one of them was stored.
 */
export async function examineNext(
  sql: Sql,
  after: number,
  limit = ROWS_PER_READ,
): Promise<{ last: number; firstAt: number } | undefined> {
  const seen = await sql.get<{ last: number | null; firstAt: number }>(
    `SELECT MAX(transaction_id) AS last, MIN(created_at) AS "firstAt" FROM
       (SELECT transaction_id, created_at FROM transactions WHERE transaction_id > ? ORDER BY transaction_id LIMIT ?) AS seen`,
    after,
    limit,
  );
  return seen && seen.last !== null ? { last: seen.last, firstAt: seen.firstAt } : undefined;
}

/**
 * The transactions with ids in a range that ended before a time, and of which nothing must be sent to a device any
 * more.
 */
export async function findEnded(
  sql: Sql,
  { after, upTo, before }: { after: number; upTo: number; before: number },
): Promise<number[]> {
  const rows = await sql.all<{ transactionId: number }>(
    `SELECT transaction_id AS "transactionId" FROM transactions
     WHERE transaction_id > ? AND transaction_id <= ? AND completed_at < ? AND due = 0`,
    after,
    upTo,
    before,
  );
  return rows.map(({ transactionId }) => transactionId);
}

const REMOVE = inSets('DELETE FROM transactions WHERE transaction_id = ? AND completed_at < ? AND due = 0', [
  'bigint',
  'bigint',
]);

/**
 * Removes a transaction if it ended before the time and nothing is due for its device; returns the number of removed rows.
 */
export const removeEnded = (sql: Sql, transactionId: number, before: number): Promise<number> =>
  sql.run(REMOVE, transactionId, before);
