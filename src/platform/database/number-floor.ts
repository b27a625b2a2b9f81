/** Why numbers were raised. */
export type RaiseReason =
  /** A service starts, as usual. */
  | 'start'
  /** The data folder is a copy: the original may still be in use. */
  | 'copied_folder'
  /** The file of the database is not the one that was last used in this folder. */
  | 'other_file'
  /** The server of the database was started since. */
  | 'server_start'
  /** The database is another one: restored, promoted or copied. */
  | 'other_database';

/** The name of a life of the database, which is the time between two moments at which its numbers were raised; and when it begins. */
export interface NewLife {
  lifeId: string;
  /** Microseconds. */
  nowMicros: number;
}

/** What is given out from now on is greater. */
export interface Raised {
  reason: RaiseReason;
  /** The life that begins with it. */
  lifeId: string;
  /** The transactionId behind which it goes on. */
  to: number;
}

/** Reasons that somebody should look at. */
export const isLoud = ({ reason }: Pick<Raised, 'reason'>): boolean => reason !== 'start' && reason !== 'server_start';

/**
 * Where numbers begin in microseconds: with 15 digits until 2057, which is what spreadsheets and `%.15g` keep of a number, and
 * far below 2^53.
 */
export const FIRST_MICROS = Date.UTC(2026, 0, 1) * 1000;
/** However wrong the clock is, half of all numbers are left. */
export const HIGHEST_FLOOR = 2 ** 52;
/** Skipped each time; more than anybody gives out while the sequence is being looked at. */
export const STEP = 1_000_000;
/** Skipped when the numbers are so far ahead of the clock: it was wrong once, and says nothing of what was given out. */
export const FAR_AHEAD = 3_600_000_000;
export const LONG_STEP = 1_000_000_000;

/** What a clock says of numbers: fewer than one in a microsecond are given out, so none that was reaches it. */
export const floorOf = (nowMicros: number): number =>
  Math.min(HIGHEST_FLOOR, Math.max(0, Math.floor(nowMicros - FIRST_MICROS)));

/**
 * The number behind which a sequence goes on when a life of the database begins: nobody knows what an earlier one gave out
 * after the moment to which the database was set back, but not more than one number in a microsecond.
 */
export function raisedFrom(last: number, nowMicros: number): number {
  const floor = floorOf(nowMicros);
  return Math.max(last, floor) + (last > floor + FAR_AHEAD ? LONG_STEP : STEP);
}
