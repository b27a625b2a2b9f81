import { type NewestPage, newestFirst, type PageQuery } from '../../../platform/database/newest-first.ts';
import type { Sql, SqlValue, UnitOfWork } from '../../../platform/database/sql.ts';
import { idsFrom } from '../../../runtime/ids.ts';
import type { Micros } from '../../../runtime/units.ts';
import { type DeliveryStatus, type EventNumbers, UNSENT, type UrlSetting } from '../delivery.ts';
import { RETRY_DELAY_SECONDS } from '../retry-schedule.ts';
import { DELIVERY_COLUMNS, type DeliverySummary, IS_DELIVERY, withUrl } from './delivery-record.ts';

/** The deliveries of a list. */
export interface DeliveryListFilter extends DeliveryFilter {
  deviceId?: string;
  transactionId?: number;
  /** Microseconds, rounded to milliseconds; selects deliveries that were made in [since, until). */
  since?: Micros;
  until?: Micros;
}

export interface DeliveryFilter {
  status?: DeliveryStatus;
  setting?: UrlSetting;
}

/**
 * Selects the deliveries of an application that are sent again: of one status, of one setting or all, made in [since,
 * until).
 */
export interface DueRange extends Omit<DeliveryFilter, 'status'> {
  /** `waiting` means pending after at least one attempt. */
  status: DeliveryStatus | 'waiting';
  since: Micros;
  until: Micros;
}

// The condition is a part of the text and not a parameter, because only then can the partial index on these statuses be
// used. The same holds for `pending` below.
const GIVEN_UP = `status IN ('exhausted', 'gone')`;

function condition(
  applicationId: string,
  { status, setting }: Partial<Pick<DueRange, 'status' | 'setting'>>,
): { where: string; values: SqlValue[] } {
  const values: SqlValue[] = [applicationId];
  let where = 'application_id = ?';
  if (status === 'exhausted' || status === 'gone') where += ` AND ${GIVEN_UP}`;
  if (status === 'pending') where += ` AND status = 'pending'`;
  else if (status === 'waiting') where += ` AND status = 'pending' AND attempts > 0`;
  else if (status !== undefined) {
    where += ' AND status = ?';
    values.push(status);
  }
  if (setting !== undefined) {
    where += ' AND setting = ?';
    values.push(setting);
  }
  return { where, values };
}

// Pending deliveries have an index by receiver, which is used while an application has few of them. When it has many, a
// page of its deliveries, newest first, soon meets enough pending ones without that index.
const FEW_PENDING = 2_000;
const PENDING = `FROM deliveries WHERE status = 'pending' AND application_id = ? LIMIT ${FEW_PENDING + 1}`;
const LOGGED = `application_id, delivery_id, device_id, transaction_id, type, setting, url, status, attempts, last_status_code,
  last_error, next_attempt_at, created_at, updated_at`;
async function hasFewPending(sql: Sql, applicationId: string): Promise<boolean> {
  const text = `SELECT count(*) AS n FROM (SELECT delivery_id ${PENDING}) AS pending`;
  return ((await sql.get<{ n: number }>(text, applicationId))?.n ?? 0) <= FEW_PENDING;
}

/** Whether an application has events that are only in its stream; they have an index of their own. */
async function hasUnsent(sql: Sql, applicationId: string): Promise<boolean> {
  const text = `SELECT 1 AS "one" FROM deliveries WHERE status = '${UNSENT}' AND application_id = ? LIMIT 1`;
  return (await sql.get(text, applicationId)) !== undefined;
}

