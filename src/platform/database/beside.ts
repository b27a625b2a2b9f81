import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { placeOf } from '../../runtime/database-hosts.ts';
import { Refused } from '../../runtime/refused.ts';
import { createVault } from '../encryption/vault.ts';
import type { Database, Sql, UnitOfWork } from './sql.ts';
import { DATABASE_FILE } from './sqlite/database-file.ts';
import { missingMigrations } from './sqlite/migrations.ts';
import { createStatements } from './sqlite/statements.ts';
import { openWriter } from './sqlite/writer.ts';

type Work<Result> = (unit: UnitOfWork) => Promise<Result>;
type Read<Result> = (sql: Sql) => Promise<Result>;

/** The database of a service: the URL of a PostgreSQL database, or null for SQLite in the folder. */
interface Place {
  url: string | null;
  folder: string;
  nowMicros: number;
}

const older = (place: string): Refused =>
  new Refused(`the database ${place} is of an older release: start the service of this release first`);

function fileIn(folder: string): string {
  const file = join(folder, DATABASE_FILE);
  if (!existsSync(file)) throw new Refused(`there is no database in ${folder}`);
  return file;
}

async function besideSqlite<Result>(folder: string, work: Work<Result>): Promise<Result> {
  const file = fileIn(folder);
  const writer = openWriter(file);
  try {
    if (missingMigrations(writer).length > 0) throw older(file);
    const effects: (() => void)[] = [];
    const unit: UnitOfWork = {
      ...createStatements(writer),
      vault: createVault(),
      forUpdate: '',
      forRemoval: '',
      whileThere: '',
      skipLocked: '',
      onCommit: (effect) => effects.push(effect),
      onRollback: () => undefined,
    };
    // The service waits for the lock as long as this commit takes, some milliseconds.
    writer.exec('BEGIN IMMEDIATE');
    const result = await work(unit);
    writer.exec('COMMIT');
    for (const effect of effects) effect();
    return result;
  } finally {
    writer.close(); // rolls back what was not committed
  }
}

async function readSqlite<Result>(folder: string, read: Read<Result>): Promise<Result> {
  const file = fileIn(folder);
  const reader = new Sqlite(file, { readonly: true });
  try {
    if (missingMigrations(reader).length > 0) throw older(file);
    return await read({ ...createStatements(reader, { readOnly: true }), vault: createVault() });
  } finally {
    reader.close();
  }
}

async function withPostgres<Result>(
  url: string,
  nowMicros: number,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { planServer } = await import('./postgres/upgrade-server.ts');
  if (await planServer(url)) throw older(placeOf(url));
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  const database = await openPostgres({ url, nowMicros });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/**
 * Runs one short unit of work on the database of a service, whether the service runs or not. Throws a Refused when there
 * is no database, or when it is of another release.
 */
export const besideService = <Result>({ url, folder, nowMicros }: Place, work: Work<Result>): Promise<Result> =>
  url === null ? besideSqlite(folder, work) : withPostgres(url, nowMicros, (database) => database.transact(work));

/** Reads the database of a service in the same way. It may change between two reads. */
export const readBeside = <Result>({ url, folder, nowMicros }: Place, read: Read<Result>): Promise<Result> =>
  url === null ? readSqlite(folder, read) : withPostgres(url, nowMicros, (database) => read(database.aside));
