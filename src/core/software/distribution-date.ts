const FLOOR = '2026-03-26';

/**
 * The start of a distribution as the interface shows it: one on or before 2026-03-26 is shown as that day
 * (specification, "Distribution status").
 *
 * @param formatTime formats microseconds as a local date-time
 */
export function distributionDate(startedAt: number, formatTime: (micros: number) => string): string {
  const date = formatTime(startedAt);
  return date.slice(0, FLOOR.length) <= FLOOR ? `${FLOOR}T00:00:00.000000` : date;
}
