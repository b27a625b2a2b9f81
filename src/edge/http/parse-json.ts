import { setTimeout as after } from 'node:timers/promises';

/** Characters that are parsed as soon as they are there: in some milliseconds. */
export const SMALL = 64 * 1024;

// There is one event loop, so one lane, however many services and listeners share it.
let lane: Promise<void> = Promise.resolve();

/**
 * The value of a JSON text. Large ones are parsed one after another, each followed by a pause as long as it took: 1 MiB
 * can take 50 ms, in which nothing else is done, and whoever sends such without end gets half of the time, not all of
 * it. Rejects with a SyntaxError.
 */
export async function parseJson(text: string): Promise<unknown> {
  if (text.length <= SMALL) return JSON.parse(text);
  const before = lane;
  const { promise, resolve } = Promise.withResolvers<void>();
  lane = promise;
  await before;
  const startedAt = performance.now();
  try {
    return JSON.parse(text);
  } finally {
    void after(performance.now() - startedAt, undefined, { ref: false }).then(resolve);
  }
}
