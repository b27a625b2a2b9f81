import type { Sql } from '../database/sql.ts';
import { binaryIdOf } from './binary.ts';
import { findDeveloperOfBinary } from './version-repository.ts';

/** Whose a stored object is: a developerId, or '' for the service's own and for what no version names any more. */
export async function ownerOfObject(sql: Sql, key: string): Promise<string> {
  const binaryId = binaryIdOf(key);
  return (binaryId === undefined ? null : await findDeveloperOfBinary(sql, binaryId)) ?? '';
}
