import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isLowOrder } from './low-order.ts';

const KEY_ID_LENGTH = 16;

/** Reads a public key of ed25519 in PEM (SubjectPublicKeyInfo); undefined for anything else, such as a private key. */
export function readPublicKey(pem: string): { key: KeyObject; keyId: string; pem: string } | undefined {
  if (!/^\s*-----BEGIN PUBLIC KEY-----\s/.test(pem)) return undefined;
  let key: KeyObject;
  try {
    key = createPublicKey({ key: pem, format: 'pem', type: 'spki' });
  } catch {
    return undefined;
  }
  if (key.asymmetricKeyType !== 'ed25519' || isLowOrder(key)) return undefined;
  return { key, keyId: keyIdOf(key), pem: key.export({ format: 'pem', type: 'spki' }) as string };
}

/** The identifier of a public key. It is derived from the key, so that a key has the same one wherever it is used. */
const keyIdOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, KEY_ID_LENGTH);

/**
 * The text that is signed. It names package and version besides the digest, so that the signature of one version fits no
 * other one: neither that of another package nor an older one under a newer number. None of them can contain a line end.
 */
export const signedText = (name: { package: string; version: string }, sha256: string): Buffer =>
  Buffer.from(`lapel-software-v1\n${name.package}\n${name.version}\n${sha256}\n`);

/** Whether the signature (base64) is one of this key (PEM) for this version and file. */
export function isGenuine(
  publicKey: string,
  name: { package: string; version: string },
  { sha256, signature }: { sha256: string; signature: string },
): boolean {
  const known = readPublicKey(publicKey);
  return known !== undefined && verify(null, signedText(name, sha256), known.key, Buffer.from(signature, 'base64'));
}

/** Signs a version with a private key of ed25519. */
export const signVersion = (
  privateKey: KeyObject,
  name: { package: string; version: string },
  sha256: string,
): { keyId: string; sha256: string; signature: string } => ({
  keyId: keyIdOf(createPublicKey(privateKey)),
  sha256,
  signature: sign(null, signedText(name, sha256), privateKey).toString('base64'),
});
