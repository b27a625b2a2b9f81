import type { Operation } from '../core/transactions/operations.ts';
import type { TransactionStatus } from '../core/transactions/transaction.ts';
import { SUMMARY_COLUMNS, type TransactionSummary } from '../core/transactions/transaction-record.ts';
import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import { newestFirst, type Page, type PageQuery } from '../platform/database/newest-first.ts';
import type { Sql, SqlValue } from '../platform/database/sql.ts';

/** Which transactions; what is left out is no condition. */
export interface OverviewFilter {
  applicationId?: string;
  deviceId?: string;
  /** One of these. */
  operations?: readonly Operation[];
  status?: TransactionStatus;
  /** Microseconds. */
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

/** Due ones that are looked at first: if all that is wanted is among them, the rows of the others are not. */
const FIRST_DUE = 500;

/**
 * Unfinished transactions behind one, oldest or newest first. Looks at all that is due, which an index has by its devices:
 * for a thread of its own. `+ 0`: in the order of the numbers the table itself would be looked through, finished ones and all.
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
  // Those of one device are few anyway.
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

/** Those with numbers in [from, before), newest first. Looks at each of these numbers. */
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

/** Those of these that there are. */
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

/** The first and the last number that there is; null when there is none. */
export async function transactionNumbers(sql: Sql): Promise<{ first: number | null; last: number | null }> {
  const row = await sql.get<{ first: number | null; last: number | null }>(
    `SELECT (SELECT MIN(transaction_id) FROM transactions) AS first, (SELECT MAX(transaction_id) FROM transactions) AS last`,
  );
  return row ?? { first: null, last: null };
}

/** The greatest number below one that there is. */
export async function lastNumberBefore(sql: Sql, before: number): Promise<number | null> {
  const row = await sql.get<{ last: number | null }>(
    'SELECT MAX(transaction_id) AS last FROM transactions WHERE transaction_id < ?',
    before,
  );
  return row?.last ?? null;
}

/** Applications of one device that are looked for: it has had one, or few. */
const MOST_APPLICATIONS = 50;

/** The applications that a device has finished transactions of, from one step of the index to the next. */
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

/** A page of a device's transactions of all applications, newest first. */
export async function transactionsOfDevice(
  sql: Sql,
  deviceId: string,
  filter: OverviewFilter,
  page: PageQuery<number>,
): Promise<Page<TransactionSummary>> {
  const { applicationId, ...rest } = filter;
  // Of one application nothing else is looked at: where its page ends tells nothing of what others do.
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
