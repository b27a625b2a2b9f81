import type { Metrics } from '../../../metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Sql } from '../sql.ts';
import { checkPieces, DamageError } from './check-pieces.ts';

// Milliseconds. First those connect who were connected before.
const DELAY = 5_000;
// A piece is followed by a pause of three times what it took: of a slow disk the check takes a quarter, and the rest is for
// what has to be read now. It is about the disk's time, not the domain's, so it is no business of the injected clock.
const PAUSE_FACTOR = 3;
const SHORTEST_PAUSE = 5;

interface Parts {
  /** On a thread of its own. */
  sql: Sql;
  clock: Pick<Clock, 'after'>;
  log: Log;
  metrics: Pick<Metrics, 'databaseCheck'>;
  sizes?: Parameters<typeof checkPieces>[1];
}

/**
 * Reads the whole database once after the start, however large it is, at an even pace that nobody feels: so a file whose
 * pages were damaged while nobody looked is found, and not first by a caller. Opening has checked its head and schema.
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
        await pause(Math.max(SHORTEST_PAUSE, (performance.now() - before) * PAUSE_FACTOR));
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
  const cancel = clock.after(DELAY, () => {
    running = check();
  });

  return {
    /** What is wrong with the file, for people; undefined while nothing was found. */
    trouble: (): string | undefined => (damage === undefined ? undefined : `is damaged (${damage}); restore a backup`),

    /** Resolves when no check is under way. */
    idle: async (): Promise<void> => running,

    async [Symbol.asyncDispose](): Promise<void> {
      cancel();
      stopping.abort(); // what is being read ends with the thread that reads it
    },
  };
}
