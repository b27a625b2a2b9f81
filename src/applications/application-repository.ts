import type { Lock, Sql } from '../database/sql.ts';

/** The URLs that an application can set (specification, "Application settings"), and the columns that hold them. */
const SETTING_COLUMNS = {
  deviceEvent: 'device_event',
  callEvent: 'call_event',
  callFileSendEvent: 'call_file_send_event',
  callRecGetMultiPresignedUrl: 'call_rec_get_multi_presigned_url',
  fileUploadEvent: 'file_upload_event',
  fileUploadGetUrl: 'file_upload_get_url',
  remoteSupportEvent: 'remote_support_event', // deprecated, and never called
} as const;

export type SettingName = keyof typeof SETTING_COLUMNS;
export type Settings = Record<SettingName, string | null>;

export const SETTING_NAMES = Object.keys(SETTING_COLUMNS) as SettingName[];

export interface Application {
  applicationId: string;
  developerId: string;
  name: string;
  authenticationKey: string | null;
  /** The one before, and when it was replaced. */
  formerAuthenticationKey: string | null;
  keyReplacedAt: number | null;
  settings: Settings;
  createdAt: number;
  /** Null while it lives; a deleted application keeps its row, so that its id is never given again. */
  deletedAt: number | null;
}

type Row = Omit<Application, 'settings'> & Settings;

const COLUMNS = `application_id AS "applicationId", developer_id AS "developerId", name,
  authentication_key AS "authenticationKey", former_authentication_key AS "formerAuthenticationKey",
  key_replaced_at AS "keyReplacedAt", created_at AS "createdAt", deleted_at AS "deletedAt",
  ${SETTING_NAMES.map((name) => `${SETTING_COLUMNS[name]} AS "${name}"`).join(', ')}`;

function toApplication(row: Row): Application {
  return {
    applicationId: row.applicationId,
    developerId: row.developerId,
    name: row.name,
    authenticationKey: row.authenticationKey,
    formerAuthenticationKey: row.formerAuthenticationKey,
    keyReplacedAt: row.keyReplacedAt,
    settings: {
      deviceEvent: row.deviceEvent,
      callEvent: row.callEvent,
      callFileSendEvent: row.callFileSendEvent,
      callRecGetMultiPresignedUrl: row.callRecGetMultiPresignedUrl,
      fileUploadEvent: row.fileUploadEvent,
      fileUploadGetUrl: row.fileUploadGetUrl,
      remoteSupportEvent: row.remoteSupportEvent,
    },
    createdAt: row.createdAt,
    deletedAt: row.deletedAt,
  };
}

/** Also deleted ones: look at `deletedAt`. `lock`: for a unit of work that decides on what it finds. */
export async function findApplication(
  sql: Sql,
  applicationId: string,
  lock: Lock = '',
): Promise<Application | undefined> {
  const row = await sql.get<Row>(`SELECT ${COLUMNS} FROM applications WHERE application_id = ?${lock}`, applicationId);
  return row && toApplication(row);
}

/** Live applications of one developer, by id. */
export async function listApplications(
  sql: Sql,
  developerId: string,
  page: { offset: number; limit: number },
): Promise<{ applications: Application[]; total: number }> {
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM applications WHERE developer_id = ? AND deleted_at IS NULL
     ORDER BY application_id LIMIT ? OFFSET ?`,
    developerId,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(
    'SELECT COUNT(*) AS total FROM applications WHERE developer_id = ? AND deleted_at IS NULL',
    developerId,
  );
  return { applications: rows.map(toApplication), total: count?.total ?? 0 };
}

/** False when the id is taken, also by a deleted application. */
export async function insertApplication(
  sql: Sql,
  row: { applicationId: string; developerId: string; name: string; secretHash: Buffer; createdAt: number },
): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO applications (application_id, developer_id, name, secret_hash, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (application_id) DO NOTHING`,
    row.applicationId,
    row.developerId,
    row.name,
    row.secretHash,
    row.createdAt,
  );
  return inserted === 1;
}

/** The SHA-256 of a live application's secret. */
export async function findSecretHash(sql: Sql, applicationId: string): Promise<Buffer | undefined> {
  const row = await sql.get<{ hash: Buffer }>(
    'SELECT secret_hash AS hash FROM applications WHERE application_id = ? AND deleted_at IS NULL',
    applicationId,
  );
  return row?.hash;
}

// The updates answer false when there is no live application of that id.

export async function updateSecretHash(sql: Sql, applicationId: string, hash: Buffer): Promise<boolean> {
  const text = 'UPDATE applications SET secret_hash = ? WHERE application_id = ? AND deleted_at IS NULL';
  return (await sql.run(text, hash, applicationId)) === 1;
}

/** Stores a new key; the one before it is kept as the former one. */
export async function updateAuthenticationKey(
  sql: Sql,
  applicationId: string,
  key: string,
  at: number,
): Promise<boolean> {
  const text = `UPDATE applications SET former_authentication_key = authentication_key, key_replaced_at = ?,
    authentication_key = ? WHERE application_id = ? AND deleted_at IS NULL`;
  return (await sql.run(text, at, key, applicationId)) === 1;
}

export async function updateSettings(sql: Sql, applicationId: string, settings: Settings): Promise<boolean> {
  const assignments = SETTING_NAMES.map((name) => `${SETTING_COLUMNS[name]} = ?`).join(', ');
  const changed = await sql.run(
    `UPDATE applications SET ${assignments} WHERE application_id = ? AND deleted_at IS NULL`,
    ...SETTING_NAMES.map((name) => settings[name]),
    applicationId,
  );
  return changed === 1;
}

export async function markDeleted(sql: Sql, applicationId: string, deletedAt: number): Promise<boolean> {
  const text = 'UPDATE applications SET deleted_at = ? WHERE application_id = ? AND deleted_at IS NULL';
  return (await sql.run(text, deletedAt, applicationId)) === 1;
}
