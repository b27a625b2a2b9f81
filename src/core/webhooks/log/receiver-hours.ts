import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import { createCountedBatches, forgetBatches } from '../../../platform/database/counted-batches.ts';
import type { Database, Pace, Sql, UnitOfWork } from '../../../platform/database/sql.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Ids } from '../../../runtime/ids.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Micros } from '../../../runtime/units.ts';
import type { ReceiverName } from '../delivery.ts';

export const HOUR_MICROS = 3_600_000_000;
/** Milliseconds in which attempts are counted in memory, before they are stored. */
const GATHER_MS = 10_000;
/** Microseconds for which hours are kept. */
const KEPT_MICROS = 48 * HOUR_MICROS;
const ROWS_PER_UNIT = 256;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** The attempts of a receiver that ended in an hour, which begins at `hour`. */
export interface ReceiverHour extends ReceiverName {
  hour: Micros;
  delivered: number;
  failed: number;
}

/** Adds to the attempts of an hour; nothing is stored for an application that was removed since. */
const addHour = (
  unit: UnitOfWork,
  { applicationId, setting, hour, delivered, failed }: ReceiverHour,
): Promise<number> =>
  unit.run(
    `INSERT INTO receiver_hours (application_id, setting, hour, delivered, failed)
     SELECT application_id, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT)
     FROM applications WHERE application_id = ?${unit.whileThere}
     ON CONFLICT (application_id, setting, hour) DO UPDATE SET delivered = receiver_hours.delivered + excluded.delivered,
       failed = receiver_hours.failed + excluded.failed`,
    setting,
    hour,
    delivered,
    failed,
    applicationId,
  );

/** The hours of all receivers since a time. */
export const listHours = (sql: Sql, since: Micros): Promise<ReceiverHour[]> =>
  sql.all(
    `SELECT application_id AS "applicationId", setting, hour, delivered, failed FROM receiver_hours WHERE hour >= ?`,
    since,
  );

/** The attempts of a receiver in the last 24 hours; those of the last seconds are not stored yet. */
export async function countAttempts(
  sql: Sql,
  { applicationId, setting }: ReceiverName,
  now: Micros,
): Promise<{ delivered: number; failed: number }> {
  const row = await sql.get<{ delivered: number | null; failed: number | null }>(
    `SELECT CAST(SUM(delivered) AS BIGINT) AS delivered, CAST(SUM(failed) AS BIGINT) AS failed FROM receiver_hours
     WHERE application_id = ? AND setting = ? AND hour > ?`,
    applicationId,
    setting,
    now - 24 * HOUR_MICROS,
  );
  return { delivered: row?.delivered ?? 0, failed: row?.failed ?? 0 };
}

/**
 * Counts the attempts of each receiver by hour. They are figures for people, so an attempt does not write them: they are
 * gathered for ten seconds, and a crash loses as much.
 */
export function createReceiverHours({ database, clock, ids, log }: Parts) {
  const batches = createCountedBatches<readonly ReceiverHour[]>({
    database,
    clock,
    ids,
    // Together, because a database may be a round trip away.
    add: async (unit, rows) => void (await Promise.all(rows.map((row) => addHour(unit, row)))),
  });
  /** The hours that are not stored yet, except the present ones. */
  let gathered = new Map<string, ReceiverHour>();
  /** The present hour of each receiver. Every attempt comes here, so its key is short. */
  let present = new Map<string, ReceiverHour>();
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let removedAt = 0;

  function arm(): void {
    cancel ??= clock.after(GATHER_MS, () => {
      cancel = undefined;
      if (writing) arm();
      else void flush('soon');
    });
  }

  function disarm(): void {
    cancel?.();
    cancel = undefined;
  }

  function add({ delivered, failed, ...row }: ReceiverHour): void {
    const key = `${row.applicationId} ${row.setting} ${row.hour}`;
    const known = gathered.get(key) ?? { ...row, delivered: 0, failed: 0 };
    known.delivered += delivered;
    known.failed += failed;
    gathered.set(key, known);
  }

  function flush(pace: Pace): Promise<void> {
    writing = write(pace).finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function write(pace: Pace): Promise<void> {
    // All units lock the rows in the same order, because two units with different orders could wait for each other.
    for (const row of present.values()) add(row);
    present = new Map();
    const rows = [...gathered].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    gathered = new Map();
    const now = clock.now();
    try {
      await batches.again(pace);
      while (rows.length > 0) await batches.store(rows.splice(0, ROWS_PER_UNIT), pace);
      if (now - removedAt < HOUR_MICROS) return;
      removedAt = now;
      await database.transact(
        async (unit) => {
          await unit.run('DELETE FROM receiver_hours WHERE hour < ?', now - KEPT_MICROS);
          await forgetBatches(unit, now);
        },
        { pace },
      );
    } catch (err) {
      for (const row of rows) add(row);
      if (rows.length > 0 || batches.isWaiting()) arm();
      if (!isDatabaseAway(err)) log.warn({ err }, 'the attempts of receivers could not be counted; trying again');
    }
  }

  return {
    /** Counts an attempt that has ended. */
    count({ applicationId, setting }: ReceiverName, isDelivered: boolean): void {
      const now = clock.now();
      const key = `${applicationId} ${setting}`;
      let row = present.get(key);
      if (!row || now - row.hour >= HOUR_MICROS) {
        if (row) add(row);
        row = { applicationId, setting, hour: now - (now % HOUR_MICROS), delivered: 0, failed: 0 };
        present.set(key, row);
      }
      if (isDelivered) row.delivered += 1;
      else row.failed += 1;
      arm();
    },

    idle: async (): Promise<void> => writing,

    async close(): Promise<void> {
      disarm();
      await writing;
      if (gathered.size + present.size > 0 || batches.isWaiting()) await flush('now');
      disarm();
    },
  };
}
