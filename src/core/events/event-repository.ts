import { oldestOfDevicesIn } from '../../platform/database/device-sweep.ts';
import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';

/** Whether the event is a repetition: the device has sent it before. */
export async function isRemembered(sql: Sql, event: { deviceId: string; eventId: string }): Promise<boolean> {
  const text = 'SELECT 1 AS "one" FROM device_events WHERE device_id = ? AND event_id = ?';
  return (await sql.get(text, event.deviceId, event.eventId)) !== undefined;
}

/** Remembers an event of a device. */
export const rememberEvent = (
  unit: UnitOfWork,
  event: { deviceId: string; eventId: string; type: string; receivedAt: number },
): void =>
  unit.later('INSERT INTO device_events (device_id, event_id, type, received_at) VALUES (?, ?, ?, ?)', [
    event.deviceId,
    event.eventId,
    event.type,
    event.receivedAt,
  ]);

/**
 * Deletes at most `limit` of a device's oldest events that came before a time (microseconds). Leaves rows that another
 * unit, which also removes old events, has locked.
 */
export const forgetOldEvents = (unit: UnitOfWork, deviceId: string, before: number, limit: number): void =>
  unit.later(
    `DELETE FROM device_events WHERE device_id = ? AND event_id IN
       (SELECT event_id FROM device_events WHERE device_id IN (?) AND received_at < ? ORDER BY received_at LIMIT (? + 0)${unit.skipLocked})`,
    [deviceId, deviceId, before, limit],
  );

/** Deletes all events of a device. */
export async function deleteEvents(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_events WHERE device_id = ?', deviceId);
}

const OLDEST_OF_DEVICES = oldestOfDevicesIn('device_events', 'MIN(received_at)');

/**
 * Lists devices that have remembered events, ordered by id and beginning behind the device `after`, each with the time
 * of its oldest event.
 */
export async function findOldestOfDevices(
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ deviceId: string; at: number }[]> {
  const devices = await sql.all<{ deviceId: string; oldest: number }>(OLDEST_OF_DEVICES, after, limit);
  return devices.map(({ deviceId, oldest }) => ({ deviceId, at: oldest }));
}

/** An event that may be removed. */
export interface OldEvent {
  deviceId: string;
  eventId: string;
}

/** The events of a device that came before a time, the oldest first. */
export async function findOldEvents(sql: Sql, deviceId: string, before: number, limit: number): Promise<OldEvent[]> {
  const rows = await sql.all<{ eventId: string }>(
    `SELECT event_id AS "eventId" FROM device_events WHERE device_id IN (?) AND received_at < ? ORDER BY received_at LIMIT (? + 0)`,
    deviceId,
    before,
    limit,
  );
  return rows.map(({ eventId }) => ({ deviceId, eventId }));
}

const REMOVE = inSets('DELETE FROM device_events WHERE device_id = ? AND event_id = ? AND received_at < ?', [
  'text',
  'text',
  'bigint',
]);

/** Removes an event if it came before the time; returns the number of removed rows. */
export const removeOldEvent = (sql: Sql, { deviceId, eventId }: OldEvent, before: number): Promise<number> =>
  sql.run(REMOVE, deviceId, eventId, before);
