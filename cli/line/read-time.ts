import { UsageError } from './usage-error.ts';

const FULL_TIME = '0000-01-01T00:00:00.000000';
/**
 * Completes the beginning of a date-time with zeros: of a local one, or with `Z` at its end of one in UTC. Throws a
 * UsageError.
 */
export function readTime(option: string, text: string): string {
  const [, given = '', zone = ''] = /^([^Z]*)(Z?)$/.exec(text.replace(' ', 'T')) ?? [];
  const full = given + FULL_TIME.slice(given.length);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/.test(full)) return full + zone;
  throw new UsageError(`--${option}`, `"${text}" is not a time such as 2026-11-20 or 2026-11-20T09:30`);
}
