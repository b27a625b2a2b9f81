import type { DeliveryDetail } from '@lapel/schemas/contracts/types';
import { numberedBody } from '../core/webhooks/delivery.ts';
import { sameHeaders, unpackSent } from '../core/webhooks/http/sent-headers.ts';
import type { DeliveryLog } from '../core/webhooks/log/delivery-log.ts';
import { toUtc } from '../runtime/clock.ts';
import { deliveryRow } from './delivery-row.ts';

type Found = Awaited<ReturnType<DeliveryLog['find']>>;

/**
 * The headers of an attempt: those that are the same in all attempts, and those that were stored as they were sent, with
 * the time and the signature. Attempts of early releases have only the former.
 */
const headersOf = (delivery: Found, sent: string | null): Record<string, string> => ({
  ...sameHeaders(delivery),
  ...(sent !== null && unpackSent(sent)),
});

/** Makes the body that shows a delivery with the headers of its last attempt, and its failed attempts. */
export const deliveryDetail = (delivery: Found): DeliveryDetail => ({
  ...deliveryRow(delivery),
  body: numberedBody(delivery.body, delivery),
  headers: delivery.url === null ? {} : headersOf(delivery, delivery.sent),
  answer: delivery.answer,
  failedAttempts: delivery.failedAttempts.map(({ attempt, at, statusCode, error, duration, answer, sent }) => ({
    attempt,
    at: toUtc(at),
    statusCode,
    error,
    durationMs: Math.round(duration / 1000),
    answer,
    headers: sent === null ? {} : headersOf(delivery, sent),
  })),
});
