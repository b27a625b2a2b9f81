import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { byKey, type Outcome } from './delivery.ts';
import type { DueDeliveries } from './due-deliveries.ts';

// The most outcomes in one unit of work; more would delay the units behind it.
const BATCH = 128;
// Milliseconds before a failed write is tried again, doubled each time.
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

interface Options<Written extends Outcome> {
  database: Database;
  clock: Clock;
  log: Log;
  /** Stores further rows together with the outcomes, which are in the order of arrival. */
  also(unit: UnitOfWork, batch: readonly Written[]): Promise<void>[] | undefined;
  saveOutcome: DueDeliveries['saveOutcome'];
  /** Called in the unit of work behind the outcomes. */
  behind(unit: UnitOfWork, batch: readonly Written[]): Promise<void> | undefined;
  /**
   * Called for each outcome after its commit. `counts` is false when the outcome is ignored, because the delivery was
   * asked to be sent again during the attempt.
   */
  written(outcome: Written, counts: boolean): void;
  /** Called when no write is running any more. */
  rested(): void;
}

/**
 * Stores outcomes of attempts in the background. Outcomes that come during a unit of work go together into the next one.
 * After a failure they are kept and written again after a pause. After a crash before a write, the receiver gets the same
 * webhook-id again, which it must expect.
 */
export function createOutcomeWriter<Written extends Outcome>(options: Options<Written>) {
  const { database, clock, log, also, saveOutcome, behind, written, rested } = options;
  let waiting: Written[] = [];
  let writing: Promise<void> | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let cancelPause: (() => void) | undefined;

  function pause(): void {
    cancelPause ??= clock.after(pauseMs, () => {
      cancelPause = undefined;
      begin();
    });
  }

  async function writeBatch(): Promise<void> {
    await database.transact(
      async (unit) => {
        const batch = waiting.splice(0, BATCH); // taken here and not at the call, so that outcomes that came since are included
        unit.onRollback(() => {
          waiting = [...batch, ...waiting];
          if (!writing) pause(); // a unit can be rolled back long after the wait for it was given up
        });
        await Promise.all(also(unit, batch) ?? []);
        // A copy is sorted: after a rollback the outcomes are written again, and `also` needs their order of arrival.
        const counts: boolean[] = [];
        const ordered = database.sideBySide ? batch.toSorted(byKey) : batch;
        for (const [index, outcome] of ordered.entries())
          saveOutcome(unit, outcome, (isStored) => {
            counts[index] = isStored;
          });
        await behind(unit, ordered);
        // Told by the commit, because a unit may commit after the wait for it was given up.
        unit.onCommit(() => {
          for (const [index, outcome] of ordered.entries()) written(outcome, counts[index] === true);
        });
      },
      { pace: 'soon' },
    );
  }

  async function writeAll(): Promise<void> {
    try {
      while (waiting.length > 0) await writeBatch();
      pauseMs = FIRST_PAUSE_MS;
    } catch (cause) {
      if (!isDatabaseAway(cause))
        log.error({ err: cause, outcomes: waiting.length }, 'outcomes of webhooks could not be written; they are kept');
      pause();
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    writing = undefined;
    rested();
  }

  function begin(): void {
    if (waiting.length > 0) writing ??= writeAll();
  }

  return {
    add(outcome: Written): void {
      waiting.push(outcome);
      if (!cancelPause) begin();
    },
    /** Writes at once what waits for the end of a pause. */
    hurry(): void {
      cancelPause?.();
      cancelPause = undefined;
      begin();
    },
    /** Whether a write is running; a pause after a failure does not count. */
    busy: (): boolean => writing !== undefined,
    /** Writes the remaining outcomes. Deliveries whose write fails stay pending, and are sent again after the next start. */
    async close(): Promise<void> {
      cancelPause?.();
      begin();
      await writing;
      cancelPause?.();
    },
  };
}
