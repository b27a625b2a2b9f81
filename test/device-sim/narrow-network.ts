import { systemTimers, type Timers } from '@lapel/device-sim/timers';

/**
 * The network of a device at 1 MB a second, and timers that shorten the waits of less than a second to nothing. `waited`
 * adds them up: the milliseconds that files would have taken.
 */
export function narrowNetwork() {
  let waited = 0;
  const timers: Timers = {
    now: systemTimers.now,
    after(milliseconds, task) {
      if (milliseconds >= 1000) return systemTimers.after(milliseconds, task);
      waited += milliseconds;
      return systemTimers.after(0, task);
    },
  };
  const conditions = () => ({ delay: { min: 0, max: 0 }, bytesPerSecond: 1_000_000 });
  return { options: { timers, conditions }, waited: () => waited };
}
