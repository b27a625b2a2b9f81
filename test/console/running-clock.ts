import { systemClock } from '../../src/runtime/clock.ts';
import type { FakeClock } from '../fake-clock.ts';

/** A clock that runs, as pages need it; `advance` moves it forward, and no timer fires early. */
export function createRunningClock(): FakeClock {
  let ahead = 0;
  const advance = (milliseconds: number): void => {
    ahead += milliseconds * 1000;
  };
  return {
    now: () => systemClock.now() + ahead,
    wall: () => systemClock.wall() + ahead,
    steady: () => systemClock.steady() + ahead / 1000,
    set: advance,
    setBack: () => undefined,
    after: systemClock.after,
    advance,
    leap: advance,
    timers: () => 0,
  };
}
