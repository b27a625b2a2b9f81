import { WEBHOOK_SETTINGS } from '@lapel/schemas/contracts/values';
import { columnOf } from '../core/applications/setting-columns.ts';
import type { Sql } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/**
 * A number of waiting rows, with the earliest of their times in microseconds. The functions below return undefined in
 * its place when there are more rows than they may read.
 */
export interface Waiting {
  count: number;
  oldestAt: Micros | null;
}

const countOf = async (sql: Sql, text: string): Promise<number> =>
  (await sql.get<{ count: number | null }>(text))?.count ?? 0;

export const countDevices = (sql: Sql): Promise<number> => countOf(sql, 'SELECT count(*) AS count FROM devices');

/**
 * Counts the activated devices, from the counter that each application has, which is faster than reading the devices.
 */
export const countActivated = (sql: Sql): Promise<number> =>
  countOf(sql, 'SELECT SUM(activated) AS count FROM activated_counts');

/** The cases of a CASE expression that selects the URL of a webhook setting from the columns of an application. */
const URL_COLUMNS = WEBHOOK_SETTINGS.map((setting) => `WHEN '${setting}' THEN a.${columnOf(setting)}`).join(' ');

/** Counts the receivers whose last attempt failed. A receiver whose URL was removed does not count. */
export const countFailing = (sql: Sql): Promise<number> =>
  countOf(
    sql,
    `SELECT count(*) AS count FROM failing_receivers f JOIN applications a ON a.application_id = f.application_id
     WHERE a.deleted_at IS NULL AND CASE f.setting ${URL_COLUMNS} END IS NOT NULL`,
  );

/** Counts the rollouts that the service itself has paused, so that somebody has to decide. */
export const countStopped = (sql: Sql): Promise<number> =>
  countOf(
    sql,
    `SELECT count(*) AS count FROM rollouts WHERE at_work = 1 AND state = 'paused' AND reason <> 'REQUESTED'`,
  );

/**
 * Counts the transactions that are still to be sent to devices, with the time of creation of the oldest. Reads at most
 * `most` rows.
 */
export async function countDueUpTo(sql: Sql, most: number): Promise<Waiting | undefined> {
  const row = await sql.get<Waiting>(
    `SELECT found.count AS count, t.created_at AS "oldestAt" FROM
       (SELECT count(*) AS count, MIN(transaction_id) AS first FROM
         (SELECT transaction_id FROM transactions WHERE due = 1 LIMIT (CAST(? AS BIGINT) + 1)) AS looked) AS found
       LEFT JOIN transactions t ON t.transaction_id = found.first`,
    most,
  );
  return row && row.count <= most ? row : undefined;
}

/** Counts the pending deliveries, with the earliest time of a next attempt. Reads at most `most` rows. */
export async function countPendingUpTo(sql: Sql, most: number): Promise<Waiting | undefined> {
  const row = await sql.get<Waiting>(
    `SELECT count(*) AS count, MIN(next_attempt_at) AS "oldestAt" FROM
       (SELECT next_attempt_at FROM deliveries WHERE status = 'pending' LIMIT (CAST(? AS BIGINT) + 1)) AS looked`,
    most,
  );
  return row && row.count <= most ? row : undefined;
}

/**
 * Counts the unfinished transactions, with the time of creation of the oldest. A cancelled transaction is finished,
 * although its cancellation may still be on its way to the device. The query reads each row that is still to be sent,
 * at most `most`.
 */
export async function countUnfinishedUpTo(sql: Sql, most: number): Promise<Waiting | undefined> {
  const row = await sql.get<Waiting & { seen: number }>(
    `SELECT count(*) AS seen, COUNT(CASE WHEN completed_at IS NULL THEN 1 END) AS count,
       MIN(CASE WHEN completed_at IS NULL THEN created_at END) AS "oldestAt" FROM
         (SELECT created_at, completed_at FROM transactions WHERE due = 1 LIMIT (CAST(? AS BIGINT) + 1)) AS looked`,
    most,
  );
  return row && row.seen <= most ? { count: row.count, oldestAt: row.oldestAt } : undefined;
}

/** The unfinished commands, by the step that they wait for. */
export interface WaitingSteps {
  published: number;
  received: number;
  answered: number;
}

/**
 * Counts the unfinished commands by the step that they wait for: the first publish, the PUBACK, the result. Reads at
 * most `most` rows.
 */
export async function countStepsUpTo(sql: Sql, most: number): Promise<WaitingSteps | undefined> {
  const row = await sql.get<WaitingSteps & { seen: number }>(
    `SELECT count(*) AS seen, COUNT(CASE WHEN completed_at IS NULL AND attempts = 0 THEN 1 END) AS published,
       COUNT(CASE WHEN completed_at IS NULL AND attempts > 0 AND status = 'queued' THEN 1 END) AS received,
       COUNT(CASE WHEN completed_at IS NULL AND attempts > 0 AND status <> 'queued' THEN 1 END) AS answered FROM
         (SELECT completed_at, attempts, status FROM transactions WHERE due = 1 LIMIT (CAST(? AS BIGINT) + 1)) AS looked`,
    most,
  );
  if (!row || row.seen > most) return undefined;
  return { published: row.published, received: row.received, answered: row.answered };
}

interface Group {
  value: string | null;
  devices: number;
}

const GROUPS = {
  firmware: `SELECT firmware AS value, count(*) AS devices FROM device_status WHERE firmware IS NOT NULL GROUP BY firmware`,
  battery: `SELECT CAST(battery AS TEXT) AS value, count(*) AS devices FROM device_status WHERE battery IS NOT NULL GROUP BY battery`,
  package: 'SELECT package AS value, count(*) AS devices FROM device_software GROUP BY package',
  developer: 'SELECT developer_id AS value, count(*) AS devices FROM devices GROUP BY developer_id',
  application: `SELECT application_id AS value, count(*) AS devices FROM devices WHERE application_id IS NOT NULL
    GROUP BY application_id`,
  activation: 'SELECT activation AS value, count(*) AS devices FROM devices GROUP BY activation',
} as const;

/**
 * Counts devices in groups that have the same value of a property, the largest group first. `all` is the number of
 * devices that have a value.
 */
export const countGroups = (sql: Sql, by: keyof typeof GROUPS, limit: number): Promise<(Group & { all: number })[]> =>
  sql.all(
    `SELECT value, devices, SUM(devices) OVER () AS "all" FROM (${GROUPS[by]}) AS found
     ORDER BY devices DESC, value LIMIT ?`,
    limit,
  );

/**
 * Counts the devices that have a package installed, in groups by its version, the largest group first. `all` is the
 * number of these devices.
 */
export const countVersions = (sql: Sql, name: string, limit: number): Promise<(Group & { all: number })[]> =>
  sql.all(
    `SELECT value, devices, SUM(devices) OVER () AS "all" FROM
       (SELECT version AS value, count(*) AS devices FROM device_software WHERE package = ? GROUP BY version) AS found
     ORDER BY devices DESC, value LIMIT ?`,
    name,
    limit,
  );
