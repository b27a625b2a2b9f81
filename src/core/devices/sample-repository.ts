import { oldestOfDevicesIn } from '../../platform/database/device-sweep.ts';
import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { SampleValues, StoredChange } from './sample.ts';

const valuesIn = ({ battery, isCharging, rssi, freeMebibytes }: SampleValues) =>
  [battery, isCharging, rssi, freeMebibytes] as const;

// An hour has a row before its end if a version changed in it. Stores nothing if the device was removed meanwhile.
const SAVE = `INSERT INTO device_samples (device_id, hour, battery, is_charging, rssi, free_mebibytes)
  SELECT device_id, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT)
  FROM devices WHERE device_id = ?
  ON CONFLICT (device_id, hour) DO UPDATE SET battery = excluded.battery, is_charging = excluded.is_charging,
    rssi = excluded.rssi, free_mebibytes = excluded.free_mebibytes`;

/** Stores the values that a device reported last in an hour. */
export const saveSample = (unit: UnitOfWork, deviceId: string, hour: number, values: SampleValues): void =>
  unit.later(SAVE, [hour, ...valuesIn(values), deviceId]);

/** The changes of versions that are stored for an hour. */
export async function findChanges(sql: Sql, deviceId: string, hour: number): Promise<StoredChange[]> {
  const text = 'SELECT changes FROM device_samples WHERE device_id = ? AND hour = ?';
  const row = await sql.get<{ changes: string | null }>(text, deviceId, hour);
  return JSON.parse(row?.changes ?? '[]');
}

/** Stores the changes of versions in an hour, with the values that are known by now. */
export const saveChanges = (
  unit: UnitOfWork,
  deviceId: string,
  hour: number,
  values: SampleValues,
  changes: readonly StoredChange[],
): void =>
  unit.later(
    `INSERT INTO device_samples (device_id, hour, battery, is_charging, rssi, free_mebibytes, changes)
     SELECT device_id, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), ?
     FROM devices WHERE device_id = ?
     ON CONFLICT (device_id, hour) DO UPDATE SET battery = excluded.battery, is_charging = excluded.is_charging,
       rssi = excluded.rssi, free_mebibytes = excluded.free_mebibytes, changes = excluded.changes`,
    [hour, ...valuesIn(values), JSON.stringify(changes), deviceId],
  );

/**
 * Keeps the last sample of each `step` hours, of those of [from, to), and those in which a version changed.
 */
export const thinSamples = (
  unit: UnitOfWork,
  deviceId: string,
  { from, to, step }: { from: number; to: number; step: number },
): void =>
  unit.later(
    `DELETE FROM device_samples WHERE device_id = ? AND hour >= ? AND hour < ? AND changes IS NULL AND EXISTS
       (SELECT 1 FROM device_samples l WHERE l.device_id = device_samples.device_id AND l.hour > device_samples.hour
          AND l.hour < device_samples.hour - device_samples.hour % CAST(? AS INTEGER) + CAST(? AS INTEGER))`,
    [deviceId, from, to, step, step],
  );

/** Deletes all samples of a device. */
export async function deleteSamples(unit: UnitOfWork, deviceId: string): Promise<void> {
  await unit.run('DELETE FROM device_samples WHERE device_id = ?', deviceId);
}

const OLDEST_OF_DEVICES = oldestOfDevicesIn('device_samples', 'MIN(hour)');

/** Lists devices that have samples, ordered by id and beginning behind `after`, each with the hour of its oldest one. */
export const oldestOfDevices = (
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ deviceId: string; oldest: number }[]> => sql.all(OLDEST_OF_DEVICES, after, limit);

export interface SampleKey {
  deviceId: string;
  hour: number;
}

/** The samples of a device from before an hour, the oldest first. */
export const oldSamples = (sql: Sql, deviceId: string, before: number, limit: number): Promise<SampleKey[]> =>
  sql.all(
    'SELECT device_id AS "deviceId", hour FROM device_samples WHERE device_id = ? AND hour < ? ORDER BY hour LIMIT ?',
    deviceId,
    before,
    limit,
  );

const REMOVE = inSets('DELETE FROM device_samples WHERE device_id = ? AND hour = ?', ['text', 'bigint']);

export const removeSample = (sql: Sql, { deviceId, hour }: SampleKey): Promise<number> =>
  sql.run(REMOVE, deviceId, hour);
