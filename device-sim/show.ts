/** A duration as text: `1.53 s`. */
export function duration(milliseconds: number): string {
  const [unit, size] =
    milliseconds < 999.5
      ? ['ms', 1]
      : milliseconds < 120_000
        ? ['s', 1000]
        : milliseconds < 7_200_000
          ? ['min', 60_000]
          : ['h', 3_600_000];
  return `${Number((milliseconds / Number(size)).toPrecision(3))} ${unit}`;
}

/** A moment of a run: `1:05`, `1:02:05`. */
export function clock(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `25.5 kB`; `-25.5 kB` for a memory that has shrunk. */
export function bytes(count: number): string {
  const size = Math.abs(count);
  const [unit, divisor] =
    size >= 1e9 ? ['GB', 1e9] : size >= 1e6 ? ['MB', 1e6] : size >= 1000 ? ['kB', 1000] : ['B', 1];
  return `${Number((count / Number(divisor)).toPrecision(3))} ${unit}`;
}

/** `15 000`, with a space that does not break. */
export function count(value: number): string {
  const [whole = '', fraction] = String(Number(value.toFixed(1))).split('.');
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A line of a story: the time since the start of the run, the actor, and the event. */
export const storyLine = (milliseconds: number, who: string, text: string): string =>
  `+${(milliseconds / 1000).toFixed(3).padStart(9)} s  ${who.padEnd(8)}  ${text}`;
