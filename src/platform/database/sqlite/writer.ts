import Sqlite from 'better-sqlite3';

// Each pragma is read back, because a build of SQLite that ignores one would silently break a promise.
const WRITER_PRAGMAS: Record<string, string | number> = {
  journal_mode: 'wal',
  synchronous: 2, // FULL: a commit is on the disk when it returns
  foreign_keys: 1,
  secure_delete: 1, // deleted rows are overwritten, because parameters of transactions hold passwords
  wal_autocheckpoint: 8000, // pages; with few, a page that changes often is copied often
};

// Milliseconds; the default of better-sqlite3. No other process writes, so only the opening of a connection can meet a lock.
export const BUSY_TIMEOUT_MS = 5_000;

/** Opens a database file to write it, with the promises of the service. Throws when SQLite refuses one of them. */
export function openWriter(file: string): Sqlite.Database {
  const writer = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    for (const [name, value] of Object.entries(WRITER_PRAGMAS)) {
      writer.pragma(`${name} = ${value}`);
      const actual = writer.pragma(name, { simple: true });
      if (actual !== value) throw new Error(`SQLite refuses ${name} = ${value}: it says ${String(actual)}`);
    }
    return writer;
  } catch (cause) {
    writer.close();
    throw cause;
  }
}
