import type { DeliveryDetail } from '@lapel/schemas/contracts/types';
import { unpackSent } from '../core/webhooks/http/sent-headers.ts';
import type { DeliveryLog } from '../core/webhooks/log/delivery-log.ts';
import { toUtc } from '../runtime/clock.ts';
import { deliveryRow } from './delivery-row.ts';

/**
 * The headers of an attempt: those that are the same in all attempts, and those that were stored as they were sent, with
 * the time and the signatures. Attempts of earlier releases have only the former.
 */
const headersOf = (deliveryId: string, sent: string | null): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'lapel',
  'webhook-id': deliveryId,
  ...(sent !== null && unpackSent(sent)),
});

/** Makes the body that shows a delivery with the headers of its last attempt, and its failed attempts. */
export const deliveryDetail = (delivery: Awaited<ReturnType<DeliveryLog['find']>>): DeliveryDetail => ({
  ...deliveryRow(delivery),
  body: delivery.body,
  headers: delivery.url === null ? {} : headersOf(delivery.deliveryId, delivery.sent),
  answer: delivery.answer,
  failedAttempts: delivery.failedAttempts.map(({ attempt, at, statusCode, error, duration, answer, sent }) => ({
    attempt,
    at: toUtc(at),
    statusCode,
    error,
    durationMs: Math.round(duration / 1000),
    answer,
    headers: sent === null ? {} : headersOf(delivery.deliveryId, sent),
  })),
});
