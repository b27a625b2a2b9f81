import { draw, type Random, type Range } from './random.ts';

/**
 * Milliseconds to wait after so many failures in a row. The pause doubles with each failure, up to a bound. Half of it
 * is random, because a whole fleet fails at the same moment and must not come back at the same moment.
 */
export function backOff(random: Random, { min, max }: Range, failures: number): number {
  const length = Math.min(max, min * 2 ** Math.min(failures - 1, 16));
  return draw(random, { min: length / 2, max: length });
}
