import { newestFirst, type Page, type PageQuery } from '../database/newest-first.ts';
import type { Sql, SqlValue, UnitOfWork } from '../database/sql.ts';
import type { DeliveryStatus, WebhookSetting } from './delivery.ts';
import { RETRY_DELAYS } from './retry-schedule.ts';

/** A delivery as its application sees it; times in microseconds. */
interface LoggedDelivery {
  deliveryId: string;
  type: string;
  setting: WebhookSetting;
  /** Of the last attempt. */
  url: string | null;
  status: DeliveryStatus;
  attempts: number;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: number | null;
  createdAt: number;
}

export interface DeliveryFilter {
  status?: DeliveryStatus;
  setting?: WebhookSetting;
}

/** What is made due of an application: in one status, of one setting or all, made in [since, until). */
export interface DueRange extends DeliveryFilter {
  status: DeliveryStatus;
  since: number;
  until: number;
}

// Written out, as `pending` is below, so that the index of such deliveries is used.
const GIVEN_UP = `status IN ('exhausted', 'gone')`;

function condition(applicationId: string, { status, setting }: DeliveryFilter): { where: string; values: SqlValue[] } {
  const values: SqlValue[] = [applicationId];
  let where = 'application_id = ?';
  if (status === 'exhausted' || status === 'gone') where += ` AND ${GIVEN_UP}`;
  if (status === 'pending') where += ` AND status = 'pending'`;
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

// What is pending has an index by its receiver. When it is little, that finds it; when it is much, it is found on the way.
const FEW_PENDING = 2_000;
const PENDING = `FROM deliveries WHERE status = 'pending' AND application_id = ? LIMIT ${FEW_PENDING + 1}`;
const LOGGED =
  'application_id, delivery_id, type, setting, url, status, attempts, last_status_code, last_error, next_attempt_at, created_at';

async function hasFewPending(sql: Sql, applicationId: string): Promise<boolean> {
  const text = `SELECT count(*) AS n FROM (SELECT delivery_id ${PENDING}) AS pending`;
  return ((await sql.get<{ n: number }>(text, applicationId))?.n ?? 0) <= FEW_PENDING;
}

/** A page of an application's deliveries, newest first. */
export async function listDeliveries(
  sql: Sql,
  applicationId: string,
  { status, setting, ...page }: DeliveryFilter & PageQuery<string>,
): Promise<Page<LoggedDelivery>> {
  let where = 'application_id = ?';
  const values: SqlValue[] = [applicationId];
  let table = 'deliveries';
  const filters: [condition: string, value: SqlValue][] = [];
  if (setting !== undefined) filters.push(['setting = ?', setting]);
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
  return newestFirst<LoggedDelivery, string>(sql, {
    table,
    key: 'delivery_id',
    keyOf: ({ deliveryId }) => deliveryId,
    columns: `delivery_id AS "deliveryId", type, setting, url, status, attempts, last_status_code AS "lastStatusCode",
      last_error AS "lastError", next_attempt_at AS "nextAttemptAt", created_at AS "createdAt"`,
    ranges: [{ where, values }],
    filter: filters.length > 0 ? filters.map(([condition]) => condition).join(' AND ') : null,
    filterValues: filters.map(([, value]) => value),
    page,
  });
}

// An attempt that is under way belongs to the round before. One that is pending keeps its count, unless the next attempt
// were its last; any other begins the retry schedule anew.
const MAKE_DUE = `UPDATE deliveries SET status = 'pending', round = round + 1, next_attempt_at = ?, updated_at = ?,
  attempts = CASE WHEN status = 'pending' AND attempts < ${RETRY_DELAYS.length} THEN attempts ELSE 0 END`;

/** Makes a delivery due; answers its setting, or undefined when the application has no such delivery. */
export async function makeDue(
  sql: Sql,
  applicationId: string,
  deliveryId: string,
  now: number,
): Promise<WebhookSetting | undefined> {
  const row = await sql.get<{ setting: WebhookSetting }>(
    `${MAKE_DUE} WHERE application_id = ? AND delivery_id = ? RETURNING setting`,
    now,
    now,
    applicationId,
    deliveryId,
  );
  return row?.setting;
}

/**
 * Makes the deliveries of a range due whose ids are among the next `limit` behind `after`, and before `before`. The ids
 * bound what is looked at: most rows of an application are in no range. `made`: the setting of each. `last` is where the
 * next call goes on; null when nothing is left.
 */
export async function makeRangeDue(
  unit: UnitOfWork,
  applicationId: string,
  range: DueRange,
  { after, before }: { after: string; before: string },
  now: number,
  limit: number,
): Promise<{ made: WebhookSetting[]; last: string | null }> {
  const { where, values } = condition(applicationId, range);
  const own =
    range.status === 'exhausted' || range.status === 'gone' ? { where, values } : condition(applicationId, {});
  // Locked in the order of their ids, as whoever writes outcomes takes them.
  const seen = await unit.get<{ count: number; last: string | null }>(
    `SELECT count(*) AS count, MAX(delivery_id) AS last FROM (SELECT delivery_id FROM deliveries
       WHERE ${own.where} AND delivery_id > ? AND delivery_id < ? ORDER BY delivery_id LIMIT ?${unit.forUpdate}) AS seen`,
    ...own.values,
    after,
    before,
    limit,
  );
  if (!seen || seen.last === null) return { made: [], last: null };
  const made = await unit.all<{ setting: WebhookSetting }>(
    `${MAKE_DUE} WHERE ${where} AND delivery_id > ? AND delivery_id <= ? AND created_at >= ? AND created_at < ?
     RETURNING setting`,
    now,
    now,
    ...values,
    after,
    seen.last,
    range.since,
    range.until,
  );
  return { made: made.map(({ setting }) => setting), last: seen.count < limit ? null : seen.last };
}
