import type { Micros } from '../runtime/units.ts';

/** The free space of a disk at a time. */
export interface DiskPoint {
  at: Micros;
  free: number;
}

/** Fewer hours than this say nothing of the days to come. */
const FEWEST = 6;
/** A day that is further away than this is not said: the pace changes before. */
const FURTHEST = 730 * 86_400_000_000;

/**
 * The time at which a disk is full if it fills on at the pace of these points, by the line of the least squares through
 * them; null when it does not fill, or not within two years.
 */
export function fullAt(points: readonly DiskPoint[]): Micros | null {
  const last = points.at(-1);
  if (!last || points.length < FEWEST) return null;
  const mean = (of: (point: DiskPoint) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanAt, meanFree] = [mean(({ at }) => at - last.at), mean(({ free }) => free)];
  let [above, below] = [0, 0];
  for (const { at, free } of points) {
    const distance = at - last.at - meanAt;
    above += distance * (free - meanFree);
    below += distance * distance;
  }
  const slope = below === 0 ? 0 : above / below; // bytes in a microsecond
  if (slope >= 0) return null;
  const left = last.free / -slope;
  return left > FURTHEST ? null : Math.round(last.at + left);
}
