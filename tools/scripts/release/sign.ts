import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

/** Reads a private key for signatures, an Ed25519 key in PEM without a password. Throws when it is another one. */
export function signingKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new Error('--sign names a file without a private key in PEM (or with one that has a password)', { cause });
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('--sign names a key that is not an Ed25519 key');
  return key;
}

/** The Ed25519 signature of some bytes (RFC 8032), 64 bytes, as `openssl pkeyutl -rawin` verifies it. */
export const signatureOf = (content: Buffer, key: KeyObject): Buffer => sign(null, content, key);
