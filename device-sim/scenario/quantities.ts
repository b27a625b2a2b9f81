import type { Range } from '../random.ts';

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1000,
  KiB: 1024,
  MB: 1e6,
  MiB: 1024 ** 2,
  GB: 1e9,
  GiB: 1024 ** 3,
};

/** A number and its unit. The schema has checked the text, so it cannot be wrong here. */
function measure(text: string, units: Readonly<Record<string, number>>): number {
  const [, amount, unit = ''] = /^([\d.]+) ?(\w*)$/.exec(text.trim()) ?? [];
  return Number(amount) * (units[unit] ?? 1);
}

function rangeOf(written: string, one: (part: string) => number): Range {
  const [min = '', max = min] = written.split('-');
  return { min: one(min), max: one(max) };
}

/** The milliseconds of `30s`, `5m`, `250ms`. */
export const duration = (text: string): number => measure(text, MILLISECONDS);
/** The milliseconds of `50ms-2s`, or of one duration. */
export const durations = (text: string): Range => rangeOf(text, duration);

/** The rate per second of `50/s` or `12/h`. */
export function rate(text: string): number {
  const [amount = '', unit = ''] = text.split('/');
  return (Number(amount) * 1000) / (MILLISECONDS[unit.trim()] ?? 1000);
}

/** The share from 0 to 1 of `0.1` or `10 %`. */
export const share = (written: number | string): number =>
  typeof written === 'number' ? written : Number(written.replace('%', '')) / 100;

export const bytes = (written: number | string): number =>
  typeof written === 'number' ? written : Math.round(measure(written, BYTES));
export const byteRange = (written: number | string): Range =>
  typeof written === 'number' ? { min: written, max: written } : rangeOf(written, bytes);

const round = (value: number): string => String(Number(value.toPrecision(6)));

/** The shortest text for so many milliseconds. */
export function durationText(milliseconds: number): string {
  const fitting = Object.entries(MILLISECONDS).filter(([, size]) => milliseconds >= size && milliseconds % size === 0);
  const [unit, size] = fitting.at(-1) ?? (milliseconds >= 1000 ? ['s', 1000] : ['ms', 1]);
  return `${round(milliseconds / size)}${unit}`;
}
/** The bytes a second of `20 kB/s`. */
export const bytesPerSecond = (text: string): number => measure(text.replace('/s', ''), BYTES);
