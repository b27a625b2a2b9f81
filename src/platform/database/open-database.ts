import type { Database } from './sql.ts';
import { openSqlite, type SqliteOptions } from './sqlite/open-sqlite.ts';
import { upgradeFolder } from './sqlite/upgrade.ts';
import type { Told } from './upgrade-plan.ts';

interface DatabaseOptions extends SqliteOptions {
  /** The URL of a PostgreSQL database; null for SQLite in the folder. */
  url: string | null;
  /** Tells the URL for each connection, whose password may be another one by now. */
  currentUrl?(): string;
  /** Milliseconds that a start waits for a server that does not answer. */
  waitMs: number;
  /** Receives each line about the migration of a database of an older release. */
  onUpgrade: Told;
  /** `onAway` is called once when the database becomes unavailable, `onBack` when it is available again. */
  onAway(cause: unknown): void;
  onBack(): void;
  /** Called once when a setting of the server that the service does not follow was changed, with a sentence. */
  onDoubt(sentence: string): void;
}

/** Opens the database that the settings name. PostgreSQL's client is loaded only if it is needed. */
export async function openDatabase({ url, ...options }: DatabaseOptions): Promise<Database> {
  if (url === null) {
    await upgradeFolder(options.folder, options.nowMicros, options.onUpgrade);
    return openSqlite(options);
  }
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return openPostgres({ ...options, url });
}
