import { draw, type Random, type Range } from './random.ts';

/**
 * Milliseconds to wait after the n-th failure in a row: doubled each time up to a bound. Half of it is chance, because a
 * whole fleet fails at the same moment.
 */
export function backOff(random: Random, { min, max }: Range, failures: number): number {
  const length = Math.min(max, min * 2 ** Math.min(failures - 1, 16));
  return draw(random, { min: length / 2, max: length });
}
