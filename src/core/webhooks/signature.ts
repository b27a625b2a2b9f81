import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** The most keys that are kept in memory in the forms that signing needs; above it the oldest is dropped. */
const KEPT = 10_000;
const PREFIX = 'whsec_';

/** An authenticationKey in the two forms that signing needs. */
interface Prepared {
  /** The bytes that the base64 of the key encodes, for the signature of Standard Webhooks. */
  bytes: KeyObject;
  /** The key as text, for `x-notification-key`. */
  text: KeyObject;
}

/**
 * Turns a key into the forms that signing needs. A key is `whsec_` and base64 (op 3); throws when it has another form.
 */
function prepare(key: string): Prepared {
  const encoded = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== encoded) throw new Error('an authenticationKey is malformed');
  return { bytes: createSecretKey(bytes), text: createSecretKey(key, 'utf8') };
}

/** Signs notifications. Keeps keys in the form that signing needs, so that each key is converted once. */
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
   * Returns the headers with which a receiver verifies a notification: the signatures of Standard Webhooks over
   * `id.timestamp.body`, one per key, the current key's first; and `x-notification-key`, the hexadecimal HMAC-SHA256 of the
   * raw body, keyed by the current authenticationKey as text. Throws when a key is malformed, or there is none.
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
