import type { Micros } from '../../runtime/units.ts';

/**
 * How a consumer does. `behind`: an event has waited for it for an hour; `ending`: such an event is soon removed, because it is
 * old; `lost`: one was removed before the consumer had handled it; `abandoned`: the same, and nobody has moved the consumer for
 * as long as events are kept.
 */
export type ConsumerState = 'current' | 'behind' | 'ending' | 'lost' | 'abandoned';

const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
/** The age of the oldest event that a consumer has not handled, from which on it is behind. */
const BEHIND_MICROS = HOUR;
/** Time before the removal of an event, so that people can act also behind a weekend; at most this share of its life. */
const ENDING = { micros: 3 * DAY, share: 1 / 4 } as const;
/** Where events are kept for ever, a consumer that nobody has moved for so long is abandoned. */
const ABANDONED_MICROS = 30 * DAY;

/** The place of a consumer, and the events of the stream behind it. */
export interface ConsumerPlace {
  after: number;
  updatedAt: Micros;
  /** When the oldest event was made that the consumer has not handled; null when it has handled all that are kept. */
  oldestAt: Micros | null;
  /** The number up to which events of the application were removed, because they were old; 0: none was. */
  removed: number;
}

/** A consumer as it is judged. */
export interface Judged {
  state: ConsumerState;
  /** The age of the oldest event that it has not handled; 0 when it has handled all that are kept. */
  ageMicros: Micros;
  /** The time until that event is removed, because it is old; null: it is kept for ever. */
  leftMicros: Micros | null;
  /** The time since it was moved. */
  restingMicros: Micros;
}

/** Judges a consumer by how long events are kept, which may be for ever. */
export function judge({ after, updatedAt, oldestAt, removed }: ConsumerPlace, now: Micros, keptMicros: Micros): Judged {
  const age = oldestAt === null ? 0 : Math.max(0, now - oldestAt);
  const isRemoved = Number.isFinite(keptMicros);
  const isEnding = isRemoved && age >= keptMicros - Math.min(ENDING.micros, ENDING.share * keptMicros);
  const restingMicros = Math.max(0, now - updatedAt);
  const isResting = restingMicros >= (isRemoved ? keptMicros : ABANDONED_MICROS);
  // A consumer at the beginning reads what is left, and may have been made when the first events were removed already.
  const hasLost = after > 0 ? removed > after : removed > 0 && isEnding;
  function state(): ConsumerState {
    if (isResting && (hasLost || (!isRemoved && age >= ABANDONED_MICROS))) return 'abandoned';
    if (hasLost && after > 0) return 'lost';
    if (isEnding) return 'ending';
    return age >= BEHIND_MICROS ? 'behind' : 'current';
  }
  const leftMicros = isRemoved ? Math.max(0, keptMicros - age) : null;
  return { state: state(), ageMicros: age, leftMicros, restingMicros };
}
