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
  /** Milliseconds that the connection waits where another one is in its way. */
  patienceMs: number;
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
export function createLogTruncation(parts: Parts) {
  const { connection, file, patienceMs, isRunning, onError, quietMs = QUIET } = parts;
  let timer: NodeJS.Timeout | undefined;
  let firstAt = 0;
  let lastAt = 0;

  /** False while somebody reads what is in the log: that is waited for here, not with the whole process. */
  function empty(): boolean {
    connection.pragma('busy_timeout = 0');
    try {
      return connection.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
    } finally {
      connection.pragma(`busy_timeout = ${patienceMs}`);
    }
  }

  function look(): void {
    timer = undefined;
    const now = performance.now();
    const isQuiet = now - lastAt >= quietMs;
    try {
      const mayWait = !isQuiet && (now - firstAt < LONGEST || statSync(file).size > SMALL);
      if (isRunning() || mayWait || !empty()) arm();
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
