const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Reads a duration by the schema common/duration (`7d`, `12h`, `30m`, `45s`) into microseconds. */
export const readDuration = (text: string): number =>
  Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0) * 1_000_000;
