import type { OwnPace } from '@lapel/device-sim/scenario/own-pace';

/** The simulator of a world never stands still. */
export const startOwnPace = (): OwnPace => ({
  stoodStill: () => 0,
  heldUp: () => 0,
  standstill: 0,
  full: 0,
  starved: 0,
  look: () => ({ loopDelay: 0, processor: 0 }),
  stop: () => undefined,
});
