import type { Database, UnitOfWork } from '../../platform/database/sql.ts';

/** Milliseconds of the event loop that a unit of work takes. */
export const STEP_MS = 2;

/**
 * Removes rows inside a unit of work for STEP_MS at most. Returns how many of the found rows were handled, what `remove`
 * returned for each, and the milliseconds that it took.
 */
export async function removeSome<Found, Removed>(
  database: Pick<Database, 'statementsAtOnce'>,
  unit: UnitOfWork,
  found: readonly Found[],
  remove: (unit: UnitOfWork, one: Found) => Promise<Removed>,
): Promise<{ taken: number; removed: Removed[]; worked: number }> {
  const started = performance.now();
  let taken = 0;
  const removed: Removed[] = [];
  while (taken < found.length && performance.now() - started < STEP_MS) {
    const some = found.slice(taken, taken + database.statementsAtOnce);
    removed.push(...(await Promise.all(some.map((one) => remove(unit, one)))));
    taken += some.length;
  }
  return { taken, removed, worked: performance.now() - started };
}
