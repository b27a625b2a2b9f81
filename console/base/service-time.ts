const ZONE = document.documentElement.dataset['timeZone'] ?? 'UTC';

const parts = new Intl.DateTimeFormat('en-CA', {
  timeZone: ZONE,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** Formats a time as a local date-time of the service with microseconds, as requests of an application need it. */
export function toServiceTime(milliseconds: number): string {
  const of = Object.fromEntries(parts.formatToParts(milliseconds).map(({ type, value }) => [type, value]));
  const rest = String(Math.floor(((milliseconds % 1000) + 1000) % 1000)).padStart(3, '0');
  return `${of['year']}-${of['month']}-${of['day']}T${of['hour']}:${of['minute']}:${of['second']}.${rest}000`;
}

/**
 * Converts a local time of the service into UTC; null stays null. A local time that occurs twice, because clocks were
 * put back, is taken as the later one.
 */
export function fromServiceTime(local: string | null): string | null {
  if (local === null) return null;
  const wall = Date.parse(`${local.slice(0, 23)}Z`);
  const shown = (at: number): number => Date.parse(`${toServiceTime(at).slice(0, 23)}Z`);
  const near = wall - (shown(wall) - wall);
  const exact = near - (shown(near) - wall);
  return `${new Date(exact).toISOString().slice(0, 23)}${local.slice(23)}Z`;
}
