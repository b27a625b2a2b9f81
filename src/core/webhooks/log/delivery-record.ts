import type { WebhookSetting } from '@lapel/schemas/contracts/types';
import type { Sql } from '../../../platform/database/sql.ts';
import { openOrNull, type Place } from '../../../platform/encryption/vault.ts';
import type { Micros } from '../../../runtime/units.ts';
import { type DeliveryStatus, NO_DEVICE, UNSENT } from '../delivery.ts';

/** A delivery as lists show it; times are microseconds. */
export interface DeliverySummary {
  deliveryId: string;
  applicationId: string;
  /** Null if the event is about no device, such as a test. */
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

/** Selects the rows that are deliveries, out of all events. */
export const IS_DELIVERY = `status <> '${UNSENT}'`;

/** The columns of a DeliverySummary. */
export const DELIVERY_COLUMNS = `delivery_id AS "deliveryId", application_id AS "applicationId",
  NULLIF(device_id, '${NO_DEVICE}') AS "deviceId", transaction_id AS "transactionId", setting, type, url, status, attempts, last_status_code AS "lastStatusCode",
  last_error AS "lastError", next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The place of the URL of a delivery, which can hold a token of the receiver. */
export const urlPlaceOf = ({ applicationId, deliveryId }: { applicationId: string; deliveryId: string }): Place => [
  'deliveries',
  'url',
  applicationId,
  deliveryId,
];

/** A delivery that was read, with its URL decrypted. */
export const withUrl = <Row extends DeliverySummary>({ vault }: Sql, row: Row): Row => ({
  ...row,
  url: openOrNull(vault, urlPlaceOf(row), row.url),
});
