import type { Micros } from './units.ts';

/** Seconds by which the clock of another party may differ from ours, wherever a time of theirs is compared with ours. */
export const TOLERANCE_SECONDS = 30;
export const TOLERANCE_MICROS: Micros = TOLERANCE_SECONDS * 1_000_000;

/** Whether something of another party is in date: from `from` on, and before `until`. */
export const isInDate = (now: Micros, { from, until }: { from: Micros; until: Micros }): boolean =>
  from - TOLERANCE_MICROS <= now && now < until + TOLERANCE_MICROS;
