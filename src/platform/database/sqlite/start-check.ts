import type SqliteDatabase from 'better-sqlite3';

/** What SQLite says of a file that is no sound database. */
export const isDamage = (cause: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB)/.test((cause as { code?: string } | undefined)?.code ?? '');

export const damaged = (what: string, cause?: unknown): Error =>
  new Error(`the database is damaged (${what}); restore a backup`, { cause });

/**
 * What can be seen of a database without reading all of it, however large it is: its head and schema, whether its end is
 * missing (all of them SQLite looks at by itself), and the first pages of each table. Throws when it must not be used.
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
