import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type SqliteDatabase from 'better-sqlite3';

interface Migration {
  number: number;
  name: string;
  sha256: string;
  text: string;
}

const FOLDER = join(import.meta.dirname, 'migrations');

/** The migrations of a folder in order. Throws when a file is misnamed or a number is missing or double. */
export function readMigrations(folder: string = FOLDER): Migration[] {
  return readdirSync(folder)
    .sort()
    .map((name, index) => {
      const number = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]);
      if (number !== index + 1) throw new Error(`migration ${name} does not continue the numbering at ${index + 1}`);
      const text = readFileSync(join(folder, name), 'utf8');
      return { number, name, sha256: createHash('sha256').update(text).digest('hex'), text };
    });
}

/**
 * What a database still lacks. Throws when it was written by a newer service, or its history differs from the files (an
 * edited migration).
 */
export function missingMigrations(
  connection: SqliteDatabase.Database,
  migrations: readonly Migration[] = readMigrations(),
): Migration[] {
  const applied = connection
    .prepare('SELECT number, name, sha256 FROM migrations ORDER BY number')
    .all() as Migration[];
  for (const { number, name, sha256 } of applied) {
    const known = migrations[number - 1];
    if (!known)
      throw new Error(`the database was migrated by a newer Lapel (${name}); start that one, or restore a backup`);
    if (known.sha256 !== sha256) {
      throw new Error(
        `migration ${known.name} was edited after it was applied to this database; migrations are never edited`,
      );
    }
  }
  return migrations.slice(applied.length);
}

/** Brings the database to the newest version: each missing migration in one commit with its record. Refuses as above. */
export function migrate(connection: SqliteDatabase.Database, nowMicros: number, migrations = readMigrations()): void {
  connection.exec(`CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL
  )`);
  const missing = missingMigrations(connection, migrations);
  const record = connection.prepare('INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)');
  for (const migration of missing) {
    connection.transaction(() => {
      connection.exec(migration.text);
      record.run(migration.number, migration.name, migration.sha256, nowMicros);
    })();
  }
}
