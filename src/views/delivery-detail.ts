import type { DeliveryLog } from '../core/webhooks/delivery-log.ts';
import type { DeliveryDetail } from '../platform/contracts/types.ts';
import { toUtc } from '../runtime/clock.ts';
import { deliveryRow } from './delivery-row.ts';

/**
 * The headers that are the same in all attempts. Other headers, with the time and the signatures, differ from attempt
 * to attempt.
 */
const headersOf = (deliveryId: string): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'lapel',
  'webhook-id': deliveryId,
});

/** Makes the body that shows a delivery with its headers and failed attempts. */
export const deliveryDetail = (delivery: Awaited<ReturnType<DeliveryLog['find']>>): DeliveryDetail => ({
  ...deliveryRow(delivery),
  body: delivery.body,
  headers: delivery.url === null ? {} : headersOf(delivery.deliveryId),
  failedAttempts: delivery.failedAttempts.map(({ attempt, at, statusCode, error, duration, answer }) => ({
    attempt,
    at: toUtc(at),
    statusCode,
    error,
    durationMs: Math.round(duration / 1000),
    answer,
  })),
});
