const FIRST = 1000;
const LONGEST = 120_000;
/** A device that tries a list of networks has little time. */
const LONGEST_IN_A_TRIAL = 5000;

/**
 * Milliseconds before the next attempt, after so many in a row that failed (rule `reconnect-pauses`). A half of it is
 * random, because a whole fleet loses its connections at the same moment.
 */
export function pauseAfter(failures: number, isTrying: boolean, random: () => number): number {
  const longest = isTrying ? LONGEST_IN_A_TRIAL : LONGEST;
  const length = Math.min(longest, FIRST * 2 ** Math.min(failures, 10));
  return length / 2 + (random() * length) / 2;
}
