import { SUMMARY_COLUMNS, type TransactionSummary } from '../core/transactions/transaction-record.ts';
import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import { type NewestPage, newestFirst, type PageQuery } from '../platform/database/newest-first.ts';
import type { Sql } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';
import { conditions, type OverviewFilter } from './transaction-conditions.ts';

/**
 * How many transactions, of those that are still to be sent, are read first. If they fill the page, no more are read.
 */
const FIRST_DUE = 500;

/**
 * Lists unfinished transactions after a transactionId, oldest or newest first. It reads all transactions that are still
 * to be sent, from an index by device, so it should run on a thread of its own. `+ 0` keeps the database from reading
 * the table in the order of the transactionIds, and so all finished transactions as well.
 */
export async function unfinishedTransactions(
  sql: Sql,
  filter: OverviewFilter,
  { after, limit, newestFirst: isNewestFirst }: { after?: number | undefined; limit: number; newestFirst: boolean },
): Promise<TransactionSummary[]> {
  const { where, values } = conditions(filter);
  const direction = isNewestFirst ? 'DESC' : 'ASC';
  const behind = after === undefined ? '' : ` AND transaction_id + 0 ${isNewestFirst ? '<' : '>'} ?`;
  const afters = after === undefined ? [] : [after];
  const wanted = ['completed_at IS NULL', ...where].join(' AND ');
  const among = (condition: string): string =>
    `IN (SELECT transaction_id FROM transactions WHERE due = 1${behind}${condition} ORDER BY transaction_id + 0 ${direction} LIMIT ?)`;
  // A single device has few unfinished transactions, so one query reads them all.
  if (filter.deviceId === undefined) {
    const first = await sql.all<TransactionSummary>(
      `SELECT ${SUMMARY_COLUMNS} FROM transactions WHERE transaction_id ${among('')} AND ${wanted}
       ORDER BY transaction_id ${direction} LIMIT ?`,
      ...afters,
      limit + FIRST_DUE,
      ...values,
      limit,
    );
    if (first.length === limit) return first;
  }
  return sql.all<TransactionSummary>(
    `SELECT ${SUMMARY_COLUMNS} FROM transactions WHERE transaction_id ${among(` AND ${wanted}`)}
     ORDER BY transaction_id ${direction}`,
    ...afters,
    ...values,
    limit,
  );
}

/**
 * Lists the transactions whose transactionId is in [from, before), newest or oldest first. It may read every transaction in
 * this range.
 */
export function transactionsBetween(
  sql: Sql,
  filter: OverviewFilter,
  { from, before, limit, oldestFirst = false }: { from: number; before: number; limit: number; oldestFirst?: boolean },
): Promise<TransactionSummary[]> {
  const { where, values } = conditions(filter);
  return sql.all<TransactionSummary>(
    `SELECT ${SUMMARY_COLUMNS} FROM transactions
     WHERE ${['transaction_id >= ? AND transaction_id < ?', ...where].join(' AND ')}
     ORDER BY transaction_id ${oldestFirst ? 'ASC' : 'DESC'} LIMIT ?`,
    from,
    before,
    ...values,
    limit,
  );
}

/** Lists transactions of one rollout, newest first, or the oldest first. */
export function transactionsOfRollout(
  sql: Sql,
  filter: OverviewFilter & { rolloutId: string },
  {
    after,
    limit,
    unfinished,
    oldestFirst,
  }: { after?: number | undefined; limit: number; unfinished: boolean; oldestFirst: boolean },
): Promise<TransactionSummary[]> {
  const { where, values } = conditions(filter);
  if (unfinished) where.push('completed_at IS NULL');
  if (after !== undefined) where.push(`transaction_id ${oldestFirst ? '>' : '<'} ?`);
  return sql.all<TransactionSummary>(
    `SELECT ${SUMMARY_COLUMNS} FROM transactions WHERE ${where.join(' AND ')}
     ORDER BY transaction_id ${oldestFirst ? 'ASC' : 'DESC'} LIMIT ?`,
    ...values,
    ...(after === undefined ? [] : [after]),
    limit,
  );
}

