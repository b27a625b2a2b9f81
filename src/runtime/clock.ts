import type { Micros, Millis } from './units.ts';

/** The only source of time. Tests inject one that they move by hand. */
export interface Clock {
  /** Microseconds since the Unix epoch (the interface's date-times have microseconds). */
  now(): Micros;
  /** The time of the machine as it is set now, in microseconds. It may go back; it is for what others compare with theirs. */
  wall(): Micros;
  /** Milliseconds of a clock that nobody sets, since any moment. */
  steady(): Millis;
  /** Runs `task` once after `milliseconds`; the returned function cancels it. The timer keeps no process alive. */
  after(milliseconds: Millis, task: () => void): () => void;
}

// setTimeout fires at once for more than 2^31-1 ms, so a longer delay is made of several timers.
const LONGEST_TIMEOUT = 2_147_483_647;

// The steady clock stops while the machine is suspended, and does not follow corrections of the wall clock. When it is
// behind the wall clock by more than this, it is advanced.
const BEHIND_MILLISECONDS = 100;

/**
 * Returns a function for the current time in microseconds. The time advances with the steady clock and never goes back.
 * It leaps forward to the wall clock after the machine was suspended, or its clock was put forward. Both clocks are
 * milliseconds; `steady` may begin anywhere.
 */
export function createTime(wall: () => number, steady: () => number): () => number {
  let origin = wall() - steady();
  return () => {
    let now = origin + steady();
    const right = wall();
    if (right - now > BEHIND_MILLISECONDS) {
      origin += right - now;
      now = right;
    }
    return Math.round(now * 1000);
  };
}

export const systemClock: Clock = {
  now: createTime(Date.now, () => performance.now()),
  wall: () => Date.now() * 1000,
  steady: () => performance.now(),
  after(milliseconds, task) {
    let timer: NodeJS.Timeout;
    const arm = (rest: number): void => {
      const step = Math.min(rest, LONGEST_TIMEOUT);
      timer = setTimeout(() => (rest > step ? arm(rest - step) : task()), step);
      timer.unref();
    };
    arm(Math.max(0, milliseconds));
    return () => clearTimeout(timer);
  },
};

/** Formats an instant in UTC with microseconds and a `Z`: the form of MQTT payloads and webhooks. */
export function toUtc(micros: Micros): string {
  const second = Math.floor(micros / 1_000_000);
  if (second !== lastSecond.at) {
    lastSecond = { at: second, text: new Date(second * 1000).toISOString().slice(0, 20) };
  }
  return `${lastSecond.text}${String(micros - second * 1_000_000).padStart(6, '0')}Z`;
}
// The text of the last second is kept, because most date-times are written in the same second as the one before.
let lastSecond = { at: 0, text: '1970-01-01T00:00:00.' };

/**
 * Returns a function that reads the output of `format` (of createLocalTime) back into microseconds. A local time that
 * occurs twice, because clocks were put back, is read as the later instant. A local time that does not exist, because
 * clocks were put forward, is read as an instant close to it.
 */
export function createLocalTimeReader(format: (micros: Micros) => string): (text: string) => Micros {
  const asUtc = (text: string): number => Date.parse(`${text.slice(0, 19)}Z`) * 1000 + Number(text.slice(20));
  return (text) => {
    const wall = asUtc(text);
    const near = wall - (asUtc(format(wall)) - wall);
    return near - (asUtc(format(near)) - wall);
  };
}

/**
 * Returns a function that formats instants as ISO 8601 local date-times with microseconds and no offset,
 * `2026-11-20T09:30:00.123456`: the form of REST bodies. Offsets only change on quarter hours, so one look-up serves a
 * quarter of an hour. Throws a RangeError for an unknown time zone.
 */
export function createLocalTime(timeZone: string): (micros: Micros) => string {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const quarterHour = 15 * 60 * 1000;
  let cachedQuarter = Number.NaN;
  let offsetMillis = 0;
  const offsetAt = (millis: number): number => {
    const quarter = Math.floor(millis / quarterHour);
    if (quarter !== cachedQuarter) {
      cachedQuarter = quarter;
      const name = format.formatToParts(millis).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
      const match = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(name);
      const [, sign, hours = '0', minutes = '0', seconds = '0'] = match ?? [];
      offsetMillis = (sign === '-' ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
    }
    return offsetMillis;
  };
  return (micros) => {
    const millis = Math.floor(micros / 1000);
    return toUtc(micros + offsetAt(millis) * 1000).slice(0, 26);
  };
}
