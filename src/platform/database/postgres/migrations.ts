import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATIONS_TABLE, type Migration, missingFrom, readMigrations } from '../migration-files.ts';
import type { Connection } from './connection.ts';

const FOLDER = join(import.meta.dirname, 'migrations');

/** Of the advisory lock around migrations: one node of several makes them. Any number that no other program has. */
const LOCK = 0x1a9e1;
/** Milliseconds between two tries to get it. Who waits for it in a statement would hold up an index that is made beside others. */
const BETWEEN = 250;

/** The first line of a migration for large tables: each statement by itself, so that nobody else waits for all of them. */
const APART = '-- Each statement is a commit of its own.';

/** What a database still lacks. Throws as `missingFrom` does. */
export async function missingMigrations(
  connection: Connection,
  migrations: readonly Migration[] = readMigrations(FOLDER),
): Promise<Migration[]> {
  const { rows } = await connection.query('SELECT number, name, sha256 FROM migrations ORDER BY number');
  return missingFrom(rows as Migration[], migrations);
}

/**
 * Brings the database to the newest version: each missing migration in one commit with its record, or, on large tables, in
 * commits of its statements; by one node at a time.
 * Refuses as above. Afterwards the tables are analyzed, unless they are new: of an empty table that it knows nothing of
 * PostgreSQL thinks as of a small one, of one that it knows to be empty it makes plans that read it from end to end.
 */
export async function migrate(
  connection: Connection,
  nowMicros: number,
  migrations = readMigrations(FOLDER),
): Promise<void> {
  await lock(connection);
  try {
    await connection.script(MIGRATIONS_TABLE);
    const missing = await missingMigrations(connection, migrations);
    for (const migration of missing)
      if (migration.text.startsWith(APART)) await makeApart(connection, migration, nowMicros);
      else await makeInOne(connection, migration, nowMicros);
    if (missing.length > 0 && missing.length < migrations.length) await connection.script('ANALYZE');
  } finally {
    await connection.query('SELECT pg_advisory_unlock(?)', LOCK);
  }
}

async function lock(connection: Connection): Promise<void> {
  for (;;) {
    const { rows } = await connection.query('SELECT pg_try_advisory_lock(?) AS mine', LOCK);
    if ((rows[0] as { mine: boolean }).mine) return;
    await sleep(BETWEEN);
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

async function makeInOne(connection: Connection, migration: Migration, nowMicros: number): Promise<void> {
  await connection.script('BEGIN');
  try {
    await connection.script(migration.text);
    await record(connection, migration, nowMicros);
    await connection.script('COMMIT');
  } catch (cause) {
    await connection.script('ROLLBACK');
    throw cause;
  }
}

/**
 * Statements that say `IF NOT EXISTS`: after a crash between two of them all are made again. An index that was not made to
 * its end is there and not valid; it goes first.
 */
async function makeApart(connection: Connection, migration: Migration, nowMicros: number): Promise<void> {
  const { rows } = await connection.query(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace`,
  );
  for (const { name } of rows as { name: string }[])
    if (migration.text.includes(` ${name} `)) await connection.script(`DROP INDEX CONCURRENTLY "${name}"`);
  const statements = migration.text.replace(/--.*$/gm, '').split(';');
  for (const statement of statements) if (statement.trim() !== '') await connection.script(statement);
  await record(connection, migration, nowMicros);
}
