import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { SoftwareChange } from './reported.ts';

/**
 * Stores how the installed software has changed by a device's report at `at` (microseconds). Stores nothing if the
 * device was removed.
 */
export function saveSoftware(unit: UnitOfWork, deviceId: string, change: SoftwareChange, at: number): void {
  for (const [name] of change.gone)
    unit.later('DELETE FROM device_software WHERE device_id = ? AND package = ?', [deviceId, name]);
  for (const [name, version] of change.set)
    unit.later(
      `INSERT INTO device_software (device_id, package, version, since) SELECT device_id, ?, ?, CAST(? AS BIGINT)
       FROM devices WHERE device_id = ?
       ON CONFLICT (device_id, package) DO UPDATE SET version = excluded.version, since = excluded.since`,
      [name, version, at, deviceId],
    );
}
