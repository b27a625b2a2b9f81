import { join } from 'node:path';
import { DomainError } from '@lapel/schemas/contracts/errors';
import Sqlite from 'better-sqlite3';

/**
 * Locks the data folder for this process; the returned function unlocks it. It is a lock of the operating system on a file
 * of its own, so it ends with the process, even in a crash. Throws DATA_FOLDER_IN_USE when another process holds it.
 */
export function lockFolder(folder: string): () => void {
  const connection = new Sqlite(join(folder, 'lock.db'), { timeout: 0 });
  try {
    connection.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    connection.close();
    throw new DomainError('DATA_FOLDER_IN_USE', { values: { folder }, cause });
  }
  return () => connection.close();
}
