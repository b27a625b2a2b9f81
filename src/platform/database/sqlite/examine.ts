import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { judgeLife } from './life.ts';
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
  /** What else somebody should know. */
  notes: string[];
}

/** Every page, and all entries of all indexes. */
function readWhole(connection: Sqlite.Database): string[] {
  const faults = (what: string | number): string[] =>
    (connection.pragma(`integrity_check(${what})`) as { integrity_check: string }[])
      .map((row) => row.integrity_check)
      .filter((text) => text !== 'ok');
  try {
    return faults(MOST);
  } catch (error) {
    // A page that is none ends the check without a word of where it is: that is asked table by table.
    const tables = connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[];
    const named = tables.flatMap((name) => {
      try {
        return faults(`"${name}"`);
      } catch (cause) {
        return [`table ${name}: ${(cause as Error).message}`];
      }
    });
    return named.length > 0 ? named.slice(0, MOST) : [(error as Error).message];
  }
}

const NOTES = {
  start: undefined,
  copied_folder: 'this data folder is a copy: devices and receivers that know the original must not meet both',
  other_file: 'the file is not the one that was last used in this folder: it was restored or exchanged',
};

function notesOn(connection: Sqlite.Database, folder: string): string[] {
  if (!connection.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'lives'`).get()) return []; // not migrated yet
  const note = NOTES[judgeLife(connection, folder)];
  return note === undefined ? [] : [`${note}; the next start goes on with higher numbers`];
}

/**
 * Looks at the database of a data folder and changes nothing, also while a service uses it: what the start looks at, and when
 * `whole` is true every page, with all entries of all indexes, in one go.
 */
export function examineDatabase(folder: string, { whole }: { whole: boolean }): Examined {
  const file = join(folder, 'lapel.db');
  if (!existsSync(file)) return { bytes: undefined, missing: 0, faults: [], notes: [] };
  const bytes = statSync(file).size;
  let connection: Sqlite.Database | undefined;
  try {
    connection = new Sqlite(file, { readonly: true });
    checkStart(connection);
    const missing = missingMigrations(connection).length;
    const notes = notesOn(connection, folder);
    return { bytes, missing, faults: whole ? readWhole(connection) : [], notes };
  } catch (error) {
    return { bytes, missing: 0, faults: [(error as Error).message], notes: [] };
  } finally {
    connection?.close();
  }
}
