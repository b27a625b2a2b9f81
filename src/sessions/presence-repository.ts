import type { Sql } from '../database/sql.ts';

/** Writes when a device was last heard of (microseconds); never back in time, and nothing for one that is gone. */
export async function saveLastSeen(sql: Sql, deviceId: string, at: number): Promise<void> {
  await sql.run(
    `INSERT INTO device_presence (device_id, last_seen_at) SELECT device_id, ? FROM devices WHERE device_id = ?
     ON CONFLICT (device_id) DO UPDATE SET last_seen_at = excluded.last_seen_at
     WHERE excluded.last_seen_at > device_presence.last_seen_at`,
    at,
    deviceId,
  );
}

export async function deletePresence(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_presence WHERE device_id = ?', deviceId);
}
