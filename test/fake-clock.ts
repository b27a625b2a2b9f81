import type { Clock } from '../src/runtime/clock.ts';

export interface FakeClock extends Clock {
  /** Moves the time forward, and runs the timers that become due in their order, each at its own time. */
  advance(milliseconds: number): void;
  /**
   * Moves the time forward as on a machine that slept: each timer that has become due runs once, at the new time. For
   * weeks, in which timers of a few seconds would run a million times.
   */
  leap(milliseconds: number): void;
  /** Sets the clock forward, while no time passes. No timer runs. */
  set(milliseconds: number): void;
  /** Sets the clock of the machine back, which the time of the service does not follow. */
  setBack(milliseconds: number): void;
  /** The number of timers that are set. */
  timers(): number;
}

/** The most timers that run in one step of the clock: they take some ten seconds of the processor. */
const MOST_TIMERS = 1_000_000;

/** A clock that stands still until a test moves it. `startMicros` defaults to 2026-11-20T09:30:00.123456Z. */
export function createFakeClock(startMicros = Date.UTC(2026, 10, 20, 9, 30, 0, 123) * 1000 + 456): FakeClock {
  let now = startMicros;
  /** By how much the clock was set: the steady clock does not follow. */
  let forward = 0;
  let back = 0;
  let timers: { at: number; task: () => void }[] = [];
  return {
    now: () => now,
    wall: () => now - back,
    steady: () => (now - forward) / 1000,
    set(milliseconds) {
      const by = Math.round(milliseconds * 1000);
      now += by;
      forward += by;
      timers = timers.map(({ at, task }) => ({ at: at + by, task }));
    },
    setBack(milliseconds) {
      back += Math.round(milliseconds * 1000);
    },
    after(milliseconds, task) {
      const timer = { at: now + Math.max(0, Math.round(milliseconds * 1000)), task };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(milliseconds) {
      const until = now + Math.round(milliseconds * 1000);
      for (let ran = 0; ; ran += 1) {
        if (ran > MOST_TIMERS) throw new Error(`more than ${MOST_TIMERS} timers run in this time: let the clock leap`);
        const next = timers.reduce<{ at: number; task: () => void } | undefined>(
          (first, timer) => (timer.at <= until && (!first || timer.at < first.at) ? timer : first),
          undefined,
        );
        if (!next) break;
        timers = timers.filter((other) => other !== next);
        now = Math.max(now, next.at);
        next.task();
      }
      now = until;
    },
    leap(milliseconds) {
      now += Math.round(milliseconds * 1000);
      const due = timers.filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at);
      for (const timer of due) {
        if (!timers.includes(timer)) continue; // an earlier one has stopped it
        timers = timers.filter((other) => other !== timer);
        timer.task();
      }
    },
    timers: () => timers.length,
  };
}
