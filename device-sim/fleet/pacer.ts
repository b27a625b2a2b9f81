import type { Timers } from '../timers.ts';

/** Hands out turns at a fixed rate. */
interface Pacer {
  /** Resolves when it is the caller's turn, in the order asked for. */
  turn(): Promise<void>;
  /** Everyone who waits gets the turn now. */
  release(): void;
}

/** `perSecond` turns a second; without a rate each at once. */
export function createPacer({ perSecond, timers }: { perSecond: number | null; timers: Timers }): Pacer {
  const waiting = new Set<() => void>();
  let next = 0;

  return {
    async turn() {
      if (perSecond === null) return;
      const now = timers.now();
      next = Math.max(next, now);
      const wait = next - now;
      next += 1000 / perSecond;
      if (wait <= 0) return;
      await new Promise<void>((resolve) => {
        const cancel = timers.after(wait, go);
        function go(): void {
          cancel();
          waiting.delete(go);
          resolve();
        }
        waiting.add(go);
      });
    },
    release() {
      for (const go of waiting) go();
    },
  };
}