/** A page of an application's deliveries, newest first. `mostExamined` is the most rows that the page may examine. */
export async function listDeliveries(
  sql: Sql,
  applicationId: string,
  wanted: DeliveryListFilter & PageQuery<string> & { mostExamined?: number },
): Promise<NewestPage<DeliverySummary>> {
  const { status, setting, deviceId, transactionId, since, until, mostExamined, ...page } = wanted;
  let where = 'application_id = ?';
  const values: SqlValue[] = [applicationId];
  let table = 'deliveries';
  const filters: [condition: string, value: SqlValue][] = [];
  if (setting !== undefined) filters.push(['setting = ?', setting]);
  if (deviceId !== undefined) filters.push(['device_id = ?', deviceId]);
  if (transactionId !== undefined) filters.push(['transaction_id = ?', transactionId]);
  if (status === 'exhausted' || status === 'gone') {
    where += ` AND ${GIVEN_UP} AND status = ?`;
    values.push(status);
  } else if (status !== undefined) {
    filters.push(['status = ?', status]);
    if (status === 'pending' && (await hasFewPending(sql, applicationId))) {
      table = `(SELECT ${LOGGED} ${PENDING}) AS pending`;
      values.unshift(applicationId);
    }
  }
  // The ids of deliveries rise with time, so a range of times is also a range of ids, exact to the millisecond.
  if (since !== undefined) {
    where += ' AND delivery_id >= ?';
    values.push(idsFrom('msg', since));
  }
  if (until !== undefined) {
    where += ' AND delivery_id < ?';
    values.push(idsFrom('msg', until));
  }
  const conditions = filters.map(([condition]) => condition);
  // Without a filter, a page counts its rows in the index alone.
  if (status === undefined && (await hasUnsent(sql, applicationId))) conditions.push(IS_DELIVERY);
  const found = await newestFirst<DeliverySummary, string>(sql, {
    table,
    key: 'delivery_id',
    keyOf: ({ deliveryId }) => deliveryId,
    columns: DELIVERY_COLUMNS,
    ranges: [{ where, values }],
    filter: conditions.length > 0 ? conditions.join(' AND ') : null,
    filterValues: filters.map(([, value]) => value),
    page,
    mostExamined,
  });
  return { ...found, rows: found.rows.map((row) => withUrl(sql, row)) };
}

// `round` rises, so that the outcome of an attempt in progress is ignored. A pending delivery keeps its number of
// attempts, unless only its last attempt is left; any other delivery begins the retry schedule anew.
const MAKE_DUE = `UPDATE deliveries SET status = 'pending', round = round + 1, next_attempt_at = ?, updated_at = ?,
  attempts = CASE WHEN status = 'pending' AND attempts < ${RETRY_DELAY_SECONDS.length} THEN attempts ELSE 0 END`;

/** Makes a delivery due at once; returns its setting, or undefined when the application has no such delivery. */
export async function makeDue(
  sql: Sql,
  applicationId: string,
  deliveryId: string,
  now: Micros,
): Promise<UrlSetting | undefined> {
  const row = await sql.get<{ setting: UrlSetting }>(
    `${MAKE_DUE} WHERE application_id = ? AND delivery_id = ? AND ${IS_DELIVERY} RETURNING setting`,
    now,
    now,
    applicationId,
    deliveryId,
  );
  return row?.setting;
}

/** Whether deliveries of an application wait for another attempt; found in the index of pending deliveries. */
export async function hasWaiting(sql: Sql, applicationId: string): Promise<boolean> {
  const text = `SELECT 1 AS "one" FROM deliveries WHERE status = 'pending' AND application_id = ? AND attempts > 0 LIMIT 1`;
  return (await sql.get(text, applicationId)) !== undefined;
}

/**
 * Makes deliveries due that are in `range` and whose ids are among the next `limit` ids behind `after` and before
 * `before`. The ids bound the number of examined rows, because most rows of an application are outside of the range.
 * `made` has the setting of each delivery that became due; `last` is the `after` of the next call, or null when no ids
 * are left. They are attempted at `dueAt`.
 */
export async function makeRangeDue(
  unit: UnitOfWork,
  applicationId: string,
  range: DueRange,
  { after, before }: { after: string; before: string },
  { now, dueAt }: { now: Micros; dueAt: Micros },
  limit: number,
): Promise<{ made: UrlSetting[]; last: string | null }> {
  const { where, values } = condition(applicationId, range);
  const own =
    range.status === 'exhausted' || range.status === 'gone' ? { where, values } : condition(applicationId, {});
  // The rows are locked in the order of their ids, as the writer of outcomes does, so that the two cannot deadlock.
  const seen = await unit.get<{ count: number; last: string | null }>(
    `SELECT count(*) AS count, MAX(delivery_id) AS last FROM (SELECT delivery_id FROM deliveries
       WHERE ${own.where} AND delivery_id > ? AND delivery_id < ? ORDER BY delivery_id LIMIT ?${unit.forUpdate}) AS seen`,
    ...own.values,
    after,
    before,
    limit,
  );
  if (!seen || seen.last === null) return { made: [], last: null };
  const made = await unit.all<{ setting: UrlSetting }>(
    `${MAKE_DUE} WHERE ${where} AND delivery_id > ? AND delivery_id <= ? AND created_at >= ? AND created_at < ?
       AND (status <> 'pending' OR next_attempt_at > ?)
     RETURNING setting`,
    dueAt,
    now,
    ...values,
    after,
    seen.last,
    range.since,
    range.until,
    dueAt, // a range that is asked for again must not put off what is due before
  );
  return { made: made.map(({ setting }) => setting), last: seen.count < limit ? null : seen.last };
}

