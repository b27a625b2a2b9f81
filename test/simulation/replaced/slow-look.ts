import type { createSlowLook as Real } from '../../../src/runtime/slow-look.ts';
import { world } from '../world.ts';

// The question mark makes it another module than the one that this replaces.
const real = (await import('../../../src/runtime/slow-look.ts?real' as string)) as { createSlowLook: typeof Real };

/** The same look, less often in a long world. */
export const createSlowLook: typeof Real = (parts) =>
  real.createSlowLook({ ...parts, pieceMs: Math.max(parts.pieceMs ?? 0, world().pace.slowLook) });
