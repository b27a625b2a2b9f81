import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { verifyWebhook, type WebhookEvent } from '@lapel/client/verify-webhook';

export interface ReceivedWebhook {
  /** The id of the webhook. It is the same in every attempt, so that a receiver can drop repetitions. */
  readonly webhookId: string;
  readonly event: WebhookEvent;
  /** When the service signed this attempt, in milliseconds since 1970. */
  readonly sentAt: number;
  /** The signed text. */
  readonly body: Buffer;
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Verifies both signatures of a webhook, as every receiver must before it uses the content. Throws an Error that says
 * which signature is wrong. `isLast`: no newer key signs; `x-notification-key` is made with the newest one only.
 */
export function genuineWebhook(
  headers: IncomingHttpHeaders,
  body: Buffer,
  authenticationKey: string,
  { isLast = true }: { isLast?: boolean } = {},
): ReceivedWebhook {
  let verified: ReturnType<typeof verifyWebhook>;
  try {
    verified = verifyWebhook({ body, headers, authenticationKey });
  } catch (cause) {
    throw new Error(`webhook-signature: ${(cause as Error).message}`, { cause });
  }
  const expected = createHmac('sha256', authenticationKey).update(body).digest('hex');
  if (isLast && !sameText(String(headers['x-notification-key'] ?? ''), expected)) {
    throw new Error('x-notification-key does not match');
  }
  return { ...verified, sentAt: Number(headers['webhook-timestamp']) * 1000, body };
}

/** Whether one of the signatures of a webhook is that of the key. */
export function signedWith(headers: IncomingHttpHeaders, body: Buffer, authenticationKey: string): boolean {
  try {
    verifyWebhook({ body, headers, authenticationKey });
    return true;
  } catch {
    return false;
  }
}
