import { systemClock } from '../../src/runtime/clock.ts';
import type { FakeClock } from '../fake-clock.ts';

/** A clock that runs, as pages need it; `advance` moves it forward, and no timer fires early. */
export function createRunningClock(): FakeClock {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    after: systemClock.after,
    advance(milliseconds) {
      ahead += milliseconds * 1000;
    },
    timers: () => 0,
  };
}
