import { createHash, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';

interface KeyPair {
  keyId: string;
  /** PEM */
  publicKey: string;
  privateKey: string;
}

/** A new key pair of ed25519. */
export function createKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const spki = Buffer.from(publicKey.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return { keyId: createHash('sha256').update(spki).digest('hex').slice(0, 16), publicKey, privateKey };
}

export const sha256Of = (file: string | Uint8Array): string => createHash('sha256').update(file).digest('hex');

/** The body that signs a version, written after the documents and not after the code. */
export const signatureOf = (
  { keyId, privateKey }: Pick<KeyPair, 'keyId' | 'privateKey'>,
  name: { package: string; version: string },
  sha256: string,
): { keyId: string; sha256: string; signature: string } => ({
  keyId,
  sha256,
  signature: sign(
    null,
    Buffer.from(`lapel-software-v1\n${name.package}\n${name.version}\n${sha256}\n`),
    createPrivateKey(privateKey),
  ).toString('base64'),
});
