import { systemTimers } from '../timers.ts';
import { readNumber } from './arguments.ts';
import type { Patience } from './public.d.ts';

/** The most items that are kept; the oldest ones are dropped first. */
const KEPT = 1000;
const PATIENCE_MILLISECONDS = 10_000;

/** Things that arrive. Each is taken once, in the order of arrival, however early or late somebody asks for it. */
export interface Inbox<Item> {
  readonly all: readonly Item[];
  add(item: Item): void;
  /**
   * Resolves to the oldest matching item that was not taken. Rejects with the sentence that `missing` returns if none
   * arrives in time.
   */
  take(matches: (item: Item) => boolean, patience: Patience, missing: (waited: string) => string): Promise<Item>;
  /** Nothing arrives any more: all callers that wait get an Error. */
  close(reason: string): void;
}

export function createInbox<Item>(): Inbox<Item> {
  const all: Item[] = [];
  const left: Item[] = [];
  const waiting = new Set<{ offer: (item: Item) => boolean; fail: (error: Error) => void }>();
  let closed: string | undefined;

  return {
    all,
    add(item) {
      all.push(item);
      if (all.length > KEPT) all.shift();
      for (const { offer } of waiting) if (offer(item)) return;
      left.push(item);
      if (left.length > KEPT) left.shift();
    },

    async take(matches, { within = PATIENCE_MILLISECONDS }, missing) {
      readNumber('within', within, { min: 1, max: 3_600_000 });
      const at = left.findIndex(matches);
      if (at >= 0) return left.splice(at, 1)[0]!;
      if (closed !== undefined) throw new Error(closed);
      const { promise, resolve, reject } = Promise.withResolvers<Item>();
      const waiter = {
        offer(item: Item): boolean {
          if (!matches(item)) return false;
          resolve(item);
          return true;
        },
        fail: reject,
      };
      waiting.add(waiter);
      const cancel = systemTimers.after(within, () => reject(new Error(missing(`${within} ms`))));
      return promise.finally(() => {
        waiting.delete(waiter);
        cancel();
      });
    },

    close(reason) {
      closed = reason;
      for (const { fail } of waiting) fail(new Error(reason));
    },
  };
}
