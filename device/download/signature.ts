import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { DeviceFailure } from '../core/device-failure.ts';

const isText = (value: unknown): value is string => typeof value === 'string';

/** Public keys of ed25519 as PEM. Throws if one is none: with a wrong key a device would reject all software. */
export function readKeys(pems: readonly string[]): KeyObject[] {
  return pems.map((pem) => {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('a trusted key: not an ed25519 key.');
    return key;
  });
}

/**
 * Throws `SIGNATURE_REJECTED` unless one of the keys has signed package, version and SHA-256 of the command (rule
 * `signatures`; "Software that is signed" in docs/devices.md).
 */
export function checkSignature(keys: readonly KeyObject[], parameters: Readonly<Record<string, unknown>>): void {
  const { package: name, version, sha256, signature } = parameters;
  const isWhole = isText(name) && isText(version) && isText(sha256) && isText(signature);
  const text = Buffer.from(`lapel-software-v1\n${String(name)}\n${String(version)}\n${String(sha256)}\n`);
  const isSigned = isWhole && keys.some((key) => verify(null, text, key, Buffer.from(signature, 'base64')));
  if (!isSigned) throw new DeviceFailure('SIGNATURE_REJECTED', 'no trusted key has signed this version');
}
