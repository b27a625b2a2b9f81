import type { ApplicationAuthentication } from '@lapel/schemas/contracts/types';
import { containing, ESCAPE } from '../../platform/database/like.ts';
import type { Lock, Sql, SqlValue } from '../../platform/database/sql.ts';
import { openOrNull, type Place, sealOrNull } from '../../platform/encryption/vault.ts';
import { secretMarkOf } from '../../runtime/secret-hash.ts';
import type { Micros } from '../../runtime/units.ts';
import { columnOf, SETTING_NAMES, type Settings } from './setting-columns.ts';

const SETTING_COLUMNS = SETTING_NAMES.map((name) => `${columnOf(name)} AS "${name}"`).join(', ');

/** A certificate that proves who the application is, or a name in certificates that does. */
export interface ApplicationCertificate {
  /** Derived from kind and value. */
  certificateId: string;
  /** For people. */
  name: string;
  kind: 'certificate' | 'subject' | 'dns' | 'uri';
  /** The SHA-256 of a certificate, base64url; or the name. */
  value: string;
  /** The end of the certificate; null for a name. */
  expiresAt: Micros | null;
  createdAt: Micros;
}

export interface Application {
  applicationId: string;
  developerId: string;
  name: string;
  authenticationKey: string | null;
  /** The replaced key, and the time of its replacement. */
  formerAuthenticationKey: string | null;
  keyReplacedAt: Micros | null;
  settings: Settings;
  /** The marks of its secrets: an access token that was requested with another secret is invalid. */
  secretMark: string;
  authentication: ApplicationAuthentication;
  certificates: readonly ApplicationCertificate[];
  formerSecretMark: string | null;
  /** When the former secret ends; null: when it is ended. */
  formerSecretEndsAt: Micros | null;
  createdAt: Micros;
  /** Null while the application exists; a deleted one keeps its row, so that its id is never used again. */
  deletedAt: Micros | null;
  /** The removal that was accepted for the application, or its developer; null: none. Such an application is deleted. */
  removalId: string | null;
}

type Row = Omit<Application, 'settings' | 'secretMark' | 'formerSecretMark' | 'certificates'> &
  Settings & { secretHash: Buffer; formerSecretHash: Buffer | null; certificates: string | null };

const COLUMNS = `application_id AS "applicationId", developer_id AS "developerId", name,
  authentication_key AS "authenticationKey", former_authentication_key AS "formerAuthenticationKey",
  key_replaced_at AS "keyReplacedAt", secret_hash AS "secretHash",
  former_secret_hash AS "formerSecretHash", former_secret_ends_at AS "formerSecretEndsAt", created_at AS "createdAt",
  deleted_at AS "deletedAt", removal_id AS "removalId", authentication, certificates, ${SETTING_COLUMNS}`;

const placeOf = (column: string, applicationId: string): Place => ['applications', column, applicationId];

/** The settings of a row, whose URLs can hold tokens of the receiver. */
const settingsOf = ({ vault }: Sql, row: Settings & { applicationId: string }): Settings =>
  Object.fromEntries(
    SETTING_NAMES.map((name) => [name, openOrNull(vault, placeOf(columnOf(name), row.applicationId), row[name])]),
  ) as Settings;

function toApplication(sql: Sql, row: Row): Application {
  const open = (column: string, stored: string | null): string | null =>
    openOrNull(sql.vault, placeOf(column, row.applicationId), stored);
  return {
    applicationId: row.applicationId,
    developerId: row.developerId,
    name: row.name,
    authenticationKey: open('authentication_key', row.authenticationKey),
    formerAuthenticationKey: open('former_authentication_key', row.formerAuthenticationKey),
    keyReplacedAt: row.keyReplacedAt,
    settings: settingsOf(sql, row),
    secretMark: secretMarkOf(row.secretHash),
    authentication: row.authentication,
    certificates: row.certificates === null ? [] : (JSON.parse(row.certificates) as ApplicationCertificate[]),
    formerSecretMark: row.formerSecretHash && secretMarkOf(row.formerSecretHash),
    formerSecretEndsAt: row.formerSecretEndsAt,
    createdAt: row.createdAt,
    deletedAt: row.deletedAt,
    removalId: row.removalId,
  };
}

/**
 * Finds an application, deleted or not: check `deletedAt`. A unit of work whose decision depends on the row passes
 * `lock` (its `forUpdate`), so that no other unit changes the row meanwhile.
 */
export async function findApplication(
  sql: Sql,
  applicationId: string,
  lock: Lock = '',
): Promise<Application | undefined> {
  const row = await sql.get<Row>(`SELECT ${COLUMNS} FROM applications WHERE application_id = ?${lock}`, applicationId);
  return row && toApplication(sql, row);
}

/** A page of the applications of one developer that are not deleted, ordered by id, and their total number. */
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
  return { applications: rows.map((row) => toApplication(sql, row)), total: count?.total ?? 0 };
}

/** An application that is not deleted, with the number of devices that are activated for it. */
export interface CountedApplication extends Application {
  activated: number;
}

const COUNTED = `SELECT ${COLUMNS}, COALESCE((SELECT activated FROM activated_counts c
  WHERE c.application_id = applications.application_id), 0) AS activated FROM applications WHERE deleted_at IS NULL`;

const toCounted = (sql: Sql, row: Row & { activated: number }): CountedApplication => ({
  ...toApplication(sql, row),
  activated: row.activated,
});

/** The settings of all applications, which name the endpoints of their webhooks. */
export async function listSettings(sql: Sql): Promise<{ applicationId: string; settings: Settings }[]> {
  const rows = await sql.all<Settings & { applicationId: string }>(
    `SELECT application_id AS "applicationId", ${SETTING_COLUMNS}
     FROM applications WHERE deleted_at IS NULL`,
  );
  return rows.map((row) => ({ applicationId: row.applicationId, settings: settingsOf(sql, row) }));
}

