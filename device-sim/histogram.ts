/**
 * Durations in milliseconds, counted in buckets. They are plain data, so that those of several processes can be added
 * up.
 */
export interface HistogramData {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /**
   * Pairs of a bucket and the number of durations in it, in the order of the buckets. Empty buckets are left out;
   * `upperBound` gives the longest duration of a bucket.
   */
  readonly buckets: readonly (readonly [bucket: number, count: number])[];
}

export interface Histogram {
  record(milliseconds: number): void;
  /** Adds the counts of another histogram. */
  add(other: HistogramData): void;
  data(): HistogramData;
}

/**
 * Each bucket ends 2.2 % above the one before, so that 32 buckets double the duration. A percentile is at most that
 * much too high.
 */
const STEPS = 32;
/** Shorter durations (in milliseconds) are in the first bucket. */
const SHORTEST = 0.01;
/** Enough buckets for durations of up to fifteen days; longer durations count in the last bucket. */
const BUCKETS = STEPS * 37;

const bucketOf = (milliseconds: number): number =>
  milliseconds <= SHORTEST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log2(milliseconds / SHORTEST) * STEPS));

/** The longest duration in a bucket. Milliseconds. */
export const upperBound = (bucket: number): number => SHORTEST * 2 ** (bucket / STEPS);

/**
 * The percentile of the recorded durations in milliseconds: a share (0 to 1) of them was not longer. 0 when none was
 * recorded.
 */
export function percentile({ count, min, max, buckets }: HistogramData, share: number): number {
  const wanted = Math.max(1, Math.ceil(share * count));
  let seen = 0;
  for (const [bucket, some] of buckets) {
    seen += some;
    if (seen >= wanted) return Math.min(max, Math.max(min, upperBound(bucket)));
  }
  return 0;
}

export const mean = ({ count, sum }: HistogramData): number => (count === 0 ? 0 : sum / count);

export function createHistogram(): Histogram {
  const counts = new Map<number, number>();
  let count = 0;
  let sum = 0;
  let min = 0;
  let max = 0;

  function widen(low: number, high: number): void {
    min = count === 0 ? low : Math.min(min, low);
    max = count === 0 ? high : Math.max(max, high);
  }

  return {
    record(milliseconds) {
      const bucket = bucketOf(milliseconds);
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
      widen(milliseconds, milliseconds);
      count += 1;
      sum += milliseconds;
    },
    add(other) {
      if (other.count === 0) return;
      for (const [bucket, some] of other.buckets) counts.set(bucket, (counts.get(bucket) ?? 0) + some);
      widen(other.min, other.max);
      count += other.count;
      sum += other.sum;
    },
    data: () => ({ count, sum, min, max, buckets: [...counts].sort(([a], [b]) => a - b) }),
  };
}
