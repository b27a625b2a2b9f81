import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds after which a wait is given up. */
const LONGEST = 120_000;

/** Resolves to the first result that is not undefined; throws when none came in time. */
export async function until<Result>(what: () => string, look: () => Promise<Result | undefined>): Promise<Result> {
  const signal = AbortSignal.timeout(LONGEST);
  for (;;) {
    const result = await look();
    if (result !== undefined) return result;
    if (signal.aborted) throw new Error(`not within ${LONGEST / 1000} s: ${what()}`);
    await pause(250);
  }
}

/** Does something again and again until the returned function is called; errors are part of the faults that it makes. */
export function repeat(work: () => unknown, everyMs: number): () => Promise<void> {
  const stop = new AbortController();
  const running = (async () => {
    while (!stop.signal.aborted) {
      try {
        await work();
      } catch {
        // The next turn tries again.
      }
      await pause(everyMs);
    }
  })();
  return async () => {
    stop.abort();
    await running;
  };
}
