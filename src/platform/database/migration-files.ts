import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Refused } from '../../runtime/refused.ts';
import { type DatabaseKind, translateMigration } from './translate-migration.ts';

export interface Migration {
  number: number;
  name: string;
  sha256: string;
  text: string;
}

/** The table in which a database records each migration that was applied to it. */
export const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL
  )`;

const inFolder = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => join(folder, name));

/**
 * Reads the migrations of a database in order: those of its own folder, then those that both databases share. The hash is
 * that of the file, which is the same on both. Throws when a file is misnamed, or when a number is missing or repeated.
 */
export function readMigrations(kind: DatabaseKind, root: string = import.meta.dirname): readonly Migration[] {
  if (root !== import.meta.dirname) return readIn(root, kind);
  const known = ofRelease.get(kind) ?? readIn(root, kind);
  ofRelease.set(kind, known);
  return known;
}

/** The migrations of this release: a start reads them several times, and the files stay the same. */
const ofRelease = new Map<DatabaseKind, readonly Migration[]>();

function readIn(root: string, kind: DatabaseKind): Migration[] {
  const own = join(root, kind, 'migrations');
  return [...inFolder(own), ...inFolder(join(root, 'migrations'))].map((file, index) => {
    const name = basename(file);
    const number = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]);
    if (number !== index + 1) throw new Error(`migration ${name} does not continue the numbering at ${index + 1}`);
    const written = readFileSync(file, 'utf8');
    const text = dirname(file) === own ? written : translateMigration(written, kind);
    return { number, name, sha256: createHash('sha256').update(written).digest('hex'), text };
  });
}

/**
 * Returns the migrations that were not applied yet. Throws a Refused when the database was migrated by a newer
 * service, or when an applied migration differs from its file (it was edited).
 */
export function missingFrom(
  applied: readonly Pick<Migration, 'number' | 'name' | 'sha256'>[],
  migrations: readonly Migration[],
): Migration[] {
  for (const { number, name, sha256 } of applied) {
    const known = migrations[number - 1];
    if (!known)
      throw new Refused(
        `the database was migrated by a newer Lapel (${name}); start that release, or restore a copy from before`,
      );
    if (known.sha256 !== sha256) {
      throw new Refused(
        `migration ${known.name} was edited after it was applied to this database; migrations are never edited`,
      );
    }
  }
  return migrations.slice(applied.length);
}
