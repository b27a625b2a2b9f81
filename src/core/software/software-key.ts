import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** The keys that a developer may have at a time. */
export const MOST_KEYS = 20;

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
  if (key.asymmetricKeyType !== 'ed25519') return undefined;
  const spki = key.export({ format: 'der', type: 'spki' });
  // Derived from the key, so that a key has the same identifier wherever it is used, and no two keys of a developer share one.
  const keyId = createHash('sha256').update(spki).digest('hex').slice(0, KEY_ID_LENGTH);
  return { key, keyId, pem: key.export({ format: 'pem', type: 'spki' }) as string };
}

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
