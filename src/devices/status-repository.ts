import type { Sql } from '../database/sql.ts';

/** What a device last said of each field, and when (microseconds). */
export type ReportedFields = Record<string, { value: unknown; at: number }>;

export interface StoredStatus {
  reported: ReportedFields;
  /** Of the last report, whatever was in it. */
  reportedAt: number;
}

export async function findStatus(sql: Sql, deviceId: string): Promise<StoredStatus | undefined> {
  const row = await sql.get<{ reported: string; reportedAt: number }>(
    'SELECT reported, reported_at AS "reportedAt" FROM device_status WHERE device_id = ?',
    deviceId,
  );
  return row && { reported: JSON.parse(row.reported) as ReportedFields, reportedAt: row.reportedAt };
}

export async function saveStatus(sql: Sql, deviceId: string, status: StoredStatus): Promise<void> {
  await sql.run(
    `INSERT INTO device_status (device_id, reported, reported_at) VALUES (?, ?, ?)
     ON CONFLICT (device_id) DO UPDATE SET reported = excluded.reported, reported_at = excluded.reported_at`,
    deviceId,
    JSON.stringify(status.reported),
    status.reportedAt,
  );
}

export async function deleteStatus(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_status WHERE device_id = ?', deviceId);
}
