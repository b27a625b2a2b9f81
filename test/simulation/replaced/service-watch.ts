import type { ServiceWatch } from '@lapel/device-sim/scenario/service-watch';

/** Calls ten times a second would be most events of a world, and memory and stalls are none of its matters. */
export const watchService = (): ServiceWatch => ({
  counts: () => ({ stalled: 0, halted: 0, watched: 0 }),
  notes: () => [],
  stoodStill: () => 0,
  weigh: async () => undefined,
  suspend: () => undefined,
  stop: () => undefined,
});
