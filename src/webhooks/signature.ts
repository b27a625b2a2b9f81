import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/**
 * The headers that let a receiver verify a notification. `authenticationKey` is `whsec_` and base64 (op 3); the
 * signature is that of Standard Webhooks over `id.timestamp.body`, and beside it `x-notification-key` is the hex
 * HMAC-SHA256 of the raw body keyed by the authenticationKey as text. Throws when the key has another form.
 */
export function signedHeaders(
  id: string,
  nowMicros: number,
  body: string,
  authenticationKey: string,
): Record<string, string> {
  const seconds = Math.floor(nowMicros / 1_000_000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': new Webhook(authenticationKey).sign(id, new Date(seconds * 1000), body),
    'x-notification-key': createHmac('sha256', authenticationKey).update(body, 'utf8').digest('hex'),
  };
}
