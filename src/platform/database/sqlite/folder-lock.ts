import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { DomainError } from '../../../errors.ts';

/**
 * Takes the data folder for this process; the returned function gives it back. The lock is the operating system's, on a
 * file of its own, so it ends with the process however that ends. Throws DATA_FOLDER_IN_USE when another one has it.
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
