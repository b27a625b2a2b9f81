import { closeSync, fsyncSync, openSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

/** More pages than a database can have: the copy is made in one step, so commits that come meanwhile never restart it. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies a database to a new file, as it is at one moment; a service may use it meanwhile, and is not held up. The copy
 * is a single file that is on the disk. Until the end the write-ahead log of the original cannot be shortened.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const original = new Sqlite(from, { readonly: true, fileMustExist: true });
  try {
    await original.backup(to, { progress: () => ALL_PAGES });
  } finally {
    original.close();
  }
  const copy = new Sqlite(to);
  try {
    copy.pragma('journal_mode = DELETE'); // in the mode of the original a second file would belong to it
  } finally {
    copy.close();
  }
  const descriptor = openSync(to, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
