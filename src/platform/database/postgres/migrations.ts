import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATIONS_TABLE, type Migration, missingFrom, readMigrations } from '../migration-files.ts';
import { NO_WAY_BACK, type Step, statementsOf, stepText, type Told, tellPlan } from '../upgrade-plan.ts';
import type { Connection } from './connection.ts';
import { unlessLost } from './trouble.ts';
import { planPostgres } from './upgrade.ts';

/** The advisory lock under which one node of several applies migrations. Any number that no other program uses will do. */
const LOCK = 0x1a9e1;
/**
 * Milliseconds between two attempts to get the lock. To wait in a statement would block CREATE INDEX CONCURRENTLY on another
 * node.
 */
const BETWEEN_TRIES_MS = 250;

/**
 * Milliseconds that a statement of a migration waits for its lock. Statements of callers queue behind it, and give up after
 * half a second; so it gives up first, and tries again.
 */
const LOCK_MS = 100;
/** SQLSTATE of a lock that was not got in time (lock_not_available). */
const NO_LOCK = '55P03';
/** It locks out nobody, and waits for the transactions of others by itself. */
const CONCURRENT = /^CREATE (UNIQUE )?INDEX CONCURRENTLY\b/i;

/** The first line of a migration of large tables: each statement is committed by itself, so that locks are held briefly. */
const APART = '-- Each statement is a commit of its own.';

/**
 * The migrations that were not applied yet. Throws when a newer service has migrated the database, or when the file of
 * an applied migration was changed.
 */
export async function missingMigrations(
  connection: Connection,
  migrations: readonly Migration[] = readMigrations('postgres'),
): Promise<Migration[]> {
  const { rows } = await connection.query('SELECT number, name, sha256 FROM migrations ORDER BY number');
  return missingFrom(rows as Migration[], migrations);
}

/**
 * Brings the database to the newest version: each missing migration in one commit with its record, or, for large tables, in
 * a commit per statement. One node at a time does it. Tells the plan
 * before, and each step as it begins. Returns the number of migrations. Throws as `missingFrom` does. Afterwards the tables are analyzed,
 * unless they are new: without statistics PostgreSQL assumes that an empty table has some rows, but when it knows that a
 * table is empty, it makes plans that read the whole table.
 */
export async function migrate(
  connection: Connection,
  nowMicros: number,
  migrations: readonly Migration[] = readMigrations('postgres'),
  told: Told = () => undefined,
): Promise<number> {
  await lock(connection, told);
  try {
    await connection.script(MIGRATIONS_TABLE);
    const missing = await missingMigrations(connection, migrations);
    const isUpgrade = missing.length > 0 && missing.length < migrations.length;
    const steps = isUpgrade ? await announce(connection, missing, told) : [];
    for (const [index, migration] of missing.entries()) {
      if (isUpgrade) told(`migrating, step ${index + 1} of ${missing.length}: ${stepText(steps[index] as Step)}`);
      if (migration.text.startsWith(APART)) await applyByStatement(connection, migration, nowMicros);
      else await withShortLocks(connection, () => applyInOneCommit(connection, migration, nowMicros));
    }
    if (isUpgrade) await connection.script('ANALYZE');
    if (isUpgrade) told(`migrated to schema ${migrations.length}`);
    return missing.length;
  } finally {
    await unlessLost(connection.query('SELECT pg_advisory_unlock(?)', LOCK));
  }
}

async function announce(connection: Connection, missing: readonly Migration[], told: Told): Promise<Step[]> {
  const plan = await planPostgres(connection, missing);
  told(`${NO_WAY_BACK} (with PostgreSQL's own tools: a base backup)`);
  tellPlan(plan, told);
  return plan.steps;
}

async function lock(connection: Connection, told: Told): Promise<void> {
  for (let waits = false; ; waits = true) {
    const { rows } = await connection.query('SELECT pg_try_advisory_lock(?) AS mine', LOCK);
    if ((rows[0] as { mine: boolean }).mine) return;
    if (!waits) told('another node migrates the database; this one waits for its end');
    await sleep(BETWEEN_TRIES_MS);
  }
}

const record = (connection: Connection, { number, name, sha256 }: Migration, nowMicros: number): Promise<unknown> =>
  connection.query(
    'INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)',
    number,
    name,
    sha256,
    nowMicros,
  );

/** Does work that needs locks on tables, as often as another transaction holds them for too long. */
async function withShortLocks(connection: Connection, work: () => Promise<unknown>): Promise<void> {
  const { rows } = await connection.query(`SELECT current_setting('lock_timeout') AS usual`);
  const { usual } = rows[0] as { usual: string };
  for (let isDone = false; !isDone; ) {
    await connection.script(`SET lock_timeout = ${LOCK_MS}`);
    try {
      await work();
      isDone = true;
    } catch (cause) {
      if ((cause as { code?: string }).code !== NO_LOCK) throw cause;
      await sleep(BETWEEN_TRIES_MS);
    } finally {
      await unlessLost(connection.script(`SET lock_timeout = '${usual}'`));
    }
  }
}

async function applyInOneCommit(connection: Connection, migration: Migration, nowMicros: number): Promise<void> {
  await connection.script('BEGIN');
  try {
    await connection.script(migration.text);
    await record(connection, migration, nowMicros);
    await connection.script('COMMIT');
  } catch (cause) {
    await unlessLost(connection.script('ROLLBACK'));
    throw cause;
  }
}

/**
 * Applies a migration statement by statement. Each says `IF NOT EXISTS`, so after a crash between two of them all can run
 * again. An index whose creation was interrupted exists but is invalid; it is dropped first.
 */
async function applyByStatement(connection: Connection, migration: Migration, nowMicros: number): Promise<void> {
  const { rows } = await connection.query(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace`,
  );
  for (const { name } of rows as { name: string }[])
    if (migration.text.includes(` ${name} `)) await connection.script(`DROP INDEX CONCURRENTLY "${name}"`);
  for (const statement of statementsOf(migration.text)) {
    const work = () => connection.script(statement);
    await (CONCURRENT.test(statement) ? work() : withShortLocks(connection, work));
  }
  await record(connection, migration, nowMicros);
}
