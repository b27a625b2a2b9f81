import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import type { Sql } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/** The stored data of a device in a list. Times are in microseconds. A member is null when there is no value. */
export interface FleetRow {
  deviceId: string;
  developerId: string;
  applicationId: string | null;
  activation: 'deactivated' | 'activating' | 'activated';
  blocked: boolean;
  firmware: string | null;
  battery: number | null;
  reportedAt: Micros | null;
  lastSeenAt: Micros | null;
  unfinished: number;
}

type Row = Omit<FleetRow, 'blocked'> & { blocked: number };

/** Reads the stored data of the given devices, in their order. A device that no longer exists is left out. */
export async function fleetRows(sql: Sql, deviceIds: readonly string[]): Promise<FleetRow[]> {
  const found = new Map<string, FleetRow>();
  for (const list of inLists(deviceIds)) {
    const rows = await sql.all<Row>(
      `SELECT d.device_id AS "deviceId", d.developer_id AS "developerId", d.application_id AS "applicationId",
         d.activation, d.blocked, s.firmware, s.battery, s.reported_at AS "reportedAt",
         p.last_seen_at AS "lastSeenAt", (SELECT count(*) FROM transactions t WHERE t.device_id = d.device_id
           AND t.due = 1 AND t.completed_at IS NULL) AS unfinished
       FROM devices d LEFT JOIN device_status s ON s.device_id = d.device_id
       LEFT JOIN device_presence p ON p.device_id = d.device_id WHERE d.device_id IN ${IN_LIST}`,
      ...list,
    );
    for (const row of rows) found.set(row.deviceId, { ...row, blocked: row.blocked !== 0 });
  }
  return deviceIds.flatMap((deviceId) => found.get(deviceId) ?? []);
}
