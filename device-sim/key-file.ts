import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { needsPassphrase } from '@lapel/schemas/base/locked-key';
import { UsageError } from './usage-error.ts';

/** Reads a key from the file that an option names. Throws a UsageError that does not show what is in the file. */
export function readKeyFile(option: string, path: string, read: (pem: string) => KeyObject): KeyObject {
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--${option}`, `the file cannot be read: ${(error as Error).message}`);
  }
  if (needsPassphrase(pem))
    throw new UsageError(
      `--${option}`,
      `${path} has a passphrase, for which nobody can be asked here; openssl pkey -in ${path} -out FILE writes the key without it`,
    );
  let key: KeyObject;
  try {
    key = read(pem);
  } catch {
    throw new UsageError(`--${option}`, `${path} has no key of ed25519 in PEM`);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new UsageError(`--${option}`, `${path} has no key of ed25519 in PEM`);
  return key;
}
