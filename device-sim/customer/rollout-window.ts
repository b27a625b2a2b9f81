/** The times of day at which a rollout may make commands, as the API has them. */
export interface Window {
  readonly days?: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
}

/**
 * A window that counts from the start of the rollout, in milliseconds. If it closes first, it is open until then, and
 * again from `opens` on; otherwise it is open from `opens` until `closes`.
 */
export interface RelativeWindow {
  readonly opens: number;
  readonly closes: number;
}

const MINUTE = 60_000;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const minuteAfter = (at: number): number => Math.ceil(at / MINUTE) * MINUTE;
const timeOfDay = (at: number): string => new Date(at).toISOString().slice(11, 16);

/**
 * The window of a rollout that starts at `now` (milliseconds since 1970). Windows have whole minutes, so each of its
 * moments is the first full minute after the wanted one, and the part between them lasts at least a minute.
 */
export function windowFrom(now: number, { opens, closes }: RelativeWindow): Window {
  const first = opens === 0 ? Math.floor(now / MINUTE) * MINUTE : minuteAfter(now + Math.min(opens, closes));
  const second =
    opens === 0 ? minuteAfter(now + closes) : first + Math.max(MINUTE, minuteAfter(Math.abs(closes - opens)));
  const [from, to] = opens < closes ? [first, second] : [second, first];
  return { from: timeOfDay(from), to: timeOfDay(to), timeZone: 'UTC' };
}

const minutesOf = (time: string): number => 60 * Number(time.slice(0, 2)) + Number(time.slice(3, 5));

/** Makes the function that says whether a window is open at a time (milliseconds since 1970). */
export function isOpenIn({ days = DAYS, from, to, timeZone }: Window): (at: number) => boolean {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const minute = 60 * Number(parts['hour']) + Number(parts['minute']);
    const today = DAYS.indexOf((parts['weekday'] ?? '').toLowerCase());
    // A window that passes midnight belongs to the day on which it begins.
    const isLate = begin >= end && minute < end;
    const isIn = begin < end ? minute >= begin && minute < end : minute >= begin || minute < end;
    return isIn && days.includes(DAYS[(today + (isLate ? 6 : 0)) % 7] ?? '');
  };
}