/** Reads the given transactions; a transactionId that does not exist is left out. */
export async function transactionsByNumber(sql: Sql, numbers: readonly number[]): Promise<TransactionSummary[]> {
  const found: TransactionSummary[] = [];
  for (const list of inLists(numbers)) {
    found.push(
      ...(await sql.all<TransactionSummary>(
        `SELECT ${SUMMARY_COLUMNS} FROM transactions WHERE transaction_id IN ${IN_LIST}`,
        ...list,
      )),
    );
  }
  return found;
}

/** The lowest and the highest transactionId; null when there is no transaction. */
export async function transactionNumbers(sql: Sql): Promise<{ first: number | null; last: number | null }> {
  const row = await sql.get<{ first: number | null; last: number | null }>(
    `SELECT (SELECT MIN(transaction_id) FROM transactions) AS first, (SELECT MAX(transaction_id) FROM transactions) AS last`,
  );
  return row ?? { first: null, last: null };
}

/** The highest transactionId below a number; null when there is none. */
export async function lastNumberBefore(sql: Sql, before: number): Promise<number | null> {
  const row = await sql.get<{ last: number | null }>(
    'SELECT MAX(transaction_id) AS last FROM transactions WHERE transaction_id < ?',
    before,
  );
  return row?.last ?? null;
}

/** The first transaction from a number on, with the time of its creation; undefined when there is none. */
export const firstFrom = (sql: Sql, from: number): Promise<{ transactionId: number; createdAt: Micros } | undefined> =>
  sql.get(
    `SELECT transaction_id AS "transactionId", created_at AS "createdAt" FROM transactions WHERE transaction_id >= ?
     ORDER BY transaction_id LIMIT 1`,
    from,
  );

/**
 * The most applications whose transactions are listed for one device. A device is usually activated for one
 * application, or a few, in its life.
 */
const MOST_APPLICATIONS = 50;

/**
 * Finds the applications that have finished transactions of a device. Each step of the loop reads one entry of an
 * index.
 */
async function applicationsOf(sql: Sql, deviceId: string): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = ''; after !== null && found.length < MOST_APPLICATIONS; ) {
    const row: { next: string | null } | undefined = await sql.get(
      `SELECT MIN(application_id) AS next FROM transactions WHERE device_id = ? AND due = 0 AND application_id > ?`,
      deviceId,
      after,
    );
    after = row?.next ?? null;
    if (after !== null) found.push(after);
  }
  return found;
}

/** Lists a page of the transactions of a device, of one application or of all, newest or oldest first. */
export async function transactionsOfDevice(
  sql: Sql,
  deviceId: string,
  filter: OverviewFilter,
  { oldestFirst, ...page }: PageQuery<number> & { oldestFirst?: boolean },
): Promise<NewestPage<TransactionSummary>> {
  const { applicationId, ...rest } = filter;
  // With `applicationId`, no rows of other applications are read. Otherwise a page that ends early would reveal that
  // they exist.
  const own = applicationId === undefined ? '' : ' AND application_id = ?';
  const ownValues = applicationId === undefined ? [] : [applicationId];
  const { where, values } = conditions(rest);
  const applications = applicationId === undefined ? await applicationsOf(sql, deviceId) : [applicationId];
  return newestFirst<TransactionSummary, number>(sql, {
    table: 'transactions',
    key: 'transaction_id',
    keyOf: ({ transactionId }) => transactionId,
    columns: SUMMARY_COLUMNS,
    ranges: [
      { where: `device_id = ? AND due = 1${own}`, values: [deviceId, ...ownValues] },
      ...applications.map((each) => ({
        where: 'device_id = ? AND application_id = ? AND due = 0',
        values: [deviceId, each],
      })),
    ],
    filter: where.length > 0 ? where.join(' AND ') : null,
    filterValues: values,
    page,
    oldestFirst,
  });
}
