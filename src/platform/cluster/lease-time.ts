/**
 * A moment, read from two clocks. The steady clock stands still while the machine is suspended; the wall clock can be
 * set to another time. Together they notice both.
 */
export interface Moment {
  steady: number;
  wall: number;
}

const NEVER: Moment = { steady: Number.NEGATIVE_INFINITY, wall: 0 };

/** The time of a lease of which `usableMs` may be used, by real time. `wall` is the wall clock in milliseconds. */
export function createLeaseTime(usableMs: number, wall: () => number) {
  let begunAt = NEVER;
  const leftMs = (): number => usableMs - Math.max(performance.now() - begunAt.steady, wall() - begunAt.wall);

  return {
    now: (): Moment => ({ steady: performance.now(), wall: wall() }),
    /** Begins the lease anew, at the moment before its renewal was sent. */
    begin(at: Moment): void {
      begunAt = at;
    },
    end(): void {
      begunAt = NEVER;
    },
    /** Milliseconds of the usable part that remain; 0 or less when the lease is lost. */
    leftMs,
    isUsable: (): boolean => leftMs() > 0,
  };
}
