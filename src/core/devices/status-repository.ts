import { parseExact } from '@lapel/schemas/base/exact-json';
import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

/** The last reported value of each field, with the time of its report (microseconds). */
export type ReportedFields = Record<string, { value: unknown; at: number }>;

interface StoredStatus {
  reported: ReportedFields;
  /** The time of the last report of any field. */
  reportedAt: Micros;
}

/** The stored state of a device; null where nothing is stored. Times are microseconds. */
export interface StoredState {
  deviceId: string;
  reported: ReportedFields | null;
  reportedAt: Micros | null;
  lastSeenAt: Micros | null;
}

type StateRow = Omit<StoredState, 'reported'> & { reported: string | null };

const STATE = `SELECT d.device_id AS "deviceId", s.reported, s.reported_at AS "reportedAt", p.last_seen_at AS "lastSeenAt"
  FROM devices d LEFT JOIN device_status s ON s.device_id = d.device_id
  LEFT JOIN device_presence p ON p.device_id = d.device_id`;

/**
 * The text of a report is parsed only when `reported` is read. A page of reports can be 4 MiB; parsing all of it at
 * once would block the event loop for too long, so the answer is written in small parts.
 */
const toState = ({ reported, ...row }: StateRow): StoredState => ({
  ...row,
  get reported() {
    return reported === null ? null : (parseExact(reported) as ReportedFields);
  },
});

const FIND = inSets('SELECT reported, reported_at AS "reportedAt" FROM device_status WHERE device_id = ?', ['text']);

export async function findStatus(sql: Sql, deviceId: string): Promise<StoredStatus | undefined> {
  const row = await sql.get<{ reported: string; reportedAt: number }>(FIND, deviceId);
  return row && { reported: parseExact(row.reported) as ReportedFields, reportedAt: row.reportedAt };
}

/**
 * The reported values that have columns of their own, so that lists of devices can filter and count by them; null when
 * not reported.
 */
export interface Counted {
  firmware: string | null;
  /** The battery level in percent. */
  battery: number | null;
  /** The language in lower case. */
  lang: string | null;
  /** Whether the battery is being charged: 1 or 0. */
  charging: number | null;
  /** The type of the network. */
  network: string | null;
  /** The free storage in bytes. */
  storageFree: number | null;
}

const valuesOf = ({ firmware, battery, lang, charging, network, storageFree }: Counted) => [
  firmware,
  battery,
  lang,
  charging,
  network,
  storageFree,
];

const RENEW = inSets('UPDATE device_status SET reported = ?, reported_at = ? WHERE device_id = ?', [
  'text',
  'bigint',
  'text',
]);

const RENEW_COUNTED = inSets(
  `UPDATE device_status SET reported = ?, reported_at = ?, firmware = ?, battery = ?, lang = ?, charging = ?,
     network = ?, storage_free = ? WHERE device_id = ?`,
  ['text', 'bigint', 'text', 'bigint', 'text', 'bigint', 'text', 'bigint', 'text'],
);

/** Stores the first report of a device, unless the device was removed. */
export const insertStatus = (
  unit: UnitOfWork,
  deviceId: string,
  { reported, reportedAt }: StoredStatus,
  counted: Counted,
): void =>
  unit.later(
    `INSERT INTO device_status (device_id, reported, reported_at, firmware, battery, lang, charging, network, storage_free)
     SELECT device_id, ?, ?, ?, CAST(? AS BIGINT), ?, CAST(? AS BIGINT), ?, CAST(? AS BIGINT)
     FROM devices WHERE device_id = ?`,
    [JSON.stringify(reported), reportedAt, ...valuesOf(counted), deviceId],
  );

/**
 * Stores a further report of a device. `counted` is given only if one of its values has changed. There is no upsert, because
 * it would lock the row before it changes it, which PostgreSQL writes to its log.
 */
export function renewStatus(
  unit: UnitOfWork,
  deviceId: string,
  { reported, reportedAt }: StoredStatus,
  counted: Counted | undefined,
): void {
  const text = JSON.stringify(reported);
  if (counted) unit.later(RENEW_COUNTED, [text, reportedAt, ...valuesOf(counted), deviceId]);
  else unit.later(RENEW, [text, reportedAt, deviceId]);
}

/** The firmware that a device last reported. */
export async function findFirmware(sql: Sql, deviceId: string): Promise<string | null> {
  const row = await sql.get<{ firmware: string | null }>(
    'SELECT firmware FROM device_status WHERE device_id = ?',
    deviceId,
  );
  return row?.firmware ?? null;
}

/** Deletes all reports of a device. */
export async function deleteStatus(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_status WHERE device_id = ?', deviceId);
  await sql.run('DELETE FROM device_software WHERE device_id = ?', deviceId);
}

export async function findState(sql: Sql, deviceId: string): Promise<StoredState | undefined> {
  const row = await sql.get<StateRow>(`${STATE} WHERE d.device_id = ?`, deviceId);
  return row && toState(row);
}

/** The most characters of reports in a page, so that a fleet that reports much software does not delay all other callers. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024;
const ROWS_PER_STEP = 50;

/**
 * The part of a list, ordered by deviceId, that makes a page: it begins after the device `after` and skips `offset`
 * devices.
 */
export interface StatePage {
  after?: string;
  offset: number;
  limit: number;
}

/**
 * A page of an application's activated devices, ordered by identifier, whether there are more, and their total number
 * (op 8). The skipped devices are read from the index alone, without the join; the total is a stored number. A page of
 * devices with long reports is shorter than its limit.
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

/** Reads up to `limit` rows after a device, in steps, so that little more is read than a page may hold. */
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

/** The number of rows in a page: at most `limit`, and at most PAGE_CHARACTERS of reports, but at least one row. */
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
