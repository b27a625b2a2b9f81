const FLOOR = '2026-03-26';

/**
 * When a distribution began, as the interface shows it: what began on or before 2026-03-26 began at that day
 * (specification, "Distribution status").
 *
 * @param formatTime microseconds as a local date-time
 */
export function distributionDate(startedAt: number, formatTime: (micros: number) => string): string {
  const date = formatTime(startedAt);
  return date.slice(0, FLOOR.length) <= FLOOR ? `${FLOOR}T00:00:00.000000` : date;
}
