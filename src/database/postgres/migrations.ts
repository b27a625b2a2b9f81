import { join } from 'node:path';
import { MIGRATIONS_TABLE, type Migration, missingFrom, readMigrations } from '../migration-files.ts';
import type { Connection } from './connection.ts';

const FOLDER = join(import.meta.dirname, 'migrations');

/** Of the advisory lock around migrations: one node of several makes them. Any number that no other program has. */
const LOCK = 0x1a9e1;

/** What a database still lacks. Throws as `missingFrom` does. */
export async function missingMigrations(
  connection: Connection,
  migrations: readonly Migration[] = readMigrations(FOLDER),
): Promise<Migration[]> {
  const { rows } = await connection.query('SELECT number, name, sha256 FROM migrations ORDER BY number');
  return missingFrom(rows as Migration[], migrations);
}

/**
 * Brings the database to the newest version: each missing migration in one commit with its record, by one node at a time.
 * Refuses as above. Afterwards the tables are analyzed, unless they are new: of an empty table that it knows nothing of
 * PostgreSQL thinks as of a small one, of one that it knows to be empty it makes plans that read it from end to end.
 */
export async function migrate(
  connection: Connection,
  nowMicros: number,
  migrations = readMigrations(FOLDER),
): Promise<void> {
  await connection.query('SELECT pg_advisory_lock(?)', LOCK);
  try {
    await connection.script(MIGRATIONS_TABLE);
    const missing = await missingMigrations(connection, migrations);
    for (const { number, name, sha256, text } of missing) {
      await connection.script('BEGIN');
      try {
        await connection.script(text);
        const record = 'INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)';
        await connection.query(record, number, name, sha256, nowMicros);
        await connection.script('COMMIT');
      } catch (cause) {
        await connection.script('ROLLBACK');
        throw cause;
      }
    }
    if (missing.length > 0 && missing.length < migrations.length) await connection.script('ANALYZE');
  } finally {
    await connection.query('SELECT pg_advisory_unlock(?)', LOCK);
  }
}
