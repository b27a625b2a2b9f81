import type { untilNextLook as Real } from '../../../src/core/rollouts/look-interval.ts';
import { world } from '../world.ts';

// The question mark makes it another module than the one that this replaces.
const real = (await import('../../../src/core/rollouts/look-interval.ts?real' as string)) as {
  untilNextLook: typeof Real;
};

/** The same interval, longer in a long world. */
export const untilNextLook: typeof Real = (...looked) =>
  Math.max(real.untilNextLook(...looked), world().pace.rolloutLook);
