import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Sql } from '../sql.ts';

/** Milliseconds for which a look waits for running transactions; then the numbers that were decided before count. */
const LONGEST_MS = 2_000;
/** Milliseconds after which the transactions that have given out a number are told from others. */
const QUICK_MS = 30;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

const LAST = 'SELECT last_value AS "last", is_called AS "isCalled" FROM event_numbers_number_seq';
// PostgreSQL has no cast from xid8 to a number. The end of a snapshot is not enough: it is behind the last transaction that
// has ended, and one that runs may have a higher identifier. So this takes an identifier itself, which is the highest.
const HIGHEST = 'SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) AS "at"';
const OLDEST = 'SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS "at"';
// A transaction that has given out a number holds this lock on the sequence until it has ended, and all can see its rows.
const NUMBERING = `SELECT DISTINCT virtualtransaction AS "id" FROM pg_locks
  WHERE locktype = 'relation' AND relation = CAST('event_numbers_number_seq' AS regclass) AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Tells up to which number the events are decided: each is committed, or will never be. Numbers are given out in another
 * order than transactions commit in, so a reader that went on behind an undecided one would never see its event.
 * A transaction has its identifier before its first number (`next_event_number`). So the numbers up to the one that was
 * given out last are decided as soon as all transactions have ended that had an identifier after that was read. Identifiers
 * are those of the whole server, and a transaction of somebody else can run for hours. So after a moment only those count
 * that have given out a number; to find them costs more.
 */
export function createDecidedEvents(read: Sql): () => Promise<number> {
  let decided: number | undefined;
  let running: Promise<number> | undefined;
  let next: Promise<number> | undefined;

  /** The identifier that such a query finds. */
  const ask = async (text: string): Promise<number> => (await read.get<{ at: number }>(text))?.at as number;

  const numbering = async (): Promise<string[]> => (await read.all<{ id: string }>(NUMBERING)).map(({ id }) => id);

  async function look(): Promise<number> {
    const sequence = await read.get<{ last: number; isCalled: boolean }>(LAST);
    const last = sequence?.isCalled ? sequence.last : 0;
    if (last <= (decided ?? 0)) return decided ?? 0;
    const startedAt = performance.now();
    const highest = await ask(HIGHEST);
    let undecided: string[] | undefined;
    for (let pause = FIRST_PAUSE_MS; (await ask(OLDEST)) < highest; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const waited = performance.now() - startedAt;
      if (waited > QUICK_MS) {
        const open = await numbering();
        undecided = undecided?.filter((id) => open.includes(id)) ?? open;
        if (undecided.length === 0) break;
      }
      if (waited > LONGEST_MS) {
        // Nothing is known yet on this node: no end of the stream is better than one at its beginning.
        if (decided === undefined) throw new DomainError('DATABASE_UNAVAILABLE');
        return decided;
      }
      await sleep(pause);
    }
    decided = Math.max(decided ?? 0, last);
    return decided;
  }

  /** Begins a look behind the running one, because that one may have read before the event of this caller. */
  function lookNext(): Promise<number> {
    next ??= (running ?? Promise.resolve(0))
      .catch(() => 0)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  }

  function begin(): Promise<number> {
    running = look().finally(() => {
      running = undefined;
    });
    return running;
  }

  return () => (running ? lookNext() : begin());
}
