import type { Database } from './sql.ts';
import { openSqlite, type SqliteOptions } from './sqlite/open-sqlite.ts';

interface DatabaseOptions extends SqliteOptions {
  /** Of PostgreSQL; null: SQLite in the folder. */
  url: string | null;
  /** Milliseconds that a start waits for it. */
  waitMs: number;
  /** The database of a server cannot be reached, told once; and that it is there again. */
  onAway(cause: unknown): void;
  onBack(): void;
}

/** Opens the database that the settings name. PostgreSQL's client is loaded only where it is. */
export async function openDatabase({ url, ...options }: DatabaseOptions): Promise<Database> {
  if (url === null) return openSqlite(options);
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return openPostgres({ ...options, url });
}
