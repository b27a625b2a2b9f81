import type { Metrics } from '../../../metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Sql } from '../sql.ts';
import { checkPieces, DamageError } from './check-pieces.ts';

// Milliseconds before the check begins, so that devices that were connected before the start can connect again.
const DELAY_MS = 5_000;
// After each piece comes a pause of three times its duration, so that the check takes a quarter of a slow disk and leaves
// the rest to other reads. The pause concerns the disk, so it is real time and not that of the injected clock.
const PAUSE_FACTOR = 3;
const SHORTEST_PAUSE_MS = 5;

interface Parts {
  /** A reader on a thread of its own. */
  sql: Sql;
  clock: Pick<Clock, 'after'>;
  log: Log;
  metrics: Pick<Metrics, 'databaseCheck'>;
  sizes?: Parameters<typeof checkPieces>[1];
}

/**
 * Reads the whole database once after the start, so that a damaged page is found before a caller meets it. It reads
 * slowly enough not to delay other work. Opening has already checked the file's header and schema.
 */
export function createDatabaseCheck({ sql, clock, log, metrics, sizes }: Parts) {
  const stopping = new AbortController();
  let damage: string | undefined;
  let running: Promise<void> | undefined;

  function say(state: 'checking' | 'sound' | 'damaged' | 'unknown'): void {
    for (const each of ['checking', 'sound', 'damaged', 'unknown'])
      metrics.databaseCheck.set({ state: each }, each === state ? 1 : 0);
  }

  function pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds).unref();
    const giveUp = (): void => {
      clearTimeout(timer);
      resolve();
    };
    stopping.signal.addEventListener('abort', giveUp, { once: true });
    return promise.finally(() => stopping.signal.removeEventListener('abort', giveUp));
  }

  async function check(): Promise<void> {
    const { signal } = stopping;
    const started = performance.now();
    let pieces = 0;
    let before = started;
    try {
      for await (const _ of checkPieces(sql, sizes)) {
        pieces += 1;
        if (signal.aborted) return;
        await pause(Math.max(SHORTEST_PAUSE_MS, (performance.now() - before) * PAUSE_FACTOR));
        if (signal.aborted) return;
        before = performance.now();
      }
      say('sound');
      log.info({ seconds: Math.round((before - started) / 1000), pieces }, 'the database was read whole: it is sound');
    } catch (err) {
      if (signal.aborted) return;
      if (!(err instanceof DamageError)) {
        say('unknown');
        log.error({ err }, 'the database could not be checked');
        return;
      }
      damage = err.message;
      say('damaged');
      log.fatal({ err }, 'the database is damaged; restore a backup');
    }
  }

  say('checking');
  const cancel = clock.after(DELAY_MS, () => {
    running = check();
  });

  return {
    /** The damage that was found, in words for people; undefined while none was found. */
    trouble: (): string | undefined => (damage === undefined ? undefined : `is damaged (${damage}); restore a backup`),

    /** Resolves when no check is running. */
    idle: async (): Promise<void> => running,

    async [Symbol.asyncDispose](): Promise<void> {
      cancel();
      stopping.abort(); // a query that is running ends with its thread
    },
  };
}
