import { inZone } from './zone.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const moment = inZone({
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

const precise = inZone({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});

const exact = inZone({
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
  timeZoneName: 'short',
});

export const count = (value: number): string => whole.format(value);
export const compact = (value: number): string =>
  Math.abs(value) < 10_000 ? whole.format(value) : short.format(value);

/** Formats a number with its noun: `1 device`, `2 devices`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** Formats a duration in at most two units: `3 d 4 h`, `12.4 s`, `38 ms`. */
export function duration(milliseconds: number): string {
  const value = Math.max(0, milliseconds);
  if (value < 1) return '< 1 ms';
  if (value < SECOND) return `${Math.round(value)} ms`;
  if (value < 10 * SECOND) return `${(value / SECOND).toFixed(1)} s`;
  if (value < MINUTE) return `${Math.floor(value / SECOND)} s`;
  if (value < HOUR) return pair(value, MINUTE, 'min', SECOND, 's');
  if (value < DAY) return pair(value, HOUR, 'h', MINUTE, 'min');
  return pair(value, DAY, 'd', HOUR, 'h');
}

function pair(value: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((value % large) / small);
  return `${Math.floor(value / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** Formats the time since something happened, in one unit: `3 min ago`. */
export function ago(milliseconds: number): string {
  if (milliseconds < 2 * SECOND) return 'now';
  if (milliseconds < MINUTE) return `${Math.floor(milliseconds / SECOND)} s ago`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min ago`;
  if (milliseconds < 2 * DAY) return `${Math.floor(milliseconds / HOUR)} h ago`;
  return `${Math.floor(milliseconds / DAY)} d ago`;
}

/** Formats a time in the chosen time zone, which it names, to the second. */
export const when = (time: string): string => {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : moment().format(at);
};

/** Formats a time to the millisecond, without the year, with its zone. */
export const whenExactly = (time: string): string => exact().format(new Date(time));

/** Formats the time of day to the millisecond, for a column whose head names the zone. */
export const clockOf = (time: string): string => precise().format(new Date(time));

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
export function bytes(value: number): string {
  let unit = 0;
  let rest = value;
  while (rest >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : rest.toFixed(1)} ${UNITS[unit]}`;
}

/** Milliseconds between two times of the service, exact to the microsecond. */
export function between(from: string, to: string): number {
  const micros = (time: string): number => Number(/\.\d{3}(\d{1,3})/.exec(time)?.[1]?.padEnd(3, '0') ?? 0);
  return Date.parse(to) - Date.parse(from) + (micros(to) - micros(from)) / 1000;
}

/**
 * Shows invisible characters, and characters that change the direction of writing, as their code points. Texts from
 * devices, customers and files could deceive the reader with them.
 */
export const visible = (text: string): string =>
  text.replace(
    /(?![\t\n\r])[\p{Cc}\p{Cf}]/gu,
    (unseen) => `\u27e8U+${unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}\u27e9`,
  );

/** The number, rounded, of a value that was parsed with all digits of its numbers (parseExact). */
export const numberOf = (value: unknown): number => Number(JSON.stringify(value));
