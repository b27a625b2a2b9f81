/** The reason for which the sequences of numbers were raised. */
export type RaiseReason =
  /** An ordinary start of the service: nothing shows that the database was copied, restored or replaced. */
  | 'start'
  /** The data folder is a copy: the original may still be in use. */
  | 'copied_folder'
  /** The file of the database is not the one that was last used in this folder. */
  | 'other_file'
  /** The server of the database was restarted while the service ran. */
  | 'server_start'
  /** The database is another one than before: it was restored, promoted or copied. */
  | 'other_database';

/**
 * A life is the time between two moments at which the database's sequences were raised. This is its identifier, and its
 * beginning.
 */
export interface NewLife {
  lifeId: string;
  /** The time at which the life begins, in microseconds since the epoch. */
  nowMicros: number;
}

/**
 * A raise of the sequences: all numbers from now on are greater than any that were given out before. It happens at each
 * start, because the database may be a backup or a copy that does not know the latest numbers.
 */
export interface Raised {
  reason: RaiseReason;
  /** The identifier of the life that begins with the raise. */
  lifeId: string;
  /** The new value of the sequence of transactionIds; the next one is greater. */
  to: number;
}

/**
 * Whether an operator should look at the reason. A usual start of the service or of the database server needs no
 * attention.
 */
export const needsAttention = ({ reason }: Pick<Raised, 'reason'>): boolean =>
  reason !== 'start' && reason !== 'server_start';

/**
 * The moment (in microseconds since the epoch) from which the microseconds are counted that numbers are raised to. Counted
 * from here they have 15 digits until 2057, as many as spreadsheets and `%.15g` keep, and are far below 2^53.
 */
export const FIRST_MICROS = Date.UTC(2026, 0, 1) * 1000;
/** The highest value that a clock, however wrong, can raise a sequence to: half of all numbers remain. */
export const HIGHEST_FLOOR = 2 ** 52;
/** The fewest numbers that each raise skips: more than can be given out between reading the sequence and setting it. */
export const STEP = 1_000_000;
/**
 * A sequence that is ahead of the clock by more than an hour was raised by a wrong clock. Then the clock does not tell
 * how many numbers were given out, so more numbers are skipped (LONG_STEP).
 */
export const FAR_AHEAD_MICROS = 3_600_000_000;
export const LONG_STEP = 1_000_000_000;

/**
 * The number that belongs to a time of the clock: the microseconds since FIRST_MICROS. Fewer than one number in a
 * microsecond is given out, so no number that was given out before this time is greater.
 */
export const floorOf = (nowMicros: number): number =>
  Math.min(HIGHEST_FLOOR, Math.max(0, Math.floor(nowMicros - FIRST_MICROS)));

/**
 * The value to which a sequence is raised at the beginning of a life. A database that was set back to an earlier moment
 * does not know which numbers were given out after it, but there was at most one in a microsecond.
 */
export function raisedFrom(last: number, nowMicros: number): number {
  const floor = floorOf(nowMicros);
  return Math.max(last, floor) + (last > floor + FAR_AHEAD_MICROS ? LONG_STEP : STEP);
}