/** Undefined when the application does not exist, or was deleted. */
export async function findCountedApplication(sql: Sql, applicationId: string): Promise<CountedApplication | undefined> {
  const row = await sql.get<Row & { activated: number }>(`${COUNTED} AND application_id = ?`, applicationId);
  return row && toCounted(sql, row);
}

/**
 * A page of applications that are not deleted, of one developer or of all; ordered by id, and beginning after the id
 * `after`.
 */
export async function listCountedApplications(
  sql: Sql,
  { developerId, after, limit }: { developerId?: string | undefined; after: string; limit: number },
): Promise<CountedApplication[]> {
  const own = developerId === undefined ? '' : ' AND developer_id = ?';
  const values: SqlValue[] = developerId === undefined ? [] : [developerId];
  const rows = await sql.all<Row & { activated: number }>(
    `${COUNTED}${own} AND application_id > ? ORDER BY application_id LIMIT ?`,
    ...values,
    after,
    limit,
  );
  return rows.map((row) => toCounted(sql, row));
}

/** Applications that are not deleted and whose id or name contains a text, ordered by id. */
export const searchApplications = (
  sql: Sql,
  text: string,
  limit: number,
): Promise<{ applicationId: string; developerId: string }[]> =>
  sql.all(
    `SELECT application_id AS "applicationId", developer_id AS "developerId" FROM applications WHERE deleted_at IS NULL
     AND (LOWER(application_id) LIKE ? ${ESCAPE} OR LOWER(name) LIKE ? ${ESCAPE}) ORDER BY application_id LIMIT ?`,
    containing(text),
    containing(text),
    limit,
  );

/** Whether the developer has an application that is not deleted. */
export async function hasApplications(sql: Sql, developerId: string): Promise<boolean> {
  const text = 'SELECT 1 AS one FROM applications WHERE developer_id = ? AND deleted_at IS NULL LIMIT 1';
  return (await sql.get(text, developerId)) !== undefined;
}

/**
 * Gives the developer's deleted applications to another developer. Their rows stay, since their ids are never used again.
 */
export async function moveDeleted(sql: Sql, from: string, to: string): Promise<void> {
  const text = 'UPDATE applications SET developer_id = ? WHERE developer_id = ? AND deleted_at IS NOT NULL';
  await sql.run(text, to, from);
}

/** Returns false when the id is taken, also by a deleted application. */
export async function insertApplication(
  sql: Sql,
  row: { applicationId: string; developerId: string; name: string; secretHash: Buffer; createdAt: number },
): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO applications (application_id, developer_id, name, secret_hash, secret_created_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (application_id) DO NOTHING`,
    row.applicationId,
    row.developerId,
    row.name,
    row.secretHash,
    row.createdAt,
    row.createdAt,
  );
  return inserted === 1;
}

export async function updateCertificates(
  sql: Sql,
  applicationId: string,
  certificates: readonly ApplicationCertificate[],
): Promise<void> {
  const text = 'UPDATE applications SET certificates = ? WHERE application_id = ?';
  await sql.run(text, certificates.length === 0 ? null : JSON.stringify(certificates), applicationId);
}

export async function updateAuthentication(
  sql: Sql,
  applicationId: string,
  authentication: ApplicationAuthentication,
): Promise<void> {
  await sql.run('UPDATE applications SET authentication = ? WHERE application_id = ?', authentication, applicationId);
}

// All updates below return false when the application does not exist, or was deleted.

/** Stores a new key, and the replaced one as the former key. */
export async function updateAuthenticationKey(
  sql: Sql,
  applicationId: string,
  { key, former, at }: { key: string; former: string | null; at: Micros },
): Promise<boolean> {
  const text = `UPDATE applications SET former_authentication_key = ?, key_replaced_at = ?,
    authentication_key = ? WHERE application_id = ? AND deleted_at IS NULL`;
  const changed = await sql.run(
    text,
    sealOrNull(sql.vault, placeOf('former_authentication_key', applicationId), former),
    at,
    sql.vault.seal(placeOf('authentication_key', applicationId), key),
    applicationId,
  );
  return changed === 1;
}

export async function updateSettings(sql: Sql, applicationId: string, settings: Settings): Promise<boolean> {
  const assignments = SETTING_NAMES.map((name) => `${columnOf(name)} = ?`).join(', ');
  const changed = await sql.run(
    `UPDATE applications SET ${assignments} WHERE application_id = ? AND deleted_at IS NULL`,
    ...SETTING_NAMES.map((name) => sealOrNull(sql.vault, placeOf(columnOf(name), applicationId), settings[name])),
    applicationId,
  );
  return changed === 1;
}

export async function markDeleted(sql: Sql, applicationId: string, deletedAt: Micros): Promise<boolean> {
  const text = 'UPDATE applications SET deleted_at = ? WHERE application_id = ? AND deleted_at IS NULL';
  return (await sql.run(text, deletedAt, applicationId)) === 1;
}

/** Stores that a deleted application is being removed. */
export async function markLeaving(sql: Sql, applicationId: string, removalId: string): Promise<void> {
  await sql.run('UPDATE applications SET removal_id = ? WHERE application_id = ?', removalId, applicationId);
}

/** Removes the row of an application. The database refuses it while a device refers to the application. */
export async function deleteApplication(sql: Sql, applicationId: string): Promise<number> {
  await sql.run('DELETE FROM activated_counts WHERE application_id = ?', applicationId);
  return sql.run('DELETE FROM applications WHERE application_id = ?', applicationId);
}
