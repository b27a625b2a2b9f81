import type { Sql, SqlValue } from '../database/sql.ts';
import type { DeliveryStatus, WebhookSetting } from './delivery.ts';

/** A delivery as its application sees it; times in microseconds. */
export interface LoggedDelivery {
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

/** A page of an application's deliveries, newest first, and how many match. */
export async function listDeliveries(
  sql: Sql,
  applicationId: string,
  filter: DeliveryFilter & { offset: number; limit: number },
): Promise<{ deliveries: LoggedDelivery[]; total: number }> {
  const { where, values } = condition(applicationId, filter);
  const count = await sql.get<{ total: number }>(
    `SELECT count(*) AS "total" FROM deliveries WHERE ${where}`,
    ...values,
  );
  const total = count?.total ?? 0;
  const left = total - filter.offset;
  if (left <= 0) return { deliveries: [], total };
  const deliveries = await sql.all<LoggedDelivery>(
    `SELECT delivery_id AS "deliveryId", type, setting, url, status, attempts, last_status_code AS "lastStatusCode",
       last_error AS "lastError", next_attempt_at AS "nextAttemptAt", created_at AS "createdAt"
     FROM deliveries WHERE ${where} ORDER BY delivery_id DESC LIMIT ? OFFSET ?`,
    ...values,
    Math.min(filter.limit, left), // so that behind the last that matches nothing is looked at
    filter.offset,
  );
  return { deliveries, total };
}

// One that is under way or waits keeps its count; any other begins the retry schedule anew.
const MAKE_DUE = `UPDATE deliveries SET status = 'pending', next_attempt_at = ?, updated_at = ?,
  attempts = CASE status WHEN 'pending' THEN attempts ELSE 0 END`;

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
 * Makes up to `limit` deliveries of a range due, those with ids between `after` and `before`, in their order. The ids
 * bound what is looked at: most rows of an application are in no range.
 */
export async function makeRangeDue(
  sql: Sql,
  applicationId: string,
  range: DueRange,
  { after, before }: { after: string; before: string },
  now: number,
  limit: number,
): Promise<{ deliveryId: string; setting: WebhookSetting }[]> {
  const { where, values } = condition(applicationId, range);
  return sql.all(
    `${MAKE_DUE} WHERE application_id = ? AND delivery_id IN
       (SELECT delivery_id FROM deliveries WHERE ${where} AND delivery_id > ? AND delivery_id < ?
          AND created_at >= ? AND created_at < ? ORDER BY delivery_id LIMIT ?)
     RETURNING delivery_id AS "deliveryId", setting`,
    now,
    now,
    applicationId,
    ...values,
    after,
    before,
    range.since,
    range.until,
    limit,
  );
}
