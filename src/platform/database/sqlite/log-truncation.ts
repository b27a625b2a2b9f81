import { statSync } from 'node:fs';

// Milliseconds without a commit, and since the first commit, after which the log is emptied. They concern the disk, so
// they are measured in real time and not by the injected clock.
const QUIET_MS = 5_000;
const LONGEST_MS = 60_000;
/**
 * A log up to this size (bytes) is copied in a few milliseconds; a larger one waits until no commit has come for a while.
 */
const SMALL_BYTES = 8 * 1024 ** 2;

interface Parts {
  /** The path of the write-ahead log. */
  file: string;
  /** True while a commit is being made. */
  isRunning(): boolean;
  /** Empties the log, waiting for nobody; false while a reader uses it. */
  empty(): Promise<boolean>;
  onError(cause: unknown): void;
  quietMs?: number;
}

/**
 * Empties the write-ahead log soon after commits. The log holds former states of pages, and so also passwords that were
 * overwritten since. When no commit has come for some seconds, or when a minute has passed and the log is small, its
 * pages are copied into the database and the file is truncated; under steady load SQLite overwrites a log that was copied.
 */
export function createLogTruncation(parts: Parts) {
  const { file, isRunning, empty, onError, quietMs = QUIET_MS } = parts;
  let timer: NodeJS.Timeout | undefined;
  let firstAt = 0;
  let lastAt = 0;
  let isStopped = false;

  /** Tries to empty the log; the timer tries again while that is not possible. */
  async function tryToEmpty(): Promise<void> {
    timer = undefined;
    const now = performance.now();
    const isQuiet = now - lastAt >= quietMs;
    try {
      const mayWait = !isQuiet && (now - firstAt < LONGEST_MS || statSync(file).size > SMALL_BYTES);
      if (isRunning() || mayWait || !(await empty())) arm();
    } catch (cause) {
      onError(cause);
      arm();
    }
  }

  function arm(): void {
    if (isStopped) return;
    timer ??= setTimeout(() => void tryToEmpty(), quietMs).unref();
  }

  return {
    /** Call this after a commit, so that the log is emptied soon. */
    committed(): void {
      lastAt = performance.now();
      if (timer) return;
      firstAt = lastAt;
      arm();
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
