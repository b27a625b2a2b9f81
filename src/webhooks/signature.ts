import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/**
 * The headers that let a receiver verify a notification. An authenticationKey is `whsec_` and base64 (op 3); the
 * signature is that of Standard Webhooks over `id.timestamp.body`, one for each key, the present one's first. Beside it
 * `x-notification-key` is the hex HMAC-SHA256 of the raw body keyed by the present authenticationKey as text. Throws when a
 * key has another form, or there is none.
 */
export function signedHeaders(
  id: string,
  nowMicros: number,
  body: string,
  keys: readonly string[],
): Record<string, string> {
  const [authenticationKey] = keys;
  if (authenticationKey === undefined) throw new Error('no key to sign with');
  const seconds = Math.floor(nowMicros / 1_000_000);
  const signed = keys.map((key) => new Webhook(key).sign(id, new Date(seconds * 1000), body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signed.join(' '),
    'x-notification-key': createHmac('sha256', authenticationKey).update(body, 'utf8').digest('hex'),
  };
}
