import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { missingMigrations } from './migrations.ts';
import { checkStart } from './start-check.ts';

/** Faults that are named at most. */
const MOST = 20;

interface Examined {
  /** Undefined when there is no database yet. */
  bytes: number | undefined;
  /** Migrations that the next start makes. */
  missing: number;
  /** What is wrong, for people; empty when it is sound. */
  faults: string[];
}

/**
 * Looks at the database of a data folder and changes nothing, also while a service uses it: what the start looks at, and when
 * `whole` is true every page, with all entries of all indexes, in one go.
 */
export function examineDatabase(folder: string, { whole }: { whole: boolean }): Examined {
  const file = join(folder, 'lapel.db');
  if (!existsSync(file)) return { bytes: undefined, missing: 0, faults: [] };
  const bytes = statSync(file).size;
  let connection: Sqlite.Database | undefined;
  try {
    connection = new Sqlite(file, { readonly: true });
    checkStart(connection);
    const missing = missingMigrations(connection).length;
    const found = whole
      ? (connection.pragma(`integrity_check(${MOST})`) as { integrity_check: string }[]).map(
          (row) => row.integrity_check,
        )
      : [];
    return { bytes, missing, faults: found.filter((text) => text !== 'ok') };
  } catch (error) {
    return { bytes, missing: 0, faults: [(error as Error).message] };
  } finally {
    connection?.close();
  }
}
