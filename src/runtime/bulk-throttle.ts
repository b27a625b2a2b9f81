import { setTimeout } from 'node:timers/promises';

/** After work of some milliseconds, this many times as long is left to single calls. */
const REST = 5;
const LONGEST_REST_MS = 500;

export type BulkThrottle = (beganMs: number) => Promise<void>;

/**
 * Makes the function with which work for many devices makes room for single calls: after each piece, it waits several times
 * as long as the piece took. It waits only while there are single calls (`perSecond`). `beganMs` is the time of
 * `performance.now()` at which the piece began.
 */
export const createBulkThrottle =
  (perSecond: () => number): BulkThrottle =>
  async (beganMs) => {
    if (perSecond() === 0) return;
    await setTimeout(Math.min((performance.now() - beganMs) * REST, LONGEST_REST_MS));
  };
