/** Neighbouring buckets differ by this factor: what is read from them is at most 2 % too high. */
const GROWTH = 1.02;
const LOG_GROWTH = Math.log(GROWTH);
/** Milliseconds. What is shorter, or longer (eleven days), counts as these. */
const SHORTEST = 0.01;
const LONGEST = 1e9;

/** How often there were values of up to `upTo` milliseconds, and above the bucket before. */
export interface Bucket {
  readonly upTo: number;
  readonly count: number;
}

/** Durations in milliseconds, in memory that does not grow with their number; two of them can be made into one. */
export interface Histogram {
  readonly count: number;
  /** The highest, as it was recorded; 0 without any. */
  readonly max: number;
  record(milliseconds: number): void;
  /** The value that `percent` (0 to 100) of all do not exceed, at most 2 % too high; undefined without any. */
  percentile(percent: number): number | undefined;
  /** Those that are not empty, in rising order. */
  buckets(): Bucket[];
  add(buckets: readonly Bucket[]): void;
}

const placeOf = (milliseconds: number): number =>
  Math.ceil(Math.log(Math.min(LONGEST, Math.max(SHORTEST, milliseconds)) / SHORTEST) / LOG_GROWTH - 1e-9);
const endOf = (place: number): number => SHORTEST * GROWTH ** place;

export function createHistogram(from: readonly Bucket[] = []): Histogram {
  const counts: number[] = [];
  let count = 0;
  let max = 0;

  function put(place: number, times: number): void {
    while (counts.length <= place) counts.push(0);
    counts[place]! += times;
    count += times;
  }
  const add = (buckets: readonly Bucket[]): void => {
    for (const { upTo, count: times } of buckets) {
      put(placeOf(upTo), times);
      max = Math.max(max, upTo);
    }
  };
  add(from);

  return {
    get count() {
      return count;
    },
    get max() {
      return max;
    },
    record(milliseconds) {
      put(placeOf(milliseconds), 1);
      max = Math.max(max, milliseconds);
    },
    percentile(percent) {
      const wanted = Math.max(1, Math.ceil((count * percent) / 100));
      let seen = 0;
      for (let place = 0; place < counts.length; place += 1) {
        seen += counts[place]!;
        if (seen >= wanted && seen > 0) return Math.min(endOf(place), max);
      }
      return undefined;
    },
    buckets: () => counts.flatMap((times, place) => (times > 0 ? [{ upTo: endOf(place), count: times }] : [])),
    add,
  };
}

/** What came to `now` after `before`, which is what the same histogram had earlier. */
export function since(now: readonly Bucket[], before: readonly Bucket[]): Bucket[] {
  const had = new Map(before.map(({ upTo, count }) => [upTo, count]));
  return now.flatMap(({ upTo, count }) => {
    const more = count - (had.get(upTo) ?? 0);
    return more > 0 ? [{ upTo, count: more }] : [];
  });
}
