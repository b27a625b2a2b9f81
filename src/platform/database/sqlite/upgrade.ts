import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { diskOf } from '../../../runtime/data-folder.ts';
import { Refused } from '../../../runtime/refused.ts';
import type { Migration } from '../migration-files.ts';
import {
  isTooLarge,
  type Measured,
  NO_WAY_BACK,
  noRoom,
  type Plan,
  SAMPLE_ROWS,
  type Step,
  stepOf,
  stepText,
  type Told,
  tablesTouchedBy,
  tellPlan,
} from '../upgrade-plan.ts';
import { DATABASE_FILE } from './database-file.ts';
import { lockFolder } from './folder-lock.ts';
import { apply, missingMigrations } from './migrations.ts';
import { checkStart, damaged, isDamage } from './start-check.ts';
import { openWriter } from './writer.ts';

/** A database for the measurement, in the data folder because the disk is measured too. It holds rows, so it is removed. */
const SAMPLE_FILE = 'upgrade-sample.db';

const removeSample = (folder: string): void => {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(join(folder, `${SAMPLE_FILE}${end}`), { force: true });
};

const tablesOf = (connection: Sqlite.Database): Set<string> =>
  new Set(connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[]);

/** Copies up to `limit` rows of a table. Generated columns are made by the copy itself. */
function copyRows(from: Sqlite.Database, to: Sqlite.Database, table: string, limit: number): void {
  const columns = (from.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
  const insert = to.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const rows = from
    .prepare(`SELECT ${columns.join(', ')} FROM ${table} LIMIT ?`)
    .safeIntegers()
    .raw()
    .iterate(limit);
  to.transaction(() => {
    for (const row of rows) insert.run(...(row as unknown[]));
  })();
}

/** Applies the migrations to a database with the same tables and a few of the rows, and measures each. */
function measure(
  connection: Sqlite.Database,
  folder: string,
  missing: readonly Migration[],
  { tables, limit }: { tables: Set<string>; limit: number },
): Measured[] {
  removeSample(folder); // of a measurement that was killed
  const file = join(folder, SAMPLE_FILE);
  const sample = openWriter(file);
  try {
    sample.pragma('foreign_keys = OFF');
    const texts = connection
      .prepare(
        `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid`,
      )
      .pluck()
      .all() as string[];
    sample.transaction(() => texts.forEach((text) => void sample.exec(text)))();
    for (const table of tables) copyRows(connection, sample, table, limit);
    const pages = (): number =>
      (sample.pragma('page_count', { simple: true }) as number) *
      (sample.pragma('page_size', { simple: true }) as number);
    return missing.map((migration) => {
      sample.pragma('wal_checkpoint(TRUNCATE)');
      const [before, since] = [pages(), performance.now()];
      apply(sample, migration, 0);
      const seconds = (performance.now() - since) / 1000;
      return { seconds, grows: Math.max(0, pages() - before), log: statSync(`${file}-wal`).size };
    });
  } finally {
    sample.close();
    removeSample(folder);
  }
}

async function planOf(connection: Sqlite.Database, folder: string, missing: readonly Migration[]): Promise<Plan> {
  const existing = tablesOf(connection);
  const touched = missing.map(({ text }) => tablesTouchedBy(text, existing));
  const tables = new Set(touched.flat());
  const counts = new Map(
    [...tables].map((table) => [table, connection.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number]),
  );
  const empty = measure(connection, folder, missing, { tables, limit: 0 });
  const sample = measure(connection, folder, missing, { tables, limit: SAMPLE_ROWS });
  const steps = missing.map((migration, index): Step => {
    const own = (touched[index] ?? []).map((table) => ({ table, rows: counts.get(table) ?? 0 }));
    return stepOf(migration, own, { empty: empty[index] as Measured, sample: sample[index] as Measured });
  });
  const to = missing.at(-1)?.number ?? 0;
  return { from: to - missing.length, to, steps, free: (await diskOf(folder)).free };
}

/** The migrations that the database of a data folder lacks; undefined when there is none, or it has no tables yet. */
function missingIn(folder: string): Migration[] | undefined {
  const file = join(folder, DATABASE_FILE);
  if (!existsSync(file)) return undefined;
  const connection = new Sqlite(file, { readonly: true });
  try {
    return tablesOf(connection).has('migrations') ? missingMigrations(connection) : undefined;
  } catch (cause) {
    throw isDamage(cause) ? damaged((cause as Error).message, cause) : cause;
  } finally {
    connection.close();
  }
}

/**
 * The plan of the upgrade of a data folder, which a service of an older release may be using. Undefined when there is
 * nothing to migrate. Throws a Refused for a database of a newer release.
 */
export async function planFolder(folder: string): Promise<Plan | undefined> {
  const missing = missingIn(folder);
  if (missing === undefined || missing.length === 0) return undefined;
  const connection = new Sqlite(join(folder, DATABASE_FILE), { readonly: true });
  try {
    return await planOf(connection, folder, missing);
  } finally {
    connection.close();
  }
}

/**
 * Brings the database of a data folder to the newest schema, and tells the plan before and each step as it begins. Each
 * migration is one commit, so a process that was killed goes on with the migration that it was in. Returns the number of
 * migrations. Throws a Refused when the disk is too small or the database is of a newer release, and DATA_FOLDER_IN_USE.
 */
export async function upgradeFolder(folder: string, nowMicros: number, told: Told): Promise<number> {
  removeSample(folder); // of a measurement that was killed
  const missing = missingIn(folder);
  if (missing === undefined || missing.length === 0) return 0;
  const unlock = lockFolder(folder);
  let writer: Sqlite.Database | undefined;
  try {
    writer = openWriter(join(folder, DATABASE_FILE));
    checkStart(writer);
    const plan = await planOf(writer, folder, missing);
    told(`${NO_WAY_BACK} (lapel backup FOLDER copies this one)`);
    tellPlan(plan, told);
    if (isTooLarge(plan)) throw new Refused(noRoom(plan));
    for (const [index, migration] of missing.entries()) {
      told(`migrating, step ${index + 1} of ${missing.length}: ${stepText(plan.steps[index] as Step)}`);
      await setImmediate(); // a step blocks this thread, and the line must be written before
      apply(writer, migration, nowMicros);
    }
    told(`migrated to schema ${plan.to}`);
    return missing.length;
  } catch (cause) {
    throw isDamage(cause) ? damaged((cause as Error).message, cause) : cause;
  } finally {
    writer?.close();
    unlock();
  }
}
