import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { placeOf } from '../../runtime/database-hosts.ts';
import { Refused } from '../../runtime/refused.ts';
import type { UnitOfWork } from './sql.ts';
import { DATABASE_FILE } from './sqlite/database-file.ts';
import { missingMigrations } from './sqlite/migrations.ts';
import { createStatements } from './sqlite/statements.ts';
import { openWriter } from './sqlite/writer.ts';

type Work<Result> = (unit: UnitOfWork) => Promise<Result>;

const older = (place: string): Refused =>
  new Refused(`the database ${place} is of an older release: start the service of this release first`);

async function besideSqlite<Result>(folder: string, work: Work<Result>): Promise<Result> {
  const file = join(folder, DATABASE_FILE);
  if (!existsSync(file)) throw new Refused(`there is no database in ${folder}`);
  const writer = openWriter(file);
  try {
    if (missingMigrations(writer).length > 0) throw older(file);
    const effects: (() => void)[] = [];
    const unit: UnitOfWork = {
      ...createStatements(writer),
      forUpdate: '',
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

async function besidePostgres<Result>(url: string, nowMicros: number, work: Work<Result>): Promise<Result> {
  const { planServer } = await import('./postgres/upgrade-server.ts');
  if (await planServer(url)) throw older(placeOf(url));
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  const database = await openPostgres({ url, nowMicros });
  try {
    return await database.transact(work);
  } finally {
    await database.close();
  }
}

/**
 * Runs one short unit of work on the database of a service, whether the service runs or not. Throws a Refused when there
 * is no database, or when it is of another release.
 */
export const besideService = <Result>(
  { url, folder, nowMicros }: { url: string | null; folder: string; nowMicros: number },
  work: Work<Result>,
): Promise<Result> => (url === null ? besideSqlite(folder, work) : besidePostgres(url, nowMicros, work));
