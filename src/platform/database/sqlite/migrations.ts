import type SqliteDatabase from 'better-sqlite3';
import { MIGRATIONS_TABLE, type Migration, missingFrom, readMigrations } from '../migration-files.ts';

/**
 * The migrations that were not applied yet. Throws when a newer service has migrated the database, or when the file of
 * an applied migration was changed.
 */
export function missingMigrations(
  connection: SqliteDatabase.Database,
  migrations: readonly Migration[] = readMigrations('sqlite'),
): Migration[] {
  const applied = connection
    .prepare('SELECT number, name, sha256 FROM migrations ORDER BY number')
    .all() as Migration[];
  return missingFrom(applied, migrations);
}

/**
 * Brings the database to the newest version: each missing migration in one commit with its record. Throws as
 * `missingMigrations` does.
 */
export function migrate(
  connection: SqliteDatabase.Database,
  nowMicros: number,
  migrations = readMigrations('sqlite'),
): void {
  connection.exec(MIGRATIONS_TABLE);
  for (const migration of missingMigrations(connection, migrations)) apply(connection, migration, nowMicros);
}

/** Applies one migration in one commit with its record. */
export function apply(connection: SqliteDatabase.Database, migration: Migration, nowMicros: number): void {
  const record = connection.prepare('INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)');
  connection.transaction(() => {
    connection.exec(migration.text);
    record.run(migration.number, migration.name, migration.sha256, nowMicros);
  })();
}
