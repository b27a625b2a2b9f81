import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';

const MOVE = inSets('UPDATE device_presence SET last_seen_at = ? WHERE device_id = ? AND last_seen_at < ?', [
  'bigint',
  'text',
  'bigint',
]);

/**
 * Stores the times at which devices were last heard of (microseconds). A time never goes back, and nothing is stored for a
 * removed device. PostgreSQL needs two round trips for any number of devices: one updates the existing rows, the other
 * inserts those that are missing.
 */
export async function saveLastSeen(
  unit: UnitOfWork,
  heard: readonly { deviceId: string; at: number }[],
): Promise<void> {
  const moved = await Promise.all(heard.map(({ deviceId, at }) => unit.run(MOVE, at, deviceId, at)));
  const rest = heard.filter((_, index) => moved[index] === 0);
  await Promise.all(rest.map(({ deviceId, at }) => insertLastSeen(unit, deviceId, at)));
}

async function insertLastSeen(unit: UnitOfWork, deviceId: string, at: number): Promise<void> {
  await unit.run(
    `INSERT INTO device_presence (device_id, last_seen_at) SELECT device_id, ? FROM devices WHERE device_id = ?${unit.whileThere}
     ON CONFLICT (device_id) DO NOTHING`,
    at,
    deviceId,
  );
}

export async function deletePresence(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_presence WHERE device_id = ?', deviceId);
}
