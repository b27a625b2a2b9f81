import type { RolloutResults } from '@lapel/schemas/contracts/types';
import { countResults, lastResultAt } from '../core/rollouts/member-repository.ts';
import type { Rollout } from '../core/rollouts/rollout.ts';
import type { Sql } from '../platform/database/sql.ts';
import { toUtc } from '../runtime/clock.ts';

const MOST_INTERVALS = 120;
/** Lengths of intervals in seconds, which people read easily. Beyond the last one, whole days. */
const LENGTHS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200];
const DAY = 86_400;
const MICROS = 1_000_000;

/** The shortest length of intervals, at most 120 of which cover so many seconds. */
function intervalFor(seconds: number): number {
  const needed = seconds / MOST_INTERVALS;
  return LENGTHS.find((length) => length >= needed) ?? Math.ceil(needed / DAY) * DAY;
}

/**
 * The results of a rollout over time, from its start until the latest result: a rollout that rests for days keeps its
 * short intervals. They are counted when they are asked for.
 */
export async function rolloutResults(
  sql: Sql,
  { rolloutId, startedAt }: Pick<Rollout, 'rolloutId' | 'startedAt'>,
): Promise<RolloutResults> {
  const last = startedAt === null ? undefined : await lastResultAt(sql, rolloutId);
  const from = startedAt === null ? null : startedAt - (startedAt % MICROS);
  if (from === null || last === undefined)
    return { from: from === null ? null : toUtc(from), intervalSeconds: intervalFor(0), results: [] };
  const intervalSeconds = intervalFor((last - from) / MICROS);
  const width = intervalSeconds * MICROS;
  const results = new Map<number, RolloutResults['results'][number]>();
  for (const { slot, state, devices } of await countResults(sql, rolloutId, { from, width })) {
    // A result can come between the two statements.
    const place = Math.min(slot, MOST_INTERVALS);
    const result = results.get(place) ?? { at: toUtc(from + place * width), succeeded: 0, failed: 0 };
    result[state] += devices;
    results.set(place, result);
  }
  return { from: toUtc(from), intervalSeconds, results: [...results.values()] };
}
