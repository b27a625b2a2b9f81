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

/**
 * A seed of its own for each part of a simulation (device 7's commands, device 7's absences), so that one part
 * drawing a number more or less changes nothing for the others.
 */
export function deriveSeed(seed: number, ...parts: readonly number[]): number {
  let hash = seed >>> 0;
  for (const part of parts) {
    hash = Math.imul(hash ^ (part + 0x9e3779b9), 0x85ebca6b) >>> 0;
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
    hash = (hash ^ (hash >>> 16)) >>> 0;
  }
  return hash;
}

/** Inclusive bounds; equal ones are a fixed value. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export const draw = (random: Random, { min, max }: Range): number => (min === max ? min : min + random() * (max - min));
