import type { Sql } from '../../platform/database/sql.ts';
import { binaryIdOf } from './binary.ts';
import { findDeveloperOfBinary, findDistributionOfBinary } from './version-repository.ts';

/** Answers the questions of the object store about an object, which it knows by its key only. */
export const aboutObjects = (sql: Sql) => ({
  /** The owner: a developerId, or '' for the service's own objects, and for those that no version refers to. */
  async ownerOf(key: string): Promise<string> {
    const binaryId = binaryIdOf(key);
    return (binaryId === undefined ? null : await findDeveloperOfBinary(sql, binaryId)) ?? '';
  },

  /** The time since which the object's version is distributed (microseconds); null when it is not. */
  async distributedSince(key: string): Promise<number | null> {
    const binaryId = binaryIdOf(key);
    return binaryId === undefined ? null : findDistributionOfBinary(sql, binaryId);
  },
});
