import type { WebhookSetting } from '../../platform/contracts/types.ts';
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

/** What a DeliverySummary is read from. */
export const DELIVERY_COLUMNS = `delivery_id AS "deliveryId", application_id AS "applicationId", device_id AS "deviceId",
  transaction_id AS "transactionId", setting, type, url, status, attempts, last_status_code AS "lastStatusCode",
  last_error AS "lastError", next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", updated_at AS "updatedAt"`;
