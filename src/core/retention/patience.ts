import type { Sweep } from '../../platform/database/sweep.ts';
import type { Micros } from '../../runtime/units.ts';

/** Rows stay longer than their time by this part of it, so that a sweep finds many at once; but not longer than a while. */
const LATE_PART = 1 / 100;
const LATEST_MICROS = 6 * 3600 * 1_000_000;
/** The longest time without a look, whatever the last one has found. */
const LONGEST_MICROS = 24 * 3600 * 1_000_000;

/**
 * Knows which kinds need no sweep: new rows are never older than the present, so the oldest row of a kind, or the time of
 * a look that has found none, tells when the next one is too old. A fleet at rest then costs no reads.
 */
export function createPatience() {
  const rests = new Map<Sweep['kind'], { oldest: Micros | null; until: Micros }>();
  return {
    /** The oldest row of a kind of which no row is too old yet; undefined: somebody has to look. */
    resting(kind: Sweep['kind'], now: Micros): { oldest: Micros | null } | undefined {
      const rest = rests.get(kind);
      return rest && now < rest.until ? rest : undefined;
    },

    /** A sweep of a kind has come to its end, and has left this row as the oldest one. */
    swept({ kind, keptForMicros }: Pick<Sweep, 'kind' | 'keptForMicros'>, oldest: Micros | null, now: Micros): void {
      const tooOldAt = Math.max(now, Math.min(oldest ?? now, now) + keptForMicros);
      const until = tooOldAt + Math.min(keptForMicros * LATE_PART, LATEST_MICROS);
      // A kind that is not kept gets no new rows.
      const isGone = oldest === null && keptForMicros === 0;
      rests.set(kind, { oldest, until: isGone ? now + LONGEST_MICROS : Math.min(until, now + LONGEST_MICROS) });
    },

    forget: (): void => rests.clear(),
  };
}
