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

/**
 * Verifies the signature of a webhook, as every receiver must before it uses the content. Throws an Error that says what is
 * wrong.
 */
export function genuineWebhook(headers: IncomingHttpHeaders, body: Buffer, authenticationKey: string): ReceivedWebhook {
  let verified: ReturnType<typeof verifyWebhook>;
  try {
    verified = verifyWebhook({ body, headers, authenticationKey });
  } catch (cause) {
    throw new Error(`webhook-signature: ${(cause as Error).message}`, { cause });
  }
  return { ...verified, sentAt: Number(headers['webhook-timestamp']) * 1000, body };
}

/**
 * Whether the first signature of a webhook, that of the newest key, is made with this key. For a day after a new key,
 * receivers accept webhooks by the second signature, that of the former key.
 */
export function signedFirstWith(headers: IncomingHttpHeaders, body: Buffer, authenticationKey: string): boolean {
  const [first = ''] = String(headers['webhook-signature'] ?? '').split(' ');
  return signedWith({ ...headers, 'webhook-signature': first }, body, authenticationKey);
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
