/** The range of ten percent that a level of a battery is in: `0-9` to `90-100`. */
export function tensOf(level: number): string {
  const from = Math.min(9, Math.floor(level / 10)) * 10;
  return `${from}-${from === 90 ? 100 : from + 9}`;
}
