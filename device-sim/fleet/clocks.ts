import { createRandom, deriveSeed, draw, type Range } from '../random.ts';
import type { Timers } from '../timers.ts';

/** How wrong the clocks of devices are. Each clock is either fast or slow. */
export interface Clocks {
  /** Milliseconds by which a clock is wrong at the start of the run. */
  readonly wrong: Range;
  /** Milliseconds by which it becomes more wrong in each hour. */
  readonly drift: number;
}

const HOUR = 3_600_000;

/** Returns the milliseconds by which the clock of a device is wrong now. Seed and place of the device decide them. */
export function clockErrorOf({ wrong, drift }: Clocks, seed: number, place: number, timers: Timers): () => number {
  const random = createRandom(deriveSeed(seed, place, 12));
  const began = timers.now();
  const direction = random() < 0.5 ? -1 : 1;
  const first = draw(random, wrong);
  return () => direction * (first + ((timers.now() - began) / HOUR) * drift);
}
