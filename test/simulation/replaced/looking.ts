import type { createLooking as Real } from '../../../src/core/rollouts/looking.ts';
import { world } from '../world.ts';

// The question mark makes it another module than the one that this replaces.
const real = (await import('../../../src/core/rollouts/looking.ts?real' as string)) as { createLooking: typeof Real };

/** The same looks at devices of rollouts, less often in a long world. */
export const createLooking: typeof Real = (parts) => {
  const { rolloutLook: lookMs } = world().pace;
  return real.createLooking({ ...parts, ...(lookMs !== undefined && { lookMs }) });
};
