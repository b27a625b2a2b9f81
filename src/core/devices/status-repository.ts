import type { Sql } from '../../platform/database/sql.ts';

/** What a device last said of each field, and when (microseconds). */
export type ReportedFields = Record<string, { value: unknown; at: number }>;

interface StoredStatus {
  reported: ReportedFields;
  /** Of the last report, whatever was in it. */
  reportedAt: number;
}

/** Everything that is stored of a device's state; null where there is nothing. Times are microseconds. */
export interface StoredState {
  deviceId: string;
  reported: ReportedFields | null;
  reportedAt: number | null;
  lastSeenAt: number | null;
}

type StateRow = Omit<StoredState, 'reported'> & { reported: string | null };

const STATE = `SELECT d.device_id AS "deviceId", s.reported, s.reported_at AS "reportedAt", p.last_seen_at AS "lastSeenAt"
  FROM devices d LEFT JOIN device_status s ON s.device_id = d.device_id
  LEFT JOIN device_presence p ON p.device_id = d.device_id`;

/** What was reported is parsed when it is asked for: a page of it is 4 MiB, and is made slice by slice. */
const toState = ({ reported, ...row }: StateRow): StoredState => ({
  ...row,
  get reported() {
    return reported === null ? null : (JSON.parse(reported) as ReportedFields);
  },
});

export async function findStatus(sql: Sql, deviceId: string): Promise<StoredStatus | undefined> {
  const row = await sql.get<{ reported: string; reportedAt: number }>(
    'SELECT reported, reported_at AS "reportedAt" FROM device_status WHERE device_id = ?',
    deviceId,
  );
  return row && { reported: JSON.parse(row.reported) as ReportedFields, reportedAt: row.reportedAt };
}

/** What a fleet is counted by; null: not reported. */
export interface Counted {
  firmware: string | null;
  /** Percent. */
  battery: number | null;
}

/** Writes what a device reported; nothing for one that is gone. `counted`: where that is not as it was. */
export async function saveStatus(
  sql: Sql,
  deviceId: string,
  { reported, reportedAt }: StoredStatus,
  counted: Counted | undefined,
): Promise<void> {
  const text = JSON.stringify(reported);
  if (!counted) {
    await sql.run(
      `INSERT INTO device_status (device_id, reported, reported_at) SELECT device_id, ?, ? FROM devices WHERE device_id = ?
       ON CONFLICT (device_id) DO UPDATE SET reported = excluded.reported, reported_at = excluded.reported_at`,
      text,
      reportedAt,
      deviceId,
    );
    return;
  }
  await sql.run(
    `INSERT INTO device_status (device_id, reported, reported_at, firmware, battery)
     SELECT device_id, ?, ?, ?, CAST(? AS BIGINT) FROM devices WHERE device_id = ?
     ON CONFLICT (device_id) DO UPDATE SET reported = excluded.reported, reported_at = excluded.reported_at,
       firmware = excluded.firmware, battery = excluded.battery`,
    text,
    reportedAt,
    counted.firmware,
    counted.battery,
    deviceId,
  );
}

/** Forgets all that a device reported. */
export async function deleteStatus(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_status WHERE device_id = ?', deviceId);
  await sql.run('DELETE FROM device_software WHERE device_id = ?', deviceId);
}

export async function findState(sql: Sql, deviceId: string): Promise<StoredState | undefined> {
  const row = await sql.get<StateRow>(`${STATE} WHERE d.device_id = ?`, deviceId);
  return row && toState(row);
}

/** Characters of reported state in a page at most: a fleet that reports much software must not hold up everybody else. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024;
const ROWS_PER_STEP = 50;

/** Which page of a list by deviceId: `offset` counts from the device named by `after` on. */
export interface StatePage {
  after?: string;
  offset: number;
  limit: number;
}

/**
 * A page of the activated devices of an application in the order of their identifiers, whether there are more, and how
 * many there are in all (op 8). What `offset` leaves out is counted in the index alone, so that it is not joined; the
 * number of all is kept, not counted. A page of devices that report much is shorter than its limit.
 */
export async function listActivatedStates(
  sql: Sql,
  applicationId: string,
  { after = '', offset, limit }: StatePage,
): Promise<{ states: StoredState[]; more: boolean; total: number }> {
  const count = await sql.get<{ activated: number }>(
    'SELECT activated FROM activated_counts WHERE application_id = ?',
    applicationId,
  );
  const total = count?.activated ?? 0;
  const last = offset === 0 ? after : await lastLeftOut(sql, applicationId, after, offset);
  if (last === undefined) return { states: [], more: false, total };
  const rows = await readRows(sql, applicationId, last, limit + 1);
  const size = pageSize(rows, limit);
  return { states: rows.slice(0, size).map(toState), more: rows.length > size, total };
}

/** Up to `limit` rows behind a device, in steps, so that not much more is read than a page may hold. */
async function readRows(sql: Sql, applicationId: string, after: string, limit: number): Promise<StateRow[]> {
  const rows: StateRow[] = [];
  let characters = 0;
  for (;;) {
    const step = Math.min(ROWS_PER_STEP, limit - rows.length);
    const found = await sql.all<StateRow>(
      `${STATE} WHERE d.application_id = ? AND d.activation = 'activated' AND d.device_id > ?
       ORDER BY d.device_id LIMIT ?`,
      applicationId,
      rows.at(-1)?.deviceId ?? after,
      step,
    );
    rows.push(...found);
    for (const { reported } of found) characters += reported?.length ?? 0;
    if (found.length < step || rows.length === limit || characters > PAGE_CHARACTERS) return rows;
  }
}

/** How many rows make a page: at most `limit`, and no more than its size allows, but one. */
function pageSize(rows: StateRow[], limit: number): number {
  let characters = 0;
  for (const [index, { reported }] of rows.slice(0, limit).entries()) {
    characters += reported?.length ?? 0;
    if (characters > PAGE_CHARACTERS && index > 0) return index;
  }
  return Math.min(rows.length, limit);
}

async function lastLeftOut(
  sql: Sql,
  applicationId: string,
  after: string,
  offset: number,
): Promise<string | undefined> {
  const row = await sql.get<{ deviceId: string }>(
    `SELECT device_id AS "deviceId" FROM devices
     WHERE application_id = ? AND activation = 'activated' AND device_id > ?
     ORDER BY device_id LIMIT 1 OFFSET ?`,
    applicationId,
    after,
    offset - 1,
  );
  return row?.deviceId;
}
