import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { createSlowLook } from '../../runtime/slow-look.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import {
  claimPutOff,
  findPutOff,
  findUninspected,
  type PutOff,
  savePutOff,
  whenPutOffIsDue,
} from './binary-content-repository.ts';

/** The inspections that are taken up at a time. */
const AT_A_TIME = 100;
/** The longest pause between two searches while there are rows, or while other nodes may leave some. */
const SEARCH_MS = 60_000;
/** After this time an inspection that was begun counts as left by its process; all its tries take 17 minutes. */
const CLAIM_MS = 30 * 60_000;
/** A row that has been due for longer was overlooked. */
const OVERDUE_MS = 5 * SEARCH_MS;
const SECOND_MS = 1_000;

/** Why an inspection is put off: too many wait, it has failed too often, or the service stops. */
export type Why = 'full' | 'failed' | 'stopped';

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'inspectionsPutOff' | 'overlooked'>;
  work: ReturnType<typeof createWork>;
  /** The number of inspections that this process can take up now. */
  room(): number;
  /** Whether this process has the inspection in work already. */
  isHere(binaryId: string): boolean;
  /** Looks at the file of a version again. */
  take(row: PutOff): void;
}

/**
 * The inspections that wait in the database, since their process could not carry them out: a row of a binary without a
 * verdict. Each is taken up when it is due, by any node, and also after a restart. At the start the versions that are
 * distributed without a verdict are added, because a crash may have lost their inspections.
 */
export function createPutOffInspections(parts: Parts) {
  const { database, clock, log, metrics, work, room, isHere, take } = parts;
  const dueIn = (milliseconds: Millis): Micros => clock.now() + milliseconds * 1000;
  let cancel = (): void => undefined;
  let stopped = false;
  let isNew = true;

  function arm(milliseconds: Millis): void {
    cancel();
    cancel = stopped ? () => undefined : clock.after(milliseconds, search);
  }

  async function takeUp(): Promise<Millis> {
    if (isNew) {
      const lost = await findUninspected(database.read, AT_A_TIME);
      for (const { binaryId } of lost)
        await database.transact((unit) => savePutOff(unit, { binaryId, etag: null, dueAt: clock.now() }), {
          pace: 'soon',
        });
      isNew = lost.length === AT_A_TIME;
    }
    const found = await findPutOff(database.read, clock.now(), Math.min(AT_A_TIME, room()));
    for (const row of found) {
      const now = clock.now();
      const isMine = await database.transact((unit) => claimPutOff(unit, row.binaryId, now, dueIn(CLAIM_MS)), {
        pace: 'soon',
      });
      if (isMine && !stopped) take(row);
    }
    const next = isNew ? clock.now() : await whenPutOffIsDue(database.read);
    if (next === undefined) return Math.max(SEARCH_MS, database.lookAgainMs);
    return Math.min(SEARCH_MS, Math.max(SECOND_MS, (next - clock.now()) / 1000));
  }

  async function takeUpAndWait(): Promise<void> {
    work.begun();
    try {
      const milliseconds = await takeUp();
      if (Number.isFinite(milliseconds)) arm(milliseconds);
    } catch (err) {
      if (!stopped) log.error({ err }, 'the inspections that were put off could not be read; this is tried again');
      arm(SEARCH_MS);
    } finally {
      work.ended();
    }
  }
  const search = (): void => void takeUpAndWait();

  const overdue = (): Promise<PutOff[]> =>
    findPutOff(database.read, clock.now() - OVERDUE_MS * 1000, room() === 0 ? 0 : AT_A_TIME);

  const slowLook = createSlowLook<string>({
    clock,
    log,
    what: 'inspections',
    async *keys() {
      for (const { binaryId } of await overdue()) yield binaryId;
    },
    overlooked: async (binaryId) => {
      const isDue = !isHere(binaryId) && (await overdue()).some((row) => row.binaryId === binaryId);
      return isDue ? binaryId : undefined;
    },
    move: search,
    count: () => metrics.overlooked.inc({ what: 'inspections' }),
    pieceMs: SEARCH_MS,
  });
  search();

  return {
    /** Stores that a binary is due for its inspection in `afterMs`, unless it has a verdict for this ETag (null: unknown). */
    async put(
      { binaryId, etag }: { binaryId: string; etag: string | null },
      { why, afterMs }: { why: Why; afterMs: Millis },
    ): Promise<void> {
      work.begun();
      try {
        metrics.inspectionsPutOff.inc({ why });
        await database.transact((unit) => savePutOff(unit, { binaryId, etag, dueAt: dueIn(afterMs) }), {
          pace: 'soon',
        });
        arm(Math.min(afterMs, SEARCH_MS));
      } finally {
        work.ended();
      }
    },

    /** Stores that a try of this process failed: another process takes it up if this one ends before its last try. */
    claim: (binaryId: string, etag: string | null): Promise<void> =>
      database.transact((unit) => savePutOff(unit, { binaryId, etag, dueAt: dueIn(CLAIM_MS) }), { pace: 'soon' }),

    stop(): void {
      stopped = true;
      cancel();
      slowLook.stop();
    },
  };
}
