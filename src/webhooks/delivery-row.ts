import { toUtc } from '../clock.ts';
import type { DeliveryRow } from '../contracts/types.ts';
import type { DeliverySummary } from './delivery-record.ts';

/** A delivery as lists of many show it. */
export const deliveryRow = (delivery: DeliverySummary): DeliveryRow => ({
  deliveryId: delivery.deliveryId,
  applicationId: delivery.applicationId,
  deviceId: delivery.deviceId,
  transactionId: delivery.transactionId,
  setting: delivery.setting,
  type: delivery.type,
  url: delivery.url,
  status: delivery.status,
  attempts: delivery.attempts,
  lastStatusCode: delivery.lastStatusCode,
  lastError: delivery.lastError,
  nextAttemptAt: delivery.nextAttemptAt === null ? null : toUtc(delivery.nextAttemptAt),
  createdAt: toUtc(delivery.createdAt),
  updatedAt: toUtc(delivery.updatedAt),
});
