import type { Sql, UnitOfWork } from '../platform/database/sql.ts';
import { ROWS_PER_READ } from '../platform/database/sweep.ts';
import type { Micros } from '../runtime/units.ts';

/** Figures of the whole service, which one node records for all nodes; times in microseconds. */
export interface Shared {
  devices: number;
  activated: number;
  due: number;
  oldestDue: number;
  pending: number;
  failing: number;
}

/** Figures of one node, which each node records for itself. */
export interface Own {
  connected: number;
  created: number;
  finished: number;
  failed: number;
  attemptsFailed: number;
  /** The delay of the node's event loop in microseconds; null when it was not measured. */
  loopDelay: number | null;
}

export interface Sample extends Own {
  /** The beginning, in microseconds, of the ten seconds that the sample is about. */
  at: number;
  nodeId: string;
  shared: Shared | null;
}

const COLUMNS = `devices, activated, due, oldest_due, pending, failing, connected, created, finished, failed, attempts_failed,
  loop_delay`;

/**
 * Stores a sample of ten seconds. If the node has already stored one for the same time, the counts of events are added
 * to that row.
 */
export async function insertSample(sql: Sql, { at, nodeId, shared, ...own }: Sample): Promise<void> {
  await sql.run(
    `INSERT INTO fleet_history (step, at, node_id, ${COLUMNS}) VALUES (10, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (step, at, node_id) DO UPDATE SET created = fleet_history.created + excluded.created,
       finished = fleet_history.finished + excluded.finished, failed = fleet_history.failed + excluded.failed,
       attempts_failed = fleet_history.attempts_failed + excluded.attempts_failed`,
    at,
    nodeId,
    shared?.devices ?? null,
    shared?.activated ?? null,
    shared?.due ?? null,
    shared?.oldestDue ?? null,
    shared?.pending ?? null,
    shared?.failing ?? null,
    own.connected,
    own.created,
    own.finished,
    own.failed,
    own.attemptsFailed,
    own.loopDelay,
  );
}

// How several rows become one: it gets the highest number of waiting rows and the longest delay, the mean of the
// numbers of devices, and the sum of the events.
const mean = (column: string): string => `CAST(ROUND(AVG(${column})) AS BIGINT)`;
const GATHERED = `${mean('devices')}, ${mean('activated')}, MAX(due), MAX(oldest_due), MAX(pending), MAX(failing),
  ${mean('connected')}, SUM(created), SUM(finished), SUM(failed), SUM(attempts_failed), MAX(loop_delay)`;

/**
 * Combines rows of `from` seconds that are older than `before` into rows of `to` seconds. At `before`, which is in
 * microseconds, a row of `to` seconds must begin.
 */
export async function thin(unit: UnitOfWork, from: number, to: number, before: number): Promise<void> {
  await unit.run(
    `INSERT INTO fleet_history (step, at, node_id, ${COLUMNS})
     SELECT CAST(? AS BIGINT), begun, node_id, ${GATHERED} FROM
       (SELECT *, at - at % CAST(? AS BIGINT) AS begun FROM fleet_history WHERE step = ? AND at < ?) AS looked
     WHERE 1 = 1 GROUP BY begun, node_id
     ON CONFLICT (step, at, node_id) DO NOTHING`,
    to,
    to * 1_000_000,
    from,
    before,
  );
  await unit.run('DELETE FROM fleet_history WHERE step = ? AND at < ?', from, before);
}

export type Point = Own & { at: number } & { [Name in keyof Shared]: number | null };

/** Reads the points since a time, in order. Each point combines the rows of all nodes in `length` microseconds. */
export const listPoints = (sql: Sql, since: Micros, length: number): Promise<Point[]> =>
  sql.all<Point>(
    `SELECT begun AS at, MAX(devices) AS devices, MAX(activated) AS activated, MAX(due) AS due,
       MAX(oldest_due) AS "oldestDue", MAX(pending) AS pending, MAX(failing) AS failing, SUM(connected) AS connected,
       SUM(created) AS created, SUM(finished) AS finished, SUM(failed) AS failed,
       SUM(attempts_failed) AS "attemptsFailed", MAX(loop_delay) AS "loopDelay" FROM
         (SELECT begun, node_id, ${mean('devices')} AS devices, ${mean('activated')} AS activated, MAX(due) AS due,
            MAX(oldest_due) AS oldest_due, MAX(pending) AS pending, MAX(failing) AS failing,
            ${mean('connected')} AS connected, SUM(created) AS created, SUM(finished) AS finished, SUM(failed) AS failed,
            SUM(attempts_failed) AS attempts_failed, MAX(loop_delay) AS loop_delay
          FROM (SELECT *, at - at % CAST(? AS BIGINT) AS begun FROM fleet_history WHERE step IN (10, 60, 600) AND at >= ?) AS looked
          GROUP BY begun, node_id) AS each_node
     GROUP BY begun ORDER BY begun`,
    length,
    since,
  );

/**
 * The number of devices that were connected to all nodes between two times, in microseconds: the mean over time. Null
 * when nothing was recorded.
 */
export async function connectedBetween(sql: Sql, from: Micros, until: Micros): Promise<number | null> {
  const row = await sql.get<{ connected: number | null }>(
    `SELECT ${mean('connected')} AS connected FROM
       (SELECT SUM(connected) AS connected FROM fleet_history WHERE step IN (10, 60, 600) AND at >= ? AND at < ?
        GROUP BY step, at) AS each_time`,
    from,
    until,
  );
  return row?.connected ?? null;
}

/** The key of a row, by which old rows are deleted. */
export interface HistoryKey {
  step: number;
  at: number;
  nodeId: string;
}

export const findOldSamples = (sql: Sql, before: number): Promise<HistoryKey[]> =>
  sql.all(
    `SELECT step, at, node_id AS "nodeId" FROM fleet_history WHERE step IN (10, 60, 600) AND at < ?
     ORDER BY at, step, node_id LIMIT ${ROWS_PER_READ}`,
    before,
  );

export const removeSample = (sql: Sql, { step, at, nodeId }: HistoryKey): Promise<number> =>
  sql.run('DELETE FROM fleet_history WHERE step = ? AND at = ? AND node_id = ?', step, at, nodeId);

/** The beginning of the oldest row in microseconds; null when there is no row. */
export async function findOldestSample(sql: Sql): Promise<number | null> {
  return (await sql.get<{ at: number | null }>('SELECT MIN(at) AS at FROM fleet_history'))?.at ?? null;
}
