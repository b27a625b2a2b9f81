import { IN_LIST, inLists } from '../platform/database/in-lists.ts';
import type { Sql } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';

/** Counts the given devices by the level of their battery. A device that reported none is not counted. */
export async function countLevels(
  sql: Sql,
  deviceIds: readonly string[],
): Promise<{ level: number; devices: number }[]> {
  const found: { level: number; devices: number }[] = [];
  for (const list of inLists(deviceIds))
    found.push(
      ...(await sql.all<{ level: number; devices: number }>(
        `SELECT battery AS level, count(*) AS devices FROM device_status
         WHERE device_id IN ${IN_LIST} AND battery IS NOT NULL GROUP BY battery`,
        ...list,
      )),
    );
  return found;
}

interface Installed {
  package: string;
  version: string;
  devices: number;
}

/** Counts the given devices by the versions of all packages that they have. */
export async function countInstalled(sql: Sql, deviceIds: readonly string[]): Promise<Installed[]> {
  const found: Installed[] = [];
  for (const list of inLists(deviceIds))
    found.push(
      ...(await sql.all<Installed>(
        `SELECT package, version, count(*) AS devices FROM device_software
         WHERE device_id IN ${IN_LIST} GROUP BY package, version`,
        ...list,
      )),
    );
  return found;
}

/** Counts the unfinished commands of an application. It reads what waits for its devices, and for no other. */
export async function countWaiting(sql: Sql, applicationId: string): Promise<number> {
  const row = await sql.get<{ waiting: number }>(
    `SELECT count(*) AS waiting FROM devices d JOIN transactions t ON t.device_id = d.device_id
     WHERE d.application_id = ? AND t.due = 1 AND t.application_id = d.application_id AND t.completed_at IS NULL`,
    applicationId,
  );
  return row?.waiting ?? 0;
}

/** Counts the commands of an application that failed since a time. */
export async function countFailed(sql: Sql, applicationId: string, since: Micros): Promise<number> {
  const row = await sql.get<{ failed: number }>(
    `SELECT count(*) AS failed FROM transactions
     WHERE status = 'failed' AND error_code IS NOT NULL AND application_id = ? AND completed_at >= ?`,
    applicationId,
    since,
  );
  return row?.failed ?? 0;
}
