import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** Keys are prepared once, up to so many; the one that was prepared first goes. */
const KEPT = 10_000;
const PREFIX = 'whsec_';

/** An authenticationKey in the two ways in which it signs. */
interface Prepared {
  /** What its base64 stands for: Standard Webhooks. */
  bytes: KeyObject;
  /** The key as text: `x-notification-key`. */
  text: KeyObject;
}

/** A key is `whsec_` and base64 (op 3). Throws when it has another form. */
function prepare(key: string): Prepared {
  const encoded = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== encoded) throw new Error('an authenticationKey is malformed');
  return { bytes: createSecretKey(bytes), text: createSecretKey(key, 'utf8') };
}

/** Signs notifications; it remembers the keys that it was given, made ready for use. */
export function createSigner() {
  const known = new Map<string, Prepared>();

  function preparedOf(key: string): Prepared {
    const kept = known.get(key);
    if (kept) return kept;
    const prepared = prepare(key);
    if (known.size >= KEPT) known.delete(known.keys().next().value as string);
    known.set(key, prepared);
    return prepared;
  }

  /**
   * The headers that let a receiver verify a notification: the signature is that of Standard Webhooks over
   * `id.timestamp.body`, one for each key, the present one's first. Beside it `x-notification-key` is the hex HMAC-SHA256
   * of the raw body keyed by the present authenticationKey as text. Throws when a key has another form, or there is none.
   */
  return function signedHeaders(
    id: string,
    nowMicros: number,
    body: string,
    keys: readonly string[],
  ): Record<string, string> {
    const [authenticationKey] = keys;
    if (authenticationKey === undefined) throw new Error('no key to sign with');
    const timestamp = String(Math.floor(nowMicros / 1_000_000));
    const signatures = keys.map((key) => {
      const hmac = createHmac('sha256', preparedOf(key).bytes).update(`${id}.${timestamp}.${body}`, 'utf8');
      return `v1,${hmac.digest('base64')}`;
    });
    return {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
      'x-notification-key': createHmac('sha256', preparedOf(authenticationKey).text).update(body, 'utf8').digest('hex'),
    };
  };
}
