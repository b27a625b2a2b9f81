import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { Millis } from '../../runtime/units.ts';
import type { Cleared, ClearedKind, Clearing } from '../applications/clearing.ts';
import { createPacing } from '../retention/pacing.ts';
import { removeSome, STEP_MS } from '../retention/remove-some.ts';
import { addCleared, findRunning, type Removal, saveProgress, saveStep } from './removal-repository.ts';

/** Milliseconds after a failure, and the failures in a row of which one is logged. */
const RETRY_MS = 3_000;
const LOGGED_OF = 20;
/**
 * Microseconds between the request and the first step on several nodes. Each keeps an application in memory for a second
 * after another node has changed it, and may accept a request meanwhile.
 */
const SETTLED_AFTER_MICROS = 2_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'removalsRunning' | 'removalProgress' | 'removalRemoved'>;
  /** True on one node only, and always without a cluster. */
  leads(): boolean;
  /** What is removed, in this order, which the references between the tables allow. */
  clearings: readonly Clearing[];
  /** Removes the row of the customer itself, in the unit of work that ends the removal. */
  endIn(unit: UnitOfWork, removal: Removal): Promise<void>;
  /** The factor by which a pause is longer than the step before it. */
  pauseFactor?: number;
}

const sumOf = (all: readonly Cleared[]): Cleared => {
  const sum: Cleared = {};
  for (const cleared of all)
    for (const [kind, count] of Object.entries(cleared))
      sum[kind as ClearedKind] = (sum[kind as ClearedKind] ?? 0) + count;
  return sum;
};

/**
 * Carries out removals, one after another, in units of work of two milliseconds with pauses between them. Nothing is
 * remembered of what was done but the numbers: a removal that was interrupted looks through everything again, and finds
 * what is left.
 */
export function createWorker({ database, clock, log, metrics, leads, clearings, endIn, pauseFactor }: Parts) {
  const { start, wake, idle, stop } = createBackgroundWork({
    clock,
    log,
    run: lookAll,
    retryMs: RETRY_MS,
    failed: 'removals could not be read; trying again',
  });
  const { pace, isStopped, stop: stopPacing } = createPacing(pauseFactor);
  let failures = 0;

  const goesOn = (): boolean => !isStopped() && leads();

  /** Removes some rows in one unit of work, which counts them. Returns how many were handled and removed. */
  async function step(clearing: Clearing, removal: Removal, found: readonly unknown[]) {
    const { removalId } = removal;
    const isApart = database.sideBySide && clearing.alone !== undefined;
    const some = isApart ? found.slice(0, 1) : found;
    const unitOfWork = async (unit: UnitOfWork) => {
      const done = await removeSome(database, unit, some, (_, one) => clearing.remove(unit, one, removal));
      const cleared = sumOf(done.removed);
      const counts = Object.entries(cleared).filter(([, removed]) => removed > 0);
      if (counts.length > 0) await saveProgress(unit, removalId, clock.now());
      for (const [kind, removed] of counts) await addCleared(unit, removalId, kind, removed);
      return { ...done, cleared };
    };
    const done = isApart
      ? await database.transact(unitOfWork, { about: clearing.alone?.(some[0]) })
      : await database.transact(unitOfWork, { pace: 'soon' });
    for (const one of some.slice(0, done.taken)) await clearing.removed?.(one);
    for (const [kind, count] of Object.entries(done.cleared)) metrics.removalRemoved.inc({ kind }, count);
    if (Object.values(done.cleared).some((count) => count > 0)) metrics.removalProgress.set(clock.now() / 1_000_000);
    return done;
  }

  /** Removes all rows of one kind. Returns how many rows were removed; undefined when the work must end. */
  async function clear(clearing: Clearing, removal: Removal): Promise<number | undefined> {
    let removed = 0;
    for await (const found of clearing.find(database.aside, removal)) {
      for (let at = 0; at < found.length; ) {
        if (!goesOn()) return undefined;
        const done = await step(clearing, removal, found.slice(at));
        at += done.taken;
        for (const count of Object.values(done.cleared)) removed += count;
        if (!(await pace(done.worked * database.ownShare))) return undefined;
      }
      if (found.length === 0 && !(await pace(STEP_MS))) return undefined;
    }
    return removed;
  }

  /** Carries out a removal. Returns false when the work must end before. */
  async function carryOut(removal: Removal): Promise<boolean> {
    const { removalId } = removal;
    for (let round = 0, removed = 1; removed > 0; round += 1) {
      removed = 0;
      for (const clearing of clearings) {
        if (round > 0 && clearing.once) continue;
        const { kind } = clearing;
        if (!goesOn()) return false;
        await database.transact((unit) => saveStep(unit, removalId, kind), { pace: 'soon' });
        const count = await clear(clearing, removal);
        if (count === undefined) return false;
        removed += count;
      }
    }
    if (!goesOn()) return false;
    await database.transact((unit) => endIn(unit, removal));
    log.info(
      { removalId, developerId: removal.developerId, applicationId: removal.applicationId },
      'a removal has ended',
    );
    return true;
  }

  /** Carries out all removals. Resolves to the milliseconds until the next look. */
  async function lookAll(): Promise<Millis> {
    let waitMs = database.lookAgainMs;
    for (let running = await find(); running.length > 0 && goesOn(); running = await find()) {
      let hasEnded = false;
      for (const removal of running) {
        if (database.shared && clock.now() < removal.requestedAt + SETTLED_AFTER_MICROS) continue;
        try {
          if (!(await carryOut(removal))) return waitMs;
          hasEnded = true;
          failures = 0;
        } catch (err) {
          waitMs = RETRY_MS;
          if (isDatabaseAway(err)) return waitMs;
          failures += 1;
          if (failures % LOGGED_OF === 1)
            log[levelOf(err)]({ err, removalId: removal.removalId }, 'a removal could not go on; trying again');
        }
      }
      if (!hasEnded) break;
    }
    return waitMs;
  }

  async function find(): Promise<Removal[]> {
    const running = leads() ? await findRunning(database.read) : [];
    if (running.length > 0 && (await metrics.removalsRunning.get()).values[0]?.value === 0)
      metrics.removalProgress.set(clock.now() / 1_000_000);
    metrics.removalsRunning.set(running.length);
    return running;
  }

  return {
    start,
    wake,
    idle,

    async stop(): Promise<void> {
      stopPacing();
      await stop();
    },
  };
}
