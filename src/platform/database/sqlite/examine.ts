import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Refused } from '../../../runtime/refused.ts';
import { type DatabaseState, FAILING, type FailingReceiver, LATEST } from '../database-state.ts';
import { DATABASE_FILE } from './database-file.ts';
import { judgeLife } from './life.ts';
import { missingMigrations } from './migrations.ts';
import { checkStart } from './start-check.ts';

/** The most faults that are listed. */
const MOST_FAULTS = 20;

interface Examined {
  /** The size of the database; undefined when there is none yet. */
  bytes: number | undefined;
  /** The number of migrations that the next start will apply. */
  missing: number;
  /** The faults of the database, in words for people; empty when it is sound. */
  faults: string[];
  /** Further notes for the operator. */
  notes: string[];
  /** The state of time and of receivers in the database; undefined when there is none yet. */
  state?: DatabaseState;
}

/** Reads every page, and all entries of all indexes; returns the faults. */
function readWhole(connection: Sqlite.Database): string[] {
  const faults = (what: string | number): string[] =>
    (connection.pragma(`integrity_check(${what})`) as { integrity_check: string }[])
      .map((row) => row.integrity_check)
      .filter((text) => text !== 'ok');
  try {
    return faults(MOST_FAULTS);
  } catch (error) {
    // An unreadable page ends the check without saying where it is, so each table is then checked by itself.
    const tables = connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[];
    const named = tables.flatMap((name) => {
      try {
        return faults(`"${name}"`);
      } catch (cause) {
        return [`table ${name}: ${(cause as Error).message}`];
      }
    });
    return named.length > 0 ? named.slice(0, MOST_FAULTS) : [(error as Error).message];
  }
}

const NOTES = {
  start: undefined,
  copied_folder:
    'this data folder is a copy: devices must not connect to both the copy and the original, nor receivers get webhooks of both',
  other_file: 'the database file is not the one that was last used in this folder: it was restored or exchanged',
};

function notesOn(connection: Sqlite.Database, folder: string): string[] {
  if (!connection.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'lives'`).get()) return []; // not migrated yet
  const note = NOTES[judgeLife(connection, folder)];
  return note === undefined ? [] : [`${note}; the next start goes on with higher numbers`];
}

const stateOf = (connection: Sqlite.Database): DatabaseState => ({
  latestAt: (connection.prepare(LATEST).pluck().get() as number | undefined) ?? null,
  failing: connection.prepare(FAILING).all() as FailingReceiver[],
});

/**
 * Examines the database of a data folder, without changing anything; a service may be using it meanwhile. It makes the
 * checks of a start, and when `whole` is true it also reads every page, with all entries of all indexes, at once. Throws a
 * Refused when the database is of a newer release.
 */
export function examineDatabase(folder: string, { whole }: { whole: boolean }): Examined {
  const file = join(folder, DATABASE_FILE);
  if (!existsSync(file)) return { bytes: undefined, missing: 0, faults: [], notes: [] };
  const bytes = statSync(file).size;
  let connection: Sqlite.Database | undefined;
  try {
    connection = new Sqlite(file, { readonly: true });
    checkStart(connection);
    const missing = missingMigrations(connection).length;
    const notes = notesOn(connection, folder);
    const state = missing === 0 ? stateOf(connection) : undefined;
    return { bytes, missing, faults: whole ? readWhole(connection) : [], notes, ...(state && { state }) };
  } catch (error) {
    if (error instanceof Refused) throw error; // it is of another release, and not damaged
    return { bytes, missing: 0, faults: [(error as Error).message], notes: [] };
  } finally {
    connection?.close();
  }
}
