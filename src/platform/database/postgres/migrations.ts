import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATIONS_TABLE, type Migration, missingFrom, readMigrations } from '../migration-files.ts';
import type { Connection } from './connection.ts';
import { ConnectionLost } from './trouble.ts';

/** The advisory lock under which one node of several applies migrations. Any number that no other program uses will do. */
const LOCK = 0x1a9e1;
/**
 * Milliseconds between two attempts to get the lock. To wait in a statement would block CREATE INDEX CONCURRENTLY on another
 * node.
 */
const BETWEEN_TRIES_MS = 250;

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
 * a commit per statement. One node at a time does it. Throws as `missingFrom` does. Afterwards the tables are analyzed,
 * unless they are new: without statistics PostgreSQL assumes that an empty table has some rows, but when it knows that a
 * table is empty, it makes plans that read the whole table.
 */
export async function migrate(
  connection: Connection,
  nowMicros: number,
  migrations = readMigrations('postgres'),
): Promise<void> {
  await lock(connection);
  try {
    await connection.script(MIGRATIONS_TABLE);
    const missing = await missingMigrations(connection, migrations);
    for (const migration of missing)
      if (migration.text.startsWith(APART)) await applyByStatement(connection, migration, nowMicros);
      else await applyInOneCommit(connection, migration, nowMicros);
    if (missing.length > 0 && missing.length < migrations.length) await connection.script('ANALYZE');
  } finally {
    await unlessLost(connection.query('SELECT pg_advisory_unlock(?)', LOCK));
  }
}

/** A lost connection has neither a lock nor a transaction any more. Its first error tells more than that it is lost. */
const unlessLost = (ended: Promise<unknown>): Promise<unknown> =>
  ended.catch((cause: unknown) => {
    if (!(cause instanceof ConnectionLost)) throw cause;
  });

async function lock(connection: Connection): Promise<void> {
  for (;;) {
    const { rows } = await connection.query('SELECT pg_try_advisory_lock(?) AS mine', LOCK);
    if ((rows[0] as { mine: boolean }).mine) return;
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
  const statements = migration.text.replace(/--.*$/gm, '').split(';');
  for (const statement of statements) if (statement.trim() !== '') await connection.script(statement);
  await record(connection, migration, nowMicros);
}
