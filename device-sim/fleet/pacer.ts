import type { Timers } from '../timers.ts';

/** A caller that is late makes up for at most so many milliseconds of turns. */
const LAG = 100;

/** Gives out turns at a rate, with a bound of turns at a time. */
export interface Pacer {
  /** Resolves when it is the caller's turn, in the order of the calls; the result is a function that ends the turn. */
  turn(): Promise<() => void>;
  /** Changes the rate to so many turns a second; null: as fast as turns end. */
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
  /** The largest number of turns that have not ended. */
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
        // The first turn of all, or after a rest, is not late.
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
