import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { needsPassphrase } from '@lapel/schemas/base/locked-key';
import { UsageError } from '../line/usage-error.ts';
import type { LocalFile } from './local-file.ts';

/** Reads a private key that signs software; `source` names it for errors. Throws a UsageError. */
export function privateKeyOf(pem: string, option: string, source: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    if (needsPassphrase(pem))
      throw new UsageError(option, `${source} is encrypted; decrypt it to standard input, and give --key -`);
    throw new UsageError(option, `${source} has no private key in PEM`);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new UsageError(option, `${source} is a key of ${key.asymmetricKeyType}; ed25519 is needed`);
  return key;
}

/** The SHA-256 of a file. */
export async function digestOf({ handle }: LocalFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
