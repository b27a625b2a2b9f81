import type { Timers } from '@lapel/device-sim/timers';
import { world } from '../world.ts';

/** Each task is an event of the world at its own time, however late that is. */
export const createTimerWheel = ({ now }: Timers): Timers => ({
  now,
  after: (milliseconds, task) => world().time.plan(Math.max(1, milliseconds), 'task', task),
});