/** Counts what `makeRangeDue` would make due, for the same part of the ids. */
export async function countRange(
  sql: Sql,
  applicationId: string,
  range: DueRange,
  { after, before }: { after: string; before: string },
  limit: number,
): Promise<{ count: number; last: string | null }> {
  const { where, values } = condition(applicationId, range);
  const seen = await sql.get<{ seen: number; last: string | null; count: number }>(
    `SELECT count(*) AS seen, MAX(delivery_id) AS last, COALESCE(SUM(hit), 0) AS count FROM
       (SELECT delivery_id, CASE WHEN ${where} AND created_at >= ? AND created_at < ? THEN 1 ELSE 0 END AS hit
        FROM deliveries WHERE application_id = ? AND delivery_id > ? AND delivery_id < ?
        ORDER BY delivery_id LIMIT ?) AS seen`,
    ...values,
    range.since,
    range.until,
    applicationId,
    after,
    before,
    limit,
  );
  return { count: seen?.count ?? 0, last: seen && seen.seen === limit ? seen.last : null };
}

/** An application, with the id of its newest delivery before a given id. */
interface Head {
  applicationId: string;
  head: string;
}

/** The applications that have deliveries with an id before `after`, ordered by the newest of these deliveries. */
export const findHeads = (sql: Sql, after: string): Promise<Head[]> =>
  sql.all<Head>(
    `SELECT application_id AS "applicationId", head FROM
       (SELECT a.application_id, (SELECT MAX(d.delivery_id) FROM deliveries d
          WHERE d.application_id = a.application_id AND d.delivery_id < ?) AS head FROM applications a) AS found
     WHERE head IS NOT NULL ORDER BY head DESC`,
    after,
  );

/** Pending deliveries of all applications, newest first, before an id; found in the index of pending deliveries. */
export async function listPendingOfAll(
  sql: Sql,
  { setting, deviceId, since, until }: DeliveryListFilter,
  after: string,
  limit: number,
): Promise<DeliverySummary[]> {
  const filters: [condition: string, value: SqlValue][] = [['delivery_id < ?', after]];
  if (setting !== undefined) filters.push(['setting = ?', setting]);
  if (deviceId !== undefined) filters.push(['device_id = ?', deviceId]);
  if (since !== undefined) filters.push(['delivery_id >= ?', idsFrom('msg', since)]);
  if (until !== undefined) filters.push(['delivery_id < ?', idsFrom('msg', until)]);
  const rows = await sql.all<DeliverySummary>(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE (application_id, delivery_id) IN
       (SELECT application_id, delivery_id FROM deliveries
        WHERE status = 'pending' AND ${filters.map(([condition]) => condition).join(' AND ')}
        ORDER BY delivery_id DESC LIMIT ?)
     ORDER BY delivery_id DESC`,
    ...filters.map(([, value]) => value),
    limit,
  );
  return rows.map((row) => withUrl(sql, row));
}

/** The applications that have, or had, transactions of a device, or for which it is activated. */
export async function findApplicationsOf(sql: Sql, deviceId: string): Promise<string[]> {
  const rows = await sql.all<{ applicationId: string }>(
    `SELECT application_id AS "applicationId" FROM devices WHERE device_id = ? AND application_id IS NOT NULL
     UNION SELECT application_id FROM transactions WHERE device_id = ? AND due = 0
     UNION SELECT application_id FROM transactions WHERE device_id = ? AND due = 1`,
    deviceId,
    deviceId,
    deviceId,
  );
  return rows.map(({ applicationId }) => applicationId);
}

/** The application of a transaction, and the id of its webhook if it was stored. */
export const findOfTransaction = (
  sql: Sql,
  transactionId: number,
): Promise<{ applicationId: string; deliveryId: string | null } | undefined> =>
  sql.get(
    'SELECT application_id AS "applicationId", delivery_id AS "deliveryId" FROM transactions WHERE transaction_id = ?',
    transactionId,
  );

/** A delivery with its body; undefined when the application has none with this id. */
export async function findDelivery(sql: Sql, applicationId: string, deliveryId: string) {
  const row = await sql.get<
    DeliverySummary & EventNumbers & { body: string; sent: string | null; answer: string | null }
  >(
    `SELECT ${DELIVERY_COLUMNS}, body, sent, answer, sequence, device_sequence AS "deviceSequence" FROM deliveries
     WHERE application_id = ? AND delivery_id = ? AND ${IS_DELIVERY}`,
    applicationId,
    deliveryId,
  );
  return row && withUrl(sql, row);
}
