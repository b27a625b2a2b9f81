import { statSync } from 'node:fs';
import type SqliteDatabase from 'better-sqlite3';

// Milliseconds. It is about the disk, not the domain, so it is no business of the injected clock.
const QUIET = 5_000;
const LONGEST = 60_000;
/** Bytes of a log that is copied home in a few milliseconds; a longer one waits until nobody commits. */
const SMALL = 8 * 1024 ** 2;

interface Parts {
  connection: SqliteDatabase.Database;
  /** The write-ahead log. */
  file: string;
  /** True while a transaction is open on the connection. */
  isRunning(): boolean;
  onError(cause: unknown): void;
  quietMs?: number;
}

/**
 * Empties the write-ahead log soon after what was written to it: it holds every page as it was, also passwords that were
 * overwritten since. When nothing has been committed for some seconds, or the log is small after a minute, it is copied
 * home and cut to nothing; under steady load SQLite writes over it by itself.
 */
export function createLogTruncation({ connection, file, isRunning, onError, quietMs = QUIET }: Parts) {
  let timer: NodeJS.Timeout | undefined;
  let firstAt = 0;
  let lastAt = 0;

  function look(): void {
    timer = undefined;
    const now = performance.now();
    const isQuiet = now - lastAt >= quietMs;
    try {
      const mayWait = !isQuiet && (now - firstAt < LONGEST || statSync(file).size > SMALL);
      if (isRunning() || mayWait) arm();
      else connection.pragma('wal_checkpoint(TRUNCATE)');
    } catch (cause) {
      onError(cause);
      arm();
    }
  }

  function arm(): void {
    timer ??= setTimeout(look, quietMs).unref();
  }

  return {
    /** Something was committed. */
    committed(): void {
      lastAt = performance.now();
      if (timer) return;
      firstAt = lastAt;
      arm();
    },
    stop(): void {
      clearTimeout(timer);
    },
  };
}
