import type { Timers } from '../timers.ts';

/** Lets cases wait for messages, connections and downloads. */
export interface Waits {
  /** To be called after each event. */
  wake(): void;
  /**
   * Resolves to the first value that `find`, called after each event, returns. Resolves to undefined after
   * `milliseconds`, and when the test is stopped.
   */
  until<Found>(find: () => Found | undefined | false, milliseconds: number): Promise<Found | undefined>;
}

export function createWaits(timers: Timers, stopped: AbortSignal): Waits {
  const wakers = new Set<() => void>();
  return {
    wake() {
      for (const waker of wakers) waker();
    },
    async until(find, milliseconds) {
      const late = Promise.withResolvers<void>();
      let isLate = stopped.aborted;
      const giveUp = (): void => {
        isLate = true;
        late.resolve();
      };
      const cancel = timers.after(milliseconds, giveUp);
      stopped.addEventListener('abort', giveUp);
      try {
        for (;;) {
          const found = find();
          if (found || isLate) return found || undefined;
          const next = Promise.withResolvers<void>();
          wakers.add(next.resolve);
          await Promise.race([next.promise, late.promise]);
          wakers.delete(next.resolve);
        }
      } finally {
        cancel();
        stopped.removeEventListener('abort', giveUp);
      }
    },
  };
}
