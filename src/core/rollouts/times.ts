/** The buckets of times grow by the square root of two; the first ends at a tenth of a second. */
const FIRST_MICROS = 100_000;
const PER_DOUBLING = 2;

/** The bucket of a time in microseconds. */
export const bucketOf = (micros: number): number =>
  micros <= FIRST_MICROS ? 0 : Math.ceil(Math.log2(micros / FIRST_MICROS) * PER_DOUBLING);

/** The seconds at which a bucket ends. */
export const endOfBucket = (bucket: number): number => (FIRST_MICROS * 2 ** (bucket / PER_DOUBLING)) / 1_000_000;
