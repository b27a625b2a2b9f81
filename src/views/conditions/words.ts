const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const GIB = 1024 ** 3;

/** A number as people read it: `12,345`. */
export const number = (count: number): string => new Intl.NumberFormat('en').format(count);

/** A number of things, with their noun and perhaps a verb: `1 device is`, `2 devices are`. */
export const counted = (count: number, one: string, more: string): string =>
  `${number(count)} ${count === 1 ? one : more}`;

export const percent = (part: number, all: number): string => `${Math.max(1, Math.round((100 * part) / all))} %`;

export const days = (count: number): string => counted(count, 'day', 'days');

/** A length of time, in whole units of which there are at least two. */
export function lasting(seconds: number): string {
  if (seconds < 2 * MINUTE) return counted(Math.round(seconds), 'second', 'seconds');
  if (seconds < 2 * HOUR) return counted(Math.floor(seconds / MINUTE), 'minute', 'minutes');
  if (seconds < 2 * DAY) return counted(Math.floor(seconds / HOUR), 'hour', 'hours');
  return days(Math.floor(seconds / DAY));
}

export const size = (bytes: number): string =>
  bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
