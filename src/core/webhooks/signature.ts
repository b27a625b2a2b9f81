import { createHmac, createPrivateKey, createSecretKey, type KeyObject, sign } from 'node:crypto';

/** The most keys that are kept in memory in the form that signing needs; above it the oldest is dropped. */
const KEPT = 10_000;
/** A key that the receiver shares, and the private half of a key pair of which the receiver has the public one. */
export const SHARED_PREFIX = 'whsec_';
export const PRIVATE_PREFIX = 'whsk_';

/**
 * Turns a key into the form that signing needs. A key is `whsec_` and the base64 of its bytes (op 3), or `whsk_` and the base64
 * of a private Ed25519 key (PKCS 8); throws when it has another form.
 */
function prepare(key: string): KeyObject {
  const isPrivate = key.startsWith(PRIVATE_PREFIX);
  const prefix = isPrivate ? PRIVATE_PREFIX : SHARED_PREFIX;
  const encoded = key.startsWith(prefix) ? key.slice(prefix.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== encoded) throw new Error('an authenticationKey is malformed');
  return isPrivate ? createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' }) : createSecretKey(bytes);
}

/** The signature of a text in the form of Standard Webhooks: `v1` with a shared key, `v1a` with a private one. */
function signatureOf(key: KeyObject, text: string): string {
  if (key.type === 'private') return `v1a,${sign(null, Buffer.from(text, 'utf8'), key).toString('base64')}`;
  return `v1,${createHmac('sha256', key).update(text, 'utf8').digest('base64')}`;
}

/** Signs notifications. Keeps keys in the form that signing needs, so that each key is converted once. */
export function createSigner() {
  const known = new Map<string, KeyObject>();

  function preparedOf(key: string): KeyObject {
    const kept = known.get(key);
    if (kept) return kept;
    const prepared = prepare(key);
    if (known.size >= KEPT) known.delete(known.keys().next().value as string);
    known.set(key, prepared);
    return prepared;
  }

  /**
   * Returns the headers with which a receiver verifies a notification: the signatures of Standard Webhooks over
   * `id.timestamp.body`, one per key, the current key's first. No other header is made from a key, because a signature
   * without the time could be replayed for ever. Throws when a key is malformed, or there is none.
   */
  return function signedHeaders(
    id: string,
    nowMicros: number,
    body: string,
    keys: readonly string[],
  ): Record<string, string> {
    if (keys.length === 0) throw new Error('no key to sign with');
    const timestamp = String(Math.floor(nowMicros / 1_000_000));
    const text = `${id}.${timestamp}.${body}`;
    const signatures = keys.map((key) => signatureOf(preparedOf(key), text));
    return {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    };
  };
}
