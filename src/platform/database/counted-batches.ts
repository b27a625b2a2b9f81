import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Database, Pace, Sql, UnitOfWork } from './sql.ts';

/** Microseconds after which the name of a batch is useless, because its process has ended or stores others. */
const KEPT_MICROS = 48 * 3_600_000_000;

interface Parts<Counts> {
  database: Pick<Database, 'transact'>;
  clock: Pick<Clock, 'now'>;
  ids: Ids;
  /** Adds the counts to what is stored. */
  add(unit: UnitOfWork, counts: Counts): Promise<void>;
}

/**
 * Adds counts to rows, each batch once. The answer of a commit can be lost, so a batch is kept until its commit was seen, and
 * then tried again; the unit adds nothing if the batch has been stored. Batches are stored one after another.
 */
export function createCountedBatches<Counts>({ database, clock, ids, add }: Parts<Counts>) {
  const writer = ids.next('counts', clock.now());
  let number = 0;
  let waiting: Counts | undefined;

  async function store(counts: Counts, pace: Pace): Promise<void> {
    await database.transact(
      async (unit) => {
        if (await isNew(unit, writer, number, clock.now())) await add(unit, counts);
      },
      { pace },
    );
    waiting = undefined;
  }

  return {
    /** Whether a batch waits because its commit was not seen. */
    isWaiting: (): boolean => waiting !== undefined,

    /** Tries the batch again that waits, if there is one. Throws what the commit throws; the batch then waits on. */
    async again(pace: Pace = 'soon'): Promise<void> {
      if (waiting !== undefined) await store(waiting, pace);
    },

    /** Stores a batch; none may wait. Throws what the commit throws; the batch then waits, and must not be given again. */
    async store(counts: Counts, pace: Pace = 'soon'): Promise<void> {
      number += 1;
      waiting = counts;
      await store(counts, pace);
    },
  };
}

const isNew = async (sql: Sql, writer: string, batch: number, at: Micros): Promise<boolean> =>
  (await sql.run(
    `INSERT INTO counted_batches (writer, batch, at) VALUES (?, ?, ?)
     ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at
       WHERE counted_batches.batch <> excluded.batch`,
    writer,
    batch,
    at,
  )) > 0;

/** Forgets the batches of processes that have ended. */
export const forgetBatches = (sql: Sql, now: Micros): Promise<number> =>
  sql.run('DELETE FROM counted_batches WHERE at < ?', now - KEPT_MICROS);
