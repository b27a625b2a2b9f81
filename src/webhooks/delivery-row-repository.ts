import type { WebhookSetting } from '../contracts/types.ts';
import type { Sql } from '../database/sql.ts';
import type { DeliveryStatus } from './delivery.ts';

/** A delivery as whoever watches over it sees it; times in microseconds. */
export interface DeliverySummary {
  deliveryId: string;
  applicationId: string;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  type: string;
  /** Of the last attempt. */
  url: string | null;
  status: DeliveryStatus;
  attempts: number;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: number | null;
  createdAt: number;
  updatedAt: number;
}

const COLUMNS = `delivery_id AS "deliveryId", application_id AS "applicationId", device_id AS "deviceId",
  transaction_id AS "transactionId", setting, type, url, status, attempts, last_status_code AS "lastStatusCode",
  last_error AS "lastError", next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Undefined when there is none any more. */
export const findDeliverySummary = (
  sql: Sql,
  applicationId: string,
  deliveryId: string,
): Promise<DeliverySummary | undefined> =>
  sql.get<DeliverySummary>(
    `SELECT ${COLUMNS} FROM deliveries WHERE application_id = ? AND delivery_id = ?`,
    applicationId,
    deliveryId,
  );

/** The application of a delivery; undefined when there is none of this id. */
export async function findApplicationOfDelivery(sql: Sql, deliveryId: string): Promise<string | undefined> {
  const row = await sql.get<{ applicationId: string }>(
    `SELECT application_id AS "applicationId" FROM deliveries
     WHERE application_id IN (SELECT application_id FROM applications) AND delivery_id = ?`,
    deliveryId,
  );
  return row?.applicationId;
}
