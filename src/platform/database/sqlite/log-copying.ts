import type SqliteDatabase from 'better-sqlite3';

/** Pages of the log after which it is copied; with few, a page that changes often is copied often. */
const PAGES = 8_000;
/** The log is looked at after so many commits: a look takes 4 microseconds. */
const LOOKED_AT = 8;

/**
 * Lets the write-ahead log be copied into the database when it is long, so that SQLite writes it from its beginning again.
 * SQLite itself would do so in a commit (`wal_autocheckpoint`), and stop the event loop meanwhile.
 */
export function createLogCopying(connection: SqliteDatabase.Database, copy: () => void) {
  const look = connection.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)');
  let commits = 0;
  return {
    /** Call this after a commit. */
    committed(): void {
      commits += 1;
      if (commits % LOOKED_AT === 0 && (look.get()?.log ?? 0) >= PAGES) copy();
    },
  };
}
