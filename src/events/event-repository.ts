import type { Sql } from '../database/sql.ts';

/** Whether a device sent an event before. */
export async function isRemembered(sql: Sql, event: { deviceId: string; eventId: string }): Promise<boolean> {
  const text = 'SELECT 1 AS "one" FROM device_events WHERE device_id = ? AND event_id = ?';
  return (await sql.get(text, event.deviceId, event.eventId)) !== undefined;
}

/** Remembers that a device sent an event. */
export async function rememberEvent(
  sql: Sql,
  event: { deviceId: string; eventId: string; receivedAt: number },
): Promise<void> {
  await sql.run(
    'INSERT INTO device_events (device_id, event_id, received_at) VALUES (?, ?, ?)',
    event.deviceId,
    event.eventId,
    event.receivedAt,
  );
}

/** Forgets events of a device that came before a time (microseconds), the oldest first, at most so many. */
export async function forgetOldEvents(sql: Sql, deviceId: string, before: number, limit: number): Promise<void> {
  await sql.run(
    `DELETE FROM device_events WHERE device_id = ? AND event_id IN
       (SELECT event_id FROM device_events WHERE device_id = ? AND received_at < ? ORDER BY received_at LIMIT ?)`,
    deviceId,
    deviceId,
    before,
    limit,
  );
}

/** Forgets all events of a device. */
export async function deleteEvents(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_events WHERE device_id = ?', deviceId);
}
