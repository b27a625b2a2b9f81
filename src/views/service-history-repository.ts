import type { Sql } from '../platform/database/sql.ts';
import { ROWS_PER_READ } from '../platform/database/sweep.ts';
import type { Micros } from '../runtime/units.ts';
import type { NodeState } from './node-state.ts';
import { nothingYet, type ServiceFigures } from './service-figures.ts';

/** The key of a row: five minutes of a node. */
export interface ServiceRowKey {
  at: Micros;
  nodeId: string;
}

export interface ServiceRow extends ServiceRowKey {
  diskFree: number | null;
  diskSize: number | null;
  figures: ServiceFigures;
  state: NodeState;
}

/** The figures that a node has already stored for these five minutes; empty before the first time. */
export async function findFigures(sql: Sql, { at, nodeId }: ServiceRowKey): Promise<ServiceFigures> {
  const row = await sql.get<{ figures: string }>(
    'SELECT figures FROM service_history WHERE at = ? AND node_id = ?',
    at,
    nodeId,
  );
  return row ? (JSON.parse(row.figures) as ServiceFigures) : nothingYet();
}

/** Stores the row of these five minutes in place of the one before. */
export async function saveFigures(sql: Sql, row: ServiceRow): Promise<void> {
  await sql.run(
    `INSERT INTO service_history (at, node_id, disk_free, disk_size, figures, state) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (at, node_id) DO UPDATE SET disk_free = excluded.disk_free, disk_size = excluded.disk_size,
       figures = excluded.figures, state = excluded.state`,
    row.at,
    row.nodeId,
    row.diskFree,
    row.diskSize,
    JSON.stringify(row.figures),
    JSON.stringify(row.state),
  );
}

/** The most rows of one read, so that the reading thread is not held for long. */
export const AT_ONCE = 200;

/** Reads a page of the figures of all nodes from a row on, which is left out, in order of time. */
export async function listFigures(
  sql: Sql,
  { at, nodeId }: ServiceRowKey,
): Promise<(ServiceRowKey & { figures: ServiceFigures })[]> {
  const rows = await sql.all<ServiceRowKey & { figures: string }>(
    `SELECT at, node_id AS "nodeId", figures FROM service_history
     WHERE at >= ? AND (at > ? OR node_id > ?) ORDER BY at, node_id LIMIT ${AT_ONCE}`,
    at,
    at,
    nodeId,
  );
  return rows.map(({ figures, ...key }) => ({ ...key, figures: JSON.parse(figures) as ServiceFigures }));
}

/** Reads the free space of all nodes since a time, the last of each hour. */
export const listDisks = (
  sql: Sql,
  from: Micros,
): Promise<{ at: Micros; nodeId: string; free: number; size: number }[]> =>
  sql.all(
    `SELECT s.at AS at, s.node_id AS "nodeId", s.disk_free AS free, s.disk_size AS size FROM service_history s
     JOIN (SELECT MAX(at) AS at, node_id FROM service_history WHERE at >= ? AND disk_free IS NOT NULL
           GROUP BY node_id, at - at % 3600000000) AS last ON last.at = s.at AND last.node_id = s.node_id
     ORDER BY s.node_id, s.at`,
    from,
  );

/** Reads the newest state of each node since a time. */
export async function listStates(sql: Sql, from: Micros): Promise<(ServiceRowKey & { state: NodeState })[]> {
  const rows = await sql.all<ServiceRowKey & { state: string }>(
    `SELECT s.at AS at, s.node_id AS "nodeId", s.state AS state FROM service_history s
     JOIN (SELECT MAX(at) AS at, node_id FROM service_history WHERE at >= ? GROUP BY node_id) AS last
       ON last.at = s.at AND last.node_id = s.node_id
     ORDER BY s.node_id`,
    from,
  );
  return rows.map(({ state, ...row }) => ({ ...row, state: JSON.parse(state) as NodeState }));
}

export const findOldServiceRows = (sql: Sql, before: number): Promise<ServiceRowKey[]> =>
  sql.all(
    `SELECT at, node_id AS "nodeId" FROM service_history WHERE at < ? ORDER BY at, node_id LIMIT ${ROWS_PER_READ}`,
    before,
  );

export const removeServiceRow = (sql: Sql, { at, nodeId }: ServiceRowKey): Promise<number> =>
  sql.run('DELETE FROM service_history WHERE at = ? AND node_id = ?', at, nodeId);

/** The beginning of the oldest row in microseconds; null when there is no row. */
export async function findOldestServiceRow(sql: Sql): Promise<number | null> {
  return (await sql.get<{ at: number | null }>('SELECT MIN(at) AS at FROM service_history'))?.at ?? null;
}
