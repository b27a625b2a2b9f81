import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Ids } from '../../runtime/ids.ts';
import type { StoreCredentials } from './request-signature.ts';

/** The file of the secret key in the data folder. */
export const KEY_FILE = 'object-store-key';

/**
 * The embedded store's credentials: the secret key is made at first start and kept in the data folder, readable by its
 * owner only. The file appears whole or not at all.
 */
export function embeddedCredentials(folder: string, ids: Ids): StoreCredentials {
  const file = join(folder, KEY_FILE);
  const read = (): StoreCredentials => ({
    accessKeyId: 'lapel',
    secretAccessKey: readFileSync(file, 'utf8').trim(),
  });
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  writeSync(descriptor, `${ids.secret()}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
  linkSync(draft, file);
  rmSync(draft);
  return read();
}
