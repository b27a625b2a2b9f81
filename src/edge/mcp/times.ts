import { toUtc } from '../../runtime/clock.ts';
import { Unanswered } from './session.ts';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const BACK = /^([1-9]\d{0,5})([dhms])$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z$/;

/** A time with its zone, to the second: UTC as `Z`, a local one with the name of the zone. */
export function time(text: string | null | undefined, zone = 'local time of the service'): string {
  if (text === null || text === undefined) return 'never';
  return text.endsWith('Z') ? `${text.slice(0, 19)}Z` : `${text.slice(0, 19)} ${zone}`;
}

/** When a device was last seen. */
export const seen = (text: string | null | undefined, zone?: string): string =>
  text == null ? 'never seen' : `last seen ${time(text, zone)}`;

/** Reads a begin or an end: a moment in UTC, or a time back from now, such as 24h or 7d. */
export function momentOf(text: string | undefined, now: number, name = 'since'): string | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = BACK.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return toUtc(now - Number(count) * SECONDS[unit]! * 1_000_000);
  if (!MOMENT.test(text)) {
    throw new Unanswered(
      `${name} should be a date-time in UTC, such as 2026-11-30T00:00:00Z, or a time back from now, such as 24h or 7d.`,
    );
  }
  return text.length === 17 ? `${text.slice(0, 16)}:00Z` : text;
}
