import type { Sql, SqlValue } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { NO_DEVICE } from '../webhooks/delivery.ts';
import { firstOfDevice, OF_KEY, OPEN, OPEN_OF_ONE, PENDING } from './delivery-columns.ts';
import type { EndpointDeliveryStatus, EndpointKey } from './endpoint.ts';

/** A delivery to an endpoint, as lists show it; times are microseconds. */
export interface EndpointDelivery {
  sequence: number;
  eventId: string;
  deviceId: string | null;
  type: string;
  status: EndpointDeliveryStatus;
  attempts: number;
  nextAttemptAt: Micros | null;
  lastStatusCode: number | null;
  lastError: string | null;
  /** The number of the event of the same device that this one waits for; null when it waits for none. */
  blockedBy: number | null;
  createdAt: Micros;
  updatedAt: Micros;
}

/** The most rows that a page of a list looks at. */
const MOST_EXAMINED = 10_000;

/**
 * Deliveries to an endpoint, the newest first, behind a number. `examined`: the number down to which they were looked at, where
 * the next page begins; null at the end.
 */
export async function listDeliveriesTo(
  sql: Sql,
  { applicationId, endpointId }: EndpointKey,
  {
    status,
    deviceId,
    before,
    limit,
    isOrdered,
  }: { status?: EndpointDeliveryStatus; deviceId?: string; before?: number; limit: number; isOrdered: boolean },
): Promise<{ rows: EndpointDelivery[]; next: number | null }> {
  const isOpen = status === 'pending' || status === 'blocked';
  const terms = ['1 = 1'];
  const values: SqlValue[] = [];
  if (status !== undefined) {
    terms.push('seen.status = ?');
    values.push(status);
  }
  if (deviceId !== undefined) {
    terms.push('seen.device_id = ?');
    values.push(deviceId);
  }
  const isFiltered = values.length > 0;
  const most = isFiltered ? MOST_EXAMINED : limit;
  const range = `FROM endpoint_deliveries WHERE ${OF_KEY} AND ${isOpen ? `sequence + 0 < ? AND ${OPEN_OF_ONE}` : 'sequence < ?'}
    ORDER BY sequence DESC LIMIT (? + 0)`;
  const from = [applicationId, endpointId, before ?? Number.MAX_SAFE_INTEGER, most];
  const rows = await sql.all<EndpointDelivery>(
    `SELECT sequence, event_id AS "eventId", NULLIF(device_id, '${NO_DEVICE}') AS "deviceId", type, status, attempts,
       next_attempt_at AS "nextAttemptAt", last_status_code AS "lastStatusCode", last_error AS "lastError",
       CASE WHEN ${isOrdered ? "status = 'blocked'" : '1 = 0'} THEN NULLIF(${firstOfDevice('seen')}, seen.sequence) END AS "blockedBy",
       created_at AS "createdAt", updated_at AS "updatedAt"
     FROM (SELECT * ${range}) AS seen WHERE ${terms.join(' AND ')} ORDER BY sequence DESC LIMIT (? + 0)`,
    ...from,
    ...values,
    limit,
  );
  const last = rows.at(-1)?.sequence;
  if (rows.length === limit) return { rows, next: last ?? null };
  if (!isFiltered) return { rows, next: null };
  const seen = await sql.get<{ count: number; last: number | null }>(
    `SELECT count(*) AS count, MIN(sequence) AS last FROM (SELECT sequence ${range}) AS seen`,
    ...from,
  );
  return { rows, next: seen?.count === most ? seen.last : null };
}

/** When the oldest event was made that an endpoint has taken and that is not through; null: all are. */
export async function findOldestOpen(sql: Sql, { applicationId, endpointId }: EndpointKey): Promise<number | null> {
  const row = await sql.get<{ at: number | null }>(
    `SELECT d.created_at AS at FROM deliveries d WHERE d.application_id = ? AND d.delivery_id =
       (SELECT event_id FROM endpoint_deliveries WHERE ${OF_KEY} AND ${OPEN_OF_ONE} ORDER BY sequence + 0 LIMIT 1)`,
    applicationId,
    applicationId,
    endpointId,
  );
  return row?.at ?? null;
}

/** The devices that an ordered endpoint holds up, with the event that each waits for; at most `most`. */
export const listBlockedDevices = (
  sql: Sql,
  { applicationId, endpointId }: EndpointKey,
  most: number,
): Promise<{ deviceId: string; blockedBy: number; waiting: number }[]> =>
  sql.all(
    `SELECT device_id AS "deviceId", MIN(sequence) AS "blockedBy", SUM(CASE WHEN status = 'blocked' THEN 1 ELSE 0 END) AS waiting
     FROM endpoint_deliveries WHERE ${OF_KEY} AND ${OPEN} AND device_id <> '${NO_DEVICE}'
     GROUP BY device_id HAVING SUM(CASE WHEN status = 'blocked' THEN 1 ELSE 0 END) > 0 ORDER BY MIN(sequence) LIMIT (? + 0)`,
    applicationId,
    endpointId,
    most,
  );

const COUNTED = { pending: PENDING, blocked: `${OPEN_OF_ONE} AND status = 'blocked'`, open: OPEN_OF_ONE } as const;

/** How many deliveries of an endpoint have a status, or are not through, at most `most`. */
export async function countWith(
  sql: Sql,
  { applicationId, endpointId }: EndpointKey,
  status: keyof typeof COUNTED,
  most: number,
): Promise<number> {
  const text = `SELECT count(*) AS n FROM (SELECT 1 AS one FROM endpoint_deliveries WHERE ${OF_KEY} AND ${COUNTED[status]}
    LIMIT (? + 0)) AS found`;
  return (await sql.get<{ n: number }>(text, applicationId, endpointId, most))?.n ?? 0;
}

/** Counts the deliveries to all endpoints that wait; it reads all of them, so it belongs on a thread of its own. */
export async function countWaiting(sql: Sql): Promise<{ pending: number; blocked: number }> {
  const row = await sql.get<{ pending: number | null; blocked: number | null }>(
    `SELECT SUM(CASE WHEN status = 'pending' THEN 1 ELSE 0 END) AS pending,
       SUM(CASE WHEN status = 'blocked' THEN 1 ELSE 0 END) AS blocked FROM endpoint_deliveries WHERE ${OPEN}`,
  );
  return { pending: row?.pending ?? 0, blocked: row?.blocked ?? 0 };
}
