import { columnOf } from '../core/applications/setting-columns.ts';
import { WEBHOOK_SETTINGS } from '../platform/contracts/values.ts';
import type { Sql } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/**
 * A number of waiting rows, with the earliest time among them in microseconds. Functions return undefined when there
 * are more rows than they may read.
 */
export interface Waiting {
  count: number;
  oldestAt: Micros | null;
}

const countOf = async (sql: Sql, text: string): Promise<number> =>
  (await sql.get<{ count: number | null }>(text))?.count ?? 0;

export const countDevices = (sql: Sql): Promise<number> => countOf(sql, 'SELECT count(*) AS count FROM devices');

/** The sum of the counters of all applications; the devices themselves are not counted. */
export const countActivated = (sql: Sql): Promise<number> =>
  countOf(sql, 'SELECT SUM(activated) AS count FROM activated_counts');

/** SQL that selects the URL column of a receiver by its setting. */
const URL_COLUMNS = WEBHOOK_SETTINGS.map((setting) => `WHEN '${setting}' THEN a.${columnOf(setting)}`).join(' ');

/** Counts receivers whose last attempt failed, and that still have a URL. */
export const countFailing = (sql: Sql): Promise<number> =>
  countOf(
    sql,
    `SELECT count(*) AS count FROM failing_receivers f JOIN applications a ON a.application_id = f.application_id
     WHERE a.deleted_at IS NULL AND CASE f.setting ${URL_COLUMNS} END IS NOT NULL`,
  );

/** Counts the transactions that are due for devices; reads at most `most`. */
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

/** Counts pending deliveries, with the earliest time at which one is due; reads at most `most`. */
export async function countPendingUpTo(sql: Sql, most: number): Promise<Waiting | undefined> {
  const row = await sql.get<Waiting>(
    `SELECT count(*) AS count, MIN(next_attempt_at) AS "oldestAt" FROM
       (SELECT next_attempt_at FROM deliveries WHERE status = 'pending' LIMIT (CAST(? AS BIGINT) + 1)) AS looked`,
    most,
  );
  return row && row.count <= most ? row : undefined;
}

/**
 * Counts unfinished transactions, without finished ones whose cancellation is still to be delivered. It must read each
 * row, at most `most`.
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

/** Counts devices by a property, the largest groups first; `all` is the number of devices in all groups. */
export const countGroups = (sql: Sql, by: keyof typeof GROUPS, limit: number): Promise<(Group & { all: number })[]> =>
  sql.all(
    `SELECT value, devices, SUM(devices) OVER () AS "all" FROM (${GROUPS[by]}) AS found
     ORDER BY devices DESC, value LIMIT ?`,
    limit,
  );

/** Counts devices by the version of a package, in the same way. */
export const countVersions = (sql: Sql, name: string, limit: number): Promise<(Group & { all: number })[]> =>
  sql.all(
    `SELECT value, devices, SUM(devices) OVER () AS "all" FROM
       (SELECT version AS value, count(*) AS devices FROM device_software WHERE package = ? GROUP BY version) AS found
     ORDER BY devices DESC, value LIMIT ?`,
    name,
    limit,
  );
