import type { StoredChange } from '../core/devices/sample.ts';
import { FACTS } from '../core/sessions/connection-log.ts';
import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import type { Sql } from '../platform/database/sql.ts';
import { idsFrom } from '../runtime/ids.ts';
import type { Micros } from '../runtime/units.ts';

/** The last report of a device in an hour (hours since 1970). */
export interface SampleRow {
  deviceId: string;
  hour: number;
  battery: number | null;
  isCharging: number | null;
  rssi: number | null;
  freeMebibytes: number | null;
  changes: readonly StoredChange[];
}

type Stored = Omit<SampleRow, 'changes'> & { changes: string | null };

/** The samples of devices since an hour, by device and in the order of time. There are 200 devices at most. */
export async function listSamples(sql: Sql, deviceIds: readonly string[], since: number): Promise<SampleRow[]> {
  const rows: SampleRow[] = [];
  for (const list of inLists(deviceIds)) {
    const text = `SELECT device_id AS "deviceId", hour, battery, is_charging AS "isCharging", rssi,
        free_mebibytes AS "freeMebibytes", changes
      FROM device_samples WHERE device_id IN ${IN_LIST} AND hour >= ? ORDER BY device_id, hour`;
    for (const row of await sql.all<Stored>(text, ...list, since))
      rows.push({ ...row, changes: row.changes === null ? [] : JSON.parse(row.changes) });
  }
  return rows;
}

/** The version that each of the devices reported last: of a package, or, for null, of its firmware. */
export async function versionsOf(
  sql: Sql,
  deviceIds: readonly string[],
  name: string | null,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const list of inLists(deviceIds)) {
    const text =
      name === null
        ? `SELECT device_id AS "deviceId", firmware AS version FROM device_status
           WHERE device_id IN ${IN_LIST} AND firmware IS NOT NULL`
        : `SELECT device_id AS "deviceId", version FROM device_software WHERE device_id IN ${IN_LIST} AND package = ?`;
    const values = name === null ? list : [...list, name];
    for (const row of await sql.all<{ deviceId: string; version: string }>(text, ...values))
      found.set(row.deviceId, row.version);
  }
  return found;
}

/** A connection of a device; `until` is null while it lasts. */
export interface Connected {
  deviceId: string;
  from: Micros;
  until: Micros | null;
}

/** The connections of devices that ended since a time, and those that have not. */
export async function listConnections(sql: Sql, deviceIds: readonly string[], since: Micros): Promise<Connected[]> {
  const found: Connected[] = [];
  for (const list of inLists(deviceIds)) {
    found.push(
      ...(await sql.all<Connected>(
        `SELECT device_id AS "deviceId", since AS "from", at AS "until" FROM connection_log
         WHERE device_id IN ${IN_LIST} AND fact_id >= ? AND kind = 'ended' AND since IS NOT NULL`,
        ...list,
        idsFrom(FACTS, since),
      )),
      // A connection to a process that is gone ended with it.
      ...(await sql.all<Connected>(
        `SELECT c.device_id AS "deviceId", c.at AS "from", l.ended_at AS "until" FROM connection_log c
         LEFT JOIN node_lives l ON l.node_id = c.node_id
         WHERE c.device_id IN ${IN_LIST} AND c.is_open = 1 AND (l.ended_at IS NULL OR l.ended_at >= ?)`,
        ...list,
        since,
      )),
    );
  }
  return found;
}

/** Those of the devices that were registered before a time. */
export async function registeredBefore(sql: Sql, deviceIds: readonly string[], before: Micros): Promise<string[]> {
  const found = new Set<string>();
  for (const list of inLists(deviceIds)) {
    const text = `SELECT device_id AS "deviceId" FROM devices WHERE device_id IN ${IN_LIST} AND created_at < ?`;
    for (const { deviceId } of await sql.all<{ deviceId: string }>(text, ...list, before)) found.add(deviceId);
  }
  return [...found];
}
