import type { DeliveryRow } from '@lapel/schemas/contracts/types';
import type { DeliverySummary } from '../core/webhooks/log/delivery-record.ts';
import { toUtc } from '../runtime/clock.ts';

/** Makes the row of a delivery for lists. */
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
