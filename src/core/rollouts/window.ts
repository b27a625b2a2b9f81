import type { Day, Window } from './rollout.ts';

const DAYS: readonly Day[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

// A formatter takes a tenth of a millisecond to make.
const formatters = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATTERS = 500;

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formatters.size >= MOST_FORMATTERS) formatters.clear();
  formatters.set(timeZone, made);
  return made;
}

/** Whether a name is a time zone that the service knows. */
export function isTimeZone(name: string): boolean {
  try {
    formatterOf(name);
    return true;
  } catch {
    return false; // a RangeError says that the name is unknown
  }
}

/** Whether a window is open at a time (microseconds). A window that passes midnight belongs to the day of its begin. */
export function isOpen({ days = DAYS, from, to, timeZone }: Window, now: number): boolean {
  const parts = formatterOf(timeZone).formatToParts(now / 1000);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  const today = DAYS.indexOf(part('weekday').toLowerCase() as Day);
  const yesterday = (today + DAYS.length - 1) % DAYS.length;
  const minute = Number(part('hour')) * 60 + Number(part('minute'));
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const isDay = (day: number): boolean => days.includes(DAYS[day] as Day);
  if (begin < end) return isDay(today) && minute >= begin && minute < end;
  return (isDay(today) && minute >= begin) || (isDay(yesterday) && minute < end);
}

const MINUTE = 60_000_000;

/**
 * The microseconds until a window may open or close: until the next minute begins. The time itself cannot be computed
 * ahead, since the clocks of time zones are put forward and back.
 */
export const untilChange = (now: number): number => MINUTE - (now % MINUTE);
