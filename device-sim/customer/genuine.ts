import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
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

/** Milliseconds by which the time of a signature may differ from that of the receiver, as Standard Webhooks says. */
const TOLERANCE = 300_000;

/**
 * Verifies an event that is signed with a key pair (`v1a` of Standard Webhooks: Ed25519), of which the receiver has the public
 * half. Throws an Error that says what is wrong.
 */
export function genuineByPublicKey(headers: IncomingHttpHeaders, body: Buffer, jwk: JsonWebKey): ReceivedWebhook {
  const wrong = (why: string): Error => new Error(`webhook-signature: ${why}`);
  const webhookId = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  const sentAt = Number(timestamp) * 1000;
  if (!(Math.abs(Date.now() - sentAt) <= TOLERANCE)) throw wrong('the time of the signature is not of these minutes');
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signed = Buffer.concat([Buffer.from(`${webhookId}.${timestamp}.`), body]);
  const signatures = String(headers['webhook-signature'] ?? '').split(' ');
  const isOurs = (signature: string): boolean =>
    signature.startsWith('v1a,') && verify(null, signed, key, Buffer.from(signature.slice('v1a,'.length), 'base64'));
  if (!signatures.some(isOurs)) throw wrong('No matching signature found');
  return { webhookId, event: JSON.parse(body.toString()) as WebhookEvent, sentAt, body };
}
