import { systemClock } from '../../src/runtime/clock.ts';
import type { FakeClock } from '../fake-clock.ts';

/** A clock that goes on by itself, as pages want it; `advance` puts it forward, and lets no timer ring early. */
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
