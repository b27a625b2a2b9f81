import type SqliteDatabase from 'better-sqlite3';
import { type NewLife, type Raised, raisedFrom } from '../number-floor.ts';
import { judgeFolder, writeLifeFile } from './life-file.ts';

interface Beginning extends NewLife {
  connection: SqliteDatabase.Database;
  folder: string;
}

/**
 * The lifeId that is stored in the database: '' when an older service used it, which stored none; undefined when the
 * database is new.
 */
const formerLife = (connection: SqliteDatabase.Database): string | undefined =>
  connection.prepare('SELECT life_id FROM lives').pluck().get() as string | undefined;

/** Raises every sequence of the database (all AUTOINCREMENT tables). Returns the new value of the transactions' sequence. */
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
 * Called at the start of the service. The database may be a copy or a backup, which does not know the numbers that the
 * original gave out later. So this raises all sequences above any number that either of them has given out. Returns the raise; undefined for a new database, which has given out no numbers.
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

/** Returns the reason with which the next start would raise the numbers. Changes nothing. */
export function judgeLife(connection: SqliteDatabase.Database, folder: string): ReturnType<typeof judgeFolder> {
  const former = formerLife(connection);
  return former ? judgeFolder(folder, former) : 'start';
}
