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

/** Every bit of the input influences every bit of the output (lowbias32 of Chris Wellons). */
function scramble(bits: number): number {
  let mixed = bits ^ (bits >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * A separate seed for each part of a simulation (the commands of device 7, the absences of device 7), so that one
 * number more or less in one part changes nothing in the others.
 */
export function deriveSeed(seed: number, ...parts: readonly number[]): number {
  // Scrambled first, because seeds and parts are small numbers, and part 1 of seed 2 must differ from part 2 of seed 1.
  let hash = scramble(seed ^ 0x9e3779b9);
  for (const part of parts) hash = scramble(hash ^ part);
  return hash;
}

/** A range with inclusive bounds; equal bounds are a fixed value. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export const draw = (random: Random, { min, max }: Range): number => (min === max ? min : min + random() * (max - min));
