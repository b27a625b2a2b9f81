import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeFolder } from '../../../runtime/data-folder.ts';
import { Refused } from '../../../runtime/refused.ts';
import { DATABASE_FILE } from '../sqlite/database-file.ts';
import { lockFolder } from '../sqlite/folder-lock.ts';
import { writeLifeFile } from '../sqlite/life-file.ts';
import { migrate, missingMigrations } from '../sqlite/migrations.ts';
import { PAGE, type Side, type Table, type Value } from './side.ts';

const tablesOf = (database: Sqlite.Database): Table[] =>
  (
    database
      .prepare(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid`,
      )
      .pluck()
      .all() as string[]
  ).map((name) => ({
    name,
    // Generated columns are left out of this list.
    columns: (database.pragma(`table_info(${name})`) as { name: string }[]).map((column) => column.name),
  }));

function sideOf(database: Sqlite.Database, name: string, end: { commit(): void; close(): void }): Side {
  return {
    name,
    tables: async () => tablesOf(database),
    async *pages({ name: table, columns }) {
      let page: Value[][] = [];
      for (const row of database
        .prepare(`SELECT ${columns.join(', ')} FROM ${table}`)
        .raw()
        .iterate()) {
        page.push(row as Value[]);
        if (page.length < PAGE) continue;
        yield page;
        page = [];
      }
      if (page.length > 0) yield page;
    },
    async insert({ name: table, columns }, rows) {
      const insert = database.prepare(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      );
      for (const row of rows) insert.run(...row);
    },
    async sequences() {
      const rows = database.prepare('SELECT name, seq FROM sqlite_sequence').all() as { name: string; seq: number }[];
      return new Map(rows.map(({ name: table, seq }) => [table, seq]));
    },
    async setSequence(table, last) {
      database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table);
      database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, last);
    },
    commit: async () => end.commit(),
    close: async () => end.close(),
  };
}

/** Opens the database of a data folder to read all of it. No service may use the folder. */
export function sqliteSource(folder: string): Side {
  const file = join(folder, DATABASE_FILE);
  if (!existsSync(file)) throw new Refused(`${folder} has no database of the service (${DATABASE_FILE})`);
  const unlock = lockFolder(folder);
  const database = new Sqlite(file);
  const close = (): void => {
    database.close();
    unlock();
  };
  try {
    if (missingMigrations(database).length > 0)
      throw new Refused(`the database in ${folder} is of an older version: start and stop this version on it first`);
    database.exec('BEGIN');
  } catch (error) {
    close();
    throw error;
  }
  return sideOf(database, `SQLite in ${folder}`, { commit: () => database.exec('COMMIT'), close });
}

/** Makes a new database in a data folder. It gets its name with the commit. */
export function sqliteTarget(folder: string, nowMicros: number): Side {
  makeFolder(folder);
  const unlock = lockFolder(folder);
  const file = join(folder, DATABASE_FILE);
  const draft = `${file}.new`;
  if (existsSync(file)) {
    unlock();
    throw new Refused(`${folder} has a database already, and nothing is overwritten`);
  }
  rmSync(draft, { force: true }); // of a move that broke off
  const database = new Sqlite(draft);
  migrate(database, nowMicros);
  database.exec('BEGIN');
  return sideOf(database, `SQLite in ${folder}`, {
    commit() {
      database.exec('COMMIT');
      const lifeId = database.prepare('SELECT life_id FROM lives').pluck().get() as string | undefined;
      database.close();
      // No time was lost, so the start must not take it for a restored database.
      if (lifeId !== undefined) writeLifeFile(folder, lifeId);
      renameSync(draft, file);
    },
    close() {
      database.close();
      rmSync(draft, { force: true });
      unlock();
    },
  });
}
