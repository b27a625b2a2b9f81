import type { Sql } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createRemembered } from '../../runtime/remembered.ts';
import { connectedBetween } from '../history-repository.ts';
import { median } from '../median.ts';
import type { Usual } from './of-fleet.ts';

const MINUTE = 60_000_000;
const DAY = 24 * 60 * MINUTE;
/** The days that are looked at, and how many must be known: one day alone may have been a bad one. */
const DAYS = 7;
const FEWEST = 2;
/** Microseconds around the same time of another day, and around half an hour ago. */
const AROUND = 15 * MINUTE;
/** Microseconds for which an answer serves. */
const KEPT = 5 * MINUTE;

/** Knows how many devices were connected at this time of other days, and half an hour ago. */
export function createUsual({ aside, clock }: { aside: Sql; clock: Clock }): () => Promise<Usual> {
  const remembered = createRemembered({ clock, keptMicros: KEPT });

  async function look(): Promise<Usual> {
    const now = clock.now();
    const at = (ago: number): Promise<number | null> => connectedBetween(aside, now - ago - AROUND, now - ago + AROUND);
    const [before, ...days] = await Promise.all([
      at(2 * AROUND),
      ...Array.from({ length: DAYS }, (_, day) => at((day + 1) * DAY)),
    ]);
    const known = days.filter((count) => count !== null);
    return { before: before ?? null, atThisHour: known.length < FEWEST ? null : Math.round(median(known) ?? 0) };
  }
  return () => remembered('usual', look);
}
