import type { ServiceWatch } from '@lapel/device-sim/scenario/service-watch';

/** Calls ten times a second would be most events of a world, and memory and stalls are none of its matters. */
export const watchService = (): ServiceWatch => ({
  counts: () => ({ stalled: 0 }),
  notes: () => [],
  weigh: async () => undefined,
  suspend: () => undefined,
  stop: () => undefined,
});
