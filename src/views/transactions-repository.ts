import type { Operation } from '../core/transactions/operations.ts';
import type { TransactionStatus } from '../core/transactions/transaction.ts';
import { SUMMARY_COLUMNS, type TransactionSummary } from '../core/transactions/transaction-record.ts';
import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import { type NewestPage, newestFirst, type PageQuery } from '../platform/database/newest-first.ts';
import type { Sql, SqlValue } from '../platform/database/sql.ts';

/** The conditions for transactions; a missing member is no condition. */
export interface OverviewFilter {
  applicationId?: string;
  deviceId?: string;
  /** The permitted operations. */
  operations?: readonly Operation[];
  status?: TransactionStatus;
  /** Microseconds; matches transactions that were created earlier. */
  createdBefore?: number;
}

function conditions(filter: OverviewFilter): { where: string[]; values: SqlValue[] } {
  const found: [condition: string, ...values: SqlValue[]][] = [];
  const { operations } = filter;
  if (filter.deviceId !== undefined) found.push(['device_id = ?', filter.deviceId]);
  if (filter.applicationId !== undefined) found.push(['application_id = ?', filter.applicationId]);
  if (operations) found.push([`operation IN (${operations.map(() => '?').join(', ')})`, ...operations]);
  if (filter.status !== undefined) found.push(['status = ?', filter.status]);
  if (filter.createdBefore !== undefined) found.push(['created_at < ?', filter.createdBefore]);
  return { where: found.map(([condition]) => condition), values: found.flatMap(([, ...values]) => values) };
}

/** Due transactions that are read first: if they contain all wanted rows, the others are not read. */
const FIRST_DUE = 500;

/**
 * Lists unfinished transactions after one, oldest or newest first. It reads all due transactions from an index by
 * devices, so it runs on a thread of its own. `+ 0` keeps the database from using the order of the table, in which it
 * would also read all finished transactions.
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
  // A single device has few due transactions, so they are read at once.
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

/** Lists transactions with numbers in [from, before), newest first. It reads each of these numbers. */
export function transactionsBetween(
  sql: Sql,
  filter: OverviewFilter,
  { from, before, limit }: { from: number; before: number; limit: number },
): Promise<TransactionSummary[]> {
  const { where, values } = conditions(filter);
  return sql.all<TransactionSummary>(
    `SELECT ${SUMMARY_COLUMNS} FROM transactions
     WHERE ${['transaction_id >= ? AND transaction_id < ?', ...where].join(' AND ')}
     ORDER BY transaction_id DESC LIMIT ?`,
    from,
    before,
    ...values,
    limit,
  );
}

/** Finds the existing ones among the given transactions. */
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

/** The highest transactionId below a number. */
export async function lastNumberBefore(sql: Sql, before: number): Promise<number | null> {
  const row = await sql.get<{ last: number | null }>(
    'SELECT MAX(transaction_id) AS last FROM transactions WHERE transaction_id < ?',
    before,
  );
  return row?.last ?? null;
}

/** The most applications of one device that are looked for; a device has usually had one, or few. */
const MOST_APPLICATIONS = 50;

/** The applications that have finished transactions of a device. Each step of the loop reads one entry of the index. */
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

/** A page of the transactions of a device, of all applications, newest first. */
export async function transactionsOfDevice(
  sql: Sql,
  deviceId: string,
  filter: OverviewFilter,
  page: PageQuery<number>,
): Promise<NewestPage<TransactionSummary>> {
  const { applicationId, ...rest } = filter;
  // For one application nothing else is read, so that the end of its page reveals nothing about other applications.
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
  });
}
