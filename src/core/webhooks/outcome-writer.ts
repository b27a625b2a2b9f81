import { isDatabaseAway } from '../../errors.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { type Outcome, saveOutcome } from './delivery-repository.ts';

// Outcomes of one unit of work: more would hold up the writers behind it.
const BATCH = 128;
// Milliseconds before a write that failed is tried again, doubled each time.
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

interface Options<Written extends Outcome> {
  database: Database;
  clock: Clock;
  log: Log;
  /** What else is to be written with outcomes, which are in the order in which they came. */
  also(unit: UnitOfWork, batch: readonly Written[]): Promise<void>[] | undefined;
  /** Called for each outcome after its commit; it does not count when the delivery was asked for again meanwhile. */
  written(outcome: Written, counts: boolean): void;
  /** Called when nothing is being written any more. */
  rested(): void;
}

/** The order in which all change deliveries, so that two of them never wait for each other. */
const byKey = (a: Outcome, b: Outcome): number =>
  compare(a.applicationId, b.applicationId) || compare(a.deliveryId, b.deliveryId);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Writes outcomes of attempts, nobody waits for it: what comes while a unit of work is on its way goes together into
 * the next. After a failure they are kept and tried again after a pause; a crash before a write means that the
 * receiver gets the same webhook-id again, which it must expect.
 */
export function createOutcomeWriter<Written extends Outcome>(options: Options<Written>) {
  const { database, clock, log, also, written, rested } = options;
  let waiting: Written[] = [];
  let writing: Promise<void> | undefined;
  let pause = FIRST_PAUSE;
  let cancelPause: (() => void) | undefined;

  async function writeBatch(): Promise<void> {
    let batch: Written[] = [];
    let counts: boolean[] = [];
    await database.transactSoon(async (unit) => {
      batch = waiting.splice(0, BATCH); // when the unit runs, not when it was asked for: so more share it
      unit.onRollback(() => {
        waiting = [...batch, ...waiting];
      });
      const others = also(unit, batch);
      if (database.concurrent) batch.sort(byKey);
      // Begun together, waited for together: one that fails while nobody waits for it would end the process.
      const outcomes = Promise.all(batch.map((outcome) => saveOutcome(unit, outcome)));
      [counts] = await inOneGo(outcomes, Promise.all(others ?? []));
    });
    for (const [index, outcome] of batch.entries()) written(outcome, counts[index] === true);
  }

  async function writeAll(): Promise<void> {
    try {
      while (waiting.length > 0) await writeBatch();
      pause = FIRST_PAUSE;
    } catch (cause) {
      if (!isDatabaseAway(cause))
        log.error({ err: cause, outcomes: waiting.length }, 'outcomes of webhooks could not be written; they are kept');
      cancelPause = clock.after(pause, () => {
        cancelPause = undefined;
        begin();
      });
      pause = Math.min(pause * 2, LONGEST_PAUSE);
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
    /** Something is being written now; a pause after a failure is no work. */
    busy: (): boolean => writing !== undefined,
    /** Writes what it has; what then fails stays pending, and is sent again after the next start. */
    async close(): Promise<void> {
      cancelPause?.();
      begin();
      await writing;
      cancelPause?.();
    },
  };
}
