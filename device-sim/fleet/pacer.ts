import type { Timers } from '../timers.ts';

/** Who is too late for its turns makes up for so many milliseconds of them at most. */
const LAG = 100;

/** Hands out turns at a rate, and to so many at a time. */
export interface Pacer {
  /** Resolves when it is the caller's turn, in the order asked for; what it resolves with ends the turn. */
  turn(): Promise<() => void>;
  /** From now on so many turns a second; null: as fast as those before come to their end. */
  setRate(perSecond: number | null): void;
  /** Everyone who waits gets the turn now. */
  release(): void;
}

export function createPacer({
  perSecond,
  atOnce,
  timers,
}: {
  perSecond: number | null;
  /** Turns that have not ended, at most. */
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
        // The first one of all, or after a rest, is not late.
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
