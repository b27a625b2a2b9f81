import { signal } from '@preact/signals';

/** The time zone in which all pages show times: that of the browser, or UTC. */
export type Zone = 'local' | 'utc';

export const zone = signal<Zone>('local');

/** Makes a formatter of times for each zone, and returns the one for the chosen zone. */
export function inZone(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  const make = (timeZone?: string) => new Intl.DateTimeFormat('en-GB', { ...options, ...(timeZone && { timeZone }) });
  const formatters = { local: make(), utc: make('UTC') };
  return () => formatters[zone.value];
}

const named = inZone({ timeZoneName: 'short' });
/** The name of the chosen zone at a moment, such as `UTC` or `GMT+9`: a local zone has others in summer. */
export const zoneName = (at: number = Date.now()): string =>
  named()
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';

const MINUTE = 60_000;

/** Whether the zone of the browser is UTC all year, so that there is nothing to choose. */
export const isAlwaysUtc = (year = new Date().getFullYear()): boolean =>
  [0, 3, 6, 9].every((month) => new Date(year, month).getTimezoneOffset() === 0);

/** Formats a time as the value of a field of the type `datetime-local`, in the chosen zone. */
export const toField = (at: number): string => {
  const shift = zone.peek() === 'utc' ? 0 : new Date(at).getTimezoneOffset() * MINUTE;
  return new Date(at - shift).toISOString().slice(0, 16);
};

/** Milliseconds by which the time of a page may be behind that of the service, because it advances every second only. */
const BEHIND = 5_000;

/** The value of such a field, which has whole minutes, for a moment behind everything that the service has stored by now. */
export const behindPresent = (at: number): string => toField(at + BEHIND + MINUTE);

/** Reads the value of such a field as a time in milliseconds; NaN when it is no time. */
export const fromField = (text: string): number => Date.parse(zone.peek() === 'utc' ? `${text}Z` : text);

/** The beginning of the day of a moment, in the chosen zone, in milliseconds. */
export const startOfDay = (at: number): number => fromField(`${toField(at).slice(0, 10)}T00:00`);
