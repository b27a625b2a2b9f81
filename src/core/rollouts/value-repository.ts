import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Place } from '../../platform/encryption/vault.ts';

/**
 * The parameters of single devices of a rollout: those that a device took before it; of a rollout that reverts another one,
 * those that the device gets.
 */
const placeOf = (rolloutId: string, deviceId: string): Place => ['rollout_values', 'parameters', rolloutId, deviceId];

export async function saveValue(
  unit: UnitOfWork,
  rolloutId: string,
  deviceId: string,
  parameters: object,
): Promise<void> {
  await unit.run(
    `INSERT INTO rollout_values (rollout_id, device_id, parameters) VALUES (?, ?, ?)
     ON CONFLICT (rollout_id, device_id) DO UPDATE SET parameters = excluded.parameters`,
    rolloutId,
    deviceId,
    unit.vault.seal(placeOf(rolloutId, deviceId), JSON.stringify(parameters)),
  );
}

/** Forgets the parameters of a device, because they are not known any more. */
export async function removeValue(unit: UnitOfWork, rolloutId: string, deviceId: string): Promise<void> {
  await unit.run('DELETE FROM rollout_values WHERE rollout_id = ? AND device_id = ?', rolloutId, deviceId);
}

/** The parameters of some devices; a device without parameters has no entry. */
export async function findValues(
  sql: Sql,
  rolloutId: string,
  deviceIds: readonly string[],
): Promise<Map<string, object>> {
  const found = new Map<string, object>();
  for (const list of inLists(deviceIds)) {
    const rows = await sql.all<{ deviceId: string; parameters: string }>(
      `SELECT device_id AS "deviceId", parameters FROM rollout_values WHERE rollout_id = ? AND device_id IN ${IN_LIST}`,
      rolloutId,
      ...list,
    );
    for (const { deviceId, parameters } of rows)
      found.set(deviceId, JSON.parse(sql.vault.open(placeOf(rolloutId, deviceId), parameters)) as object);
  }
  return found;
}

/** Forgets the parameters of all devices of an application's rollouts. */
export async function removeValuesOf(unit: UnitOfWork, applicationId: string): Promise<void> {
  await unit.run(
    'DELETE FROM rollout_values WHERE rollout_id IN (SELECT rollout_id FROM rollouts WHERE application_id = ?)',
    applicationId,
  );
}
