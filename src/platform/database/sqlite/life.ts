import type SqliteDatabase from 'better-sqlite3';
import { type NewLife, type Raised, raisedFrom } from '../number-floor.ts';
import { judgeFolder, writeLifeFile } from './life-file.ts';

interface Beginning extends NewLife {
  connection: SqliteDatabase.Database;
  folder: string;
}

/** The life that the database was last in: '' for one of before there were lives, undefined when it never began one. */
const formerLife = (connection: SqliteDatabase.Database): string | undefined =>
  connection.prepare('SELECT life_id FROM lives').pluck().get() as string | undefined;

/** Every number that SQLite gives out: of each table that counts its rows. */
function raiseSequences(connection: SqliteDatabase.Database, nowMicros: number): number {
  const rows = connection
    .prepare(
      `SELECT t.name, COALESCE(s.seq, 0) AS last FROM sqlite_schema t LEFT JOIN sqlite_sequence s ON s.name = t.name
       WHERE t.type = 'table' AND t.sql LIKE '%AUTOINCREMENT%'`,
    )
    .all() as { name: string; last: number }[];
  const remove = connection.prepare('DELETE FROM sqlite_sequence WHERE name = ?');
  const insert = connection.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  let to = 0;
  for (const { name, last } of rows) {
    const raised = raisedFrom(last, nowMicros);
    remove.run(name);
    insert.run(name, raised);
    if (name === 'transactions') to = raised;
  }
  return to;
}

/**
 * A start: the numbers go on above all that were ever given out of this database, or of one that it is a copy or an earlier
 * moment of. Answers what was raised; undefined for a new database, out of which nothing was given.
 */
export function beginLife({ connection, folder, lifeId, nowMicros }: Beginning): Raised | undefined {
  const former = formerLife(connection);
  const reason = former === undefined || former === '' ? 'start' : judgeFolder(folder, former);
  const to = connection.transaction(() => {
    connection
      .prepare(
        `INSERT INTO lives (one, life_id, place, begun_at) VALUES (1, ?, '', ?)
         ON CONFLICT (one) DO UPDATE SET life_id = excluded.life_id, begun_at = excluded.begun_at`,
      )
      .run(lifeId, nowMicros);
    return former === undefined ? 0 : raiseSequences(connection, nowMicros);
  })();
  writeLifeFile(folder, lifeId);
  return former === undefined ? undefined : { reason, lifeId, to };
}

/** What the next start would find. Changes nothing. */
export function judgeLife(connection: SqliteDatabase.Database, folder: string): ReturnType<typeof judgeFolder> {
  const former = formerLife(connection);
  return former ? judgeFolder(folder, former) : 'start';
}
