import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';

/** A device's tags: a value for each key, in the order of the keys. */
export type Tags = Readonly<Record<string, string>>;

/** Reads the tags of devices; a device without tags has no entry. */
export async function findTags(sql: Sql, deviceIds: readonly string[]): Promise<Map<string, Record<string, string>>> {
  const found = new Map<string, Record<string, string>>();
  for (const list of inLists(deviceIds)) {
    const rows = await sql.all<{ deviceId: string; key: string; value: string }>(
      `SELECT device_id AS "deviceId", tag_key AS "key", tag_value AS "value" FROM device_tags
       WHERE device_id IN ${IN_LIST} ORDER BY device_id, tag_key`,
      ...list,
    );
    for (const { deviceId, key, value } of rows) {
      const tags = found.get(deviceId) ?? {};
      tags[key] = value;
      found.set(deviceId, tags);
    }
  }
  return found;
}

/** Sets a tag of a device that is activated for the application. */
export async function setTag(
  unit: UnitOfWork,
  { deviceId, applicationId, key, value }: { deviceId: string; applicationId: string; key: string; value: string },
): Promise<void> {
  await unit.run(
    `INSERT INTO device_tags (device_id, tag_key, tag_value, application_id) VALUES (?, ?, ?, ?)
     ON CONFLICT (device_id, tag_key) DO UPDATE SET tag_value = excluded.tag_value,
       application_id = excluded.application_id`,
    deviceId,
    key,
    value,
    applicationId,
  );
}

export async function removeTag(unit: UnitOfWork, deviceId: string, key: string): Promise<void> {
  await unit.run('DELETE FROM device_tags WHERE device_id = ? AND tag_key = ?', deviceId, key);
}

/** Removes all tags of a device. */
export const removeTags = (unit: UnitOfWork, deviceId: string): void =>
  unit.later('DELETE FROM device_tags WHERE device_id = ?', [deviceId]);

/** Locks those of the given devices that are activated for the application, and returns them in the order of their ids. */
export async function lockActivated(
  unit: UnitOfWork,
  applicationId: string,
  deviceIds: readonly string[],
): Promise<string[]> {
  const locked: string[] = [];
  for (const list of inLists(deviceIds.toSorted())) {
    const rows = await unit.all<{ deviceId: string }>(
      `SELECT device_id AS "deviceId" FROM devices WHERE device_id IN ${IN_LIST} AND application_id = ?
         AND activation = 'activated' ORDER BY device_id${unit.forUpdate}`,
      ...list,
      applicationId,
    );
    locked.push(...rows.map(({ deviceId }) => deviceId));
  }
  return locked;
}
