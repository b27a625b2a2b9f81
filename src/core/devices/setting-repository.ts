import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Place } from '../../platform/encryption/vault.ts';

/** Settings that a device took. Commands of one kind take each other's place. */
export interface TakenSetting {
  deviceId: string;
  kind: string;
  transactionId: number;
  /** The rollout that made the transaction. */
  rolloutId: string | null;
  /** The parameters of the command; null when a device took them that nobody knows any more. */
  parameters: object | null;
}

const placeOf = (deviceId: string, kind: string): Place => ['device_settings', 'parameters', deviceId, kind];

/** Stores the settings that a device took, unless it took later ones of the kind. */
export function saveSetting(unit: UnitOfWork, setting: TakenSetting): void {
  const { deviceId, kind, transactionId, rolloutId, parameters } = setting;
  unit.later(
    `INSERT INTO device_settings (device_id, kind, transaction_id, rollout_id, parameters) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (device_id, kind) DO UPDATE SET transaction_id = excluded.transaction_id,
       rollout_id = excluded.rollout_id, parameters = excluded.parameters
     WHERE device_settings.transaction_id < excluded.transaction_id`,
    [deviceId, kind, transactionId, rolloutId, unit.vault.seal(placeOf(deviceId, kind), JSON.stringify(parameters))],
  );
}

/** The settings of a kind that a device took last; undefined when they are not known. */
export async function findSetting(sql: Sql, deviceId: string, kind: string): Promise<TakenSetting | undefined> {
  const row = await sql.get<Omit<TakenSetting, 'parameters'> & { parameters: string }>(
    `SELECT device_id AS "deviceId", kind, transaction_id AS "transactionId", rollout_id AS "rolloutId", parameters
     FROM device_settings WHERE device_id = ? AND kind = ?`,
    deviceId,
    kind,
  );
  return (
    row && { ...row, parameters: JSON.parse(sql.vault.open(placeOf(deviceId, kind), row.parameters)) as object | null }
  );
}

/**
 * Forgets the settings of a kind, because a transaction whose parameters are gone has given the device others. The row keeps
 * whose transaction it was, since a rollout has kept elsewhere what the device had before. A device that took later settings
 * in time may have either.
 */
export async function forgetSetting(unit: UnitOfWork, taken: Omit<TakenSetting, 'parameters'>): Promise<void> {
  const { deviceId, kind, transactionId } = taken;
  const later = await unit.run(
    'DELETE FROM device_settings WHERE device_id = ? AND kind = ? AND transaction_id > ?',
    deviceId,
    kind,
    transactionId,
  );
  if (later === 0) saveSetting(unit, { ...taken, parameters: null });
}

/** Forgets all settings of a device. */
export const forgetSettings = (unit: UnitOfWork, deviceId: string): void =>
  unit.later('DELETE FROM device_settings WHERE device_id = ?', [deviceId]);
