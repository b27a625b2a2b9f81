import type { Timers } from '../timers.ts';

/**
 * Milliseconds. After a delay the missed turns of at most this span are given out at once, so that a delay causes no
 * burst.
 */
const LAG = 100;

/**
 * Lets callers begin at a limited rate, and only so many of them at a time. A caller waits for its turn, and ends it.
 */
export interface Pacer {
  /**
   * Resolves when the caller may begin. Callers get their turns in the order of their calls; each calls the resolved
   * function at its end.
   */
  turn(): Promise<() => void>;
  /** Sets how many turns begin in a second; null: a turn begins whenever another one ends. */
  setRate(perSecond: number | null): void;
  /** Gives every waiting caller its turn now. */
  release(): void;
}

export function createPacer({
  perSecond,
  atOnce,
  timers,
}: {
  perSecond: number | null;
  /** The most turns that may have begun and not ended. */
  atOnce: number;
  timers: Timers;
}): Pacer {
  const waiting = new Set<() => void>();
  let pause = perSecond === null ? 0 : 1000 / perSecond;
  let next = 0;
  let active = 0;
  let cancel: (() => void) | undefined;

  function leave(): void {
    active -= 1;
    handOut();
  }

  function handOut(): void {
    cancel?.();
    cancel = undefined;
    const now = timers.now();
    next = Math.max(next, now - LAG);
    for (const go of waiting) {
      if (active >= atOnce) return;
      if (next > now) {
        cancel = timers.after(next - now, handOut);
        return;
      }
      next += pause;
      go();
    }
  }

  return {
    turn: () =>
      new Promise((resolve) => {
        function go(): void {
          waiting.delete(go);
          active += 1;
          resolve(leave);
        }
        // No turn was missed while nobody waited, so the rate counts from now.
        if (waiting.size === 0 && active === 0) next = Math.max(next, timers.now());
        waiting.add(go);
        if (!cancel) handOut();
      }),
    setRate(rate) {
      pause = rate === null ? 0 : 1000 / rate;
      next = Math.min(next, timers.now() + pause);
      handOut();
    },
    release() {
      for (const go of waiting) go();
    },
  };
}
