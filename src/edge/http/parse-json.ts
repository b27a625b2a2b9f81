import { setTimeout as after } from 'node:timers/promises';

/** Texts of at most this many characters are parsed at once, which takes a few milliseconds. */
export const SMALL = 64 * 1024;

// All listeners of the process parse in one queue, because they share one event loop. It resolves at the end of the
// queue.
let lastParse: Promise<void> = Promise.resolve();

/**
 * Parses a JSON text. Large texts are parsed one after another, each followed by a pause as long as its parsing took: 1
 * MiB can take 50 ms, during which the event loop does nothing else. So a client that keeps sending large texts gets
 * half of the time and not all of it. Rejects with a SyntaxError.
 */
export async function parseJson(text: string): Promise<unknown> {
  if (text.length <= SMALL) return JSON.parse(text);
  const before = lastParse;
  const { promise, resolve } = Promise.withResolvers<void>();
  lastParse = promise;
  await before;
  const startedAt = performance.now();
  try {
    return JSON.parse(text);
  } finally {
    void after(performance.now() - startedAt, undefined, { ref: false }).then(resolve);
  }
}
