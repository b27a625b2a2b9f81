import type { Sql } from '../../platform/database/sql.ts';
import { binaryIdOf } from './binary.ts';
import { findDeveloperOfBinary, findDistributionOfBinary } from './version-repository.ts';

/** What the object store asks of the object under a key. */
export const aboutObjects = (sql: Sql) => ({
  /** Whose it is: a developerId, or '' for the service's own and for what no version names any more. */
  async ownerOf(key: string): Promise<string> {
    const binaryId = binaryIdOf(key);
    return (binaryId === undefined ? null : await findDeveloperOfBinary(sql, binaryId)) ?? '';
  },

  /** Since when its version is distributed (microseconds); null when it is not. */
  async distributedSince(key: string): Promise<number | null> {
    const binaryId = binaryIdOf(key);
    return binaryId === undefined ? null : findDistributionOfBinary(sql, binaryId);
  },
});
