import type { WebhookSetting } from '../../platform/contracts/types.ts';
import type { Micros } from '../../runtime/units.ts';
import type { DeliveryStatus } from './delivery.ts';

/** A delivery as lists show it; times are microseconds. */
export interface DeliverySummary {
  deliveryId: string;
  applicationId: string;
  deviceId: string | null;
  transactionId: number | null;
  setting: WebhookSetting;
  type: string;
  /** The URL of the last attempt. */
  url: string | null;
  status: DeliveryStatus;
  attempts: number;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: Micros | null;
  createdAt: Micros;
  updatedAt: Micros;
}

/** The columns of a DeliverySummary. */
export const DELIVERY_COLUMNS = `delivery_id AS "deliveryId", application_id AS "applicationId", device_id AS "deviceId",
  transaction_id AS "transactionId", setting, type, url, status, attempts, last_status_code AS "lastStatusCode",
  last_error AS "lastError", next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", updated_at AS "updatedAt"`;
