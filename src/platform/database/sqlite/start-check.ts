import type SqliteDatabase from 'better-sqlite3';
import { Unusable } from '../../../runtime/refused.ts';

/** Whether SQLite's error says that the file is damaged, or not a database. */
export const isDamage = (cause: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB)/.test((cause as { code?: string } | undefined)?.code ?? '');

export const damaged = (what: string, cause?: unknown): Error =>
  new Unusable(`the database is damaged (${what}); restore a backup`, { cause });

/**
 * Checks as much of a database as is possible without reading all of it: header, schema and a missing end (which SQLite
 * checks by itself), and the first pages of each table. Throws when the database must not be used.
 */
export function checkStart(connection: SqliteDatabase.Database): void {
  const tables = connection
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all() as { name: string }[];
  for (const { name } of tables) {
    try {
      connection.prepare(`SELECT 1 FROM "${name}" NOT INDEXED LIMIT 1`).get();
    } catch (cause) {
      const { message, code } = cause as Error & { code?: string };
      throw Object.assign(new Error(`table ${name}: ${message}`, { cause }), { code });
    }
  }
}
