/** A source of numbers in [0, 1) that repeats for the same seed. */
export type Random = () => number;

/** mulberry32: 32 bits of state, good enough for a simulation, and the same on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Every bit of what goes in decides about every bit of what comes out (lowbias32 of Chris Wellons). */
function scramble(bits: number): number {
  let mixed = bits ^ (bits >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * A seed of its own for each part of a simulation (device 7's commands, device 7's absences), so that one part
 * drawing a number more or less changes nothing for the others.
 */
export function deriveSeed(seed: number, ...parts: readonly number[]): number {
  // Scrambled first: seeds and parts are small numbers, and part 1 of seed 2 is not to be part 2 of seed 1.
  let hash = scramble(seed ^ 0x9e3779b9);
  for (const part of parts) hash = scramble(hash ^ part);
  return hash;
}

/** Inclusive bounds; equal ones are a fixed value. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export const draw = (random: Random, { min, max }: Range): number => (min === max ? min : min + random() * (max - min));
