import { DELIVERY_COLUMNS, type DeliverySummary, IS_DELIVERY, withUrl } from '../core/webhooks/log/delivery-record.ts';
import type { Sql } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/** Finds the summary of a delivery; undefined when it does not exist any more. */
export async function findDeliverySummary(
  sql: Sql,
  applicationId: string,
  deliveryId: string,
): Promise<DeliverySummary | undefined> {
  const row = await sql.get<DeliverySummary>(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE application_id = ? AND delivery_id = ? AND ${IS_DELIVERY}`,
    applicationId,
    deliveryId,
  );
  return row && withUrl(sql, row);
}

/** Finds the application of a delivery; undefined when there is no delivery with this id. */
export async function findApplicationOfDelivery(sql: Sql, deliveryId: string): Promise<string | undefined> {
  const row = await sql.get<{ applicationId: string }>(
    `SELECT application_id AS "applicationId" FROM deliveries
     WHERE application_id IN (SELECT application_id FROM applications) AND delivery_id = ?`,
    deliveryId,
  );
  if (!row) return undefined;
  // The index that finds it does not know whether the event is also sent.
  const sent = await findDeliverySummary(sql, row.applicationId, deliveryId);
  return sent?.applicationId;
}

/**
 * Lists webhooks about a device that report no transaction, such as its events: those of [since, until) whose ids are in
 * [from, before), the newest first.
 */
export async function listEventsOfDevice(
  sql: Sql,
  deviceId: string,
  range: { since: Micros; until: Micros; from: string; before: string; limit: number },
): Promise<DeliverySummary[]> {
  const rows = await sql.all<DeliverySummary>(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE device_id = ? AND transaction_id IS NULL AND ${IS_DELIVERY}
       AND delivery_id >= ? AND delivery_id < ? AND created_at >= ? AND created_at < ?
     ORDER BY delivery_id DESC LIMIT ?`,
    deviceId,
    range.from,
    range.before,
    range.since,
    range.until,
    range.limit,
  );
  return rows.map((row) => withUrl(sql, row));
}
