import { DELIVERY_COLUMNS, type DeliverySummary } from '../core/webhooks/delivery-record.ts';
import type { Sql } from '../platform/database/sql.ts';

/** Finds the summary of a delivery; undefined when it does not exist any more. */
export const findDeliverySummary = (
  sql: Sql,
  applicationId: string,
  deliveryId: string,
): Promise<DeliverySummary | undefined> =>
  sql.get<DeliverySummary>(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE application_id = ? AND delivery_id = ?`,
    applicationId,
    deliveryId,
  );

/** Finds the application of a delivery; undefined when there is no delivery with this id. */
export async function findApplicationOfDelivery(sql: Sql, deliveryId: string): Promise<string | undefined> {
  const row = await sql.get<{ applicationId: string }>(
    `SELECT application_id AS "applicationId" FROM deliveries
     WHERE application_id IN (SELECT application_id FROM applications) AND delivery_id = ?`,
    deliveryId,
  );
  return row?.applicationId;
}
