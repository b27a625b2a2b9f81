import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Place } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Authority } from './authority.ts';

const COLUMNS = `authority_id AS "authorityId", developer_id AS "developerId", name, certificate,
  expires_at AS "expiresAt", created_at AS "createdAt", retired_at AS "retiredAt", revoked_at AS "revokedAt"`;

const placeOf = (authorityId: string): Place => ['device_authorities', 'private_key', authorityId];

/** Finds a device CA. A unit of work whose decision depends on it passes `lock` (its `forUpdate`). */
export const findAuthority = (sql: Sql, authorityId: string, lock: Lock = ''): Promise<Authority | undefined> =>
  sql.get<Authority>(`SELECT ${COLUMNS} FROM device_authorities WHERE authority_id = ?${lock}`, authorityId);

/** The device CAs of a developer, the newest first. They are bounded, so there are no pages. */
export const listAuthorities = (sql: Sql, developerId: string): Promise<Authority[]> =>
  sql.all<Authority>(
    `SELECT ${COLUMNS} FROM device_authorities WHERE developer_id = ? ORDER BY created_at DESC, authority_id DESC`,
    developerId,
  );

/** The private key of a device CA, as PEM of PKCS #8. */
export async function findPrivateKey(sql: Sql, authorityId: string): Promise<string | undefined> {
  const text = 'SELECT private_key AS "sealed" FROM device_authorities WHERE authority_id = ?';
  const row = await sql.get<{ sealed: string }>(text, authorityId);
  return row && sql.vault.open(placeOf(authorityId), row.sealed);
}

export async function insertAuthority(unit: UnitOfWork, authority: Authority, privateKey: string): Promise<void> {
  await unit.run(
    `INSERT INTO device_authorities (authority_id, developer_id, name, certificate, private_key, expires_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    authority.authorityId,
    authority.developerId,
    authority.name,
    authority.certificate,
    unit.vault.seal(placeOf(authority.authorityId), privateKey),
    authority.expiresAt,
    authority.createdAt,
  );
}

export async function endAuthority(
  unit: UnitOfWork,
  { authorityId, retiredAt, revokedAt }: Pick<Authority, 'authorityId' | 'retiredAt' | 'revokedAt'>,
): Promise<void> {
  const text = 'UPDATE device_authorities SET retired_at = ?, revoked_at = ? WHERE authority_id = ?';
  await unit.run(text, retiredAt, revokedAt, authorityId);
}

/** The number of devices that have a certificate of a device CA. */
export async function countIssued(sql: Sql, authorityId: string): Promise<number> {
  const text = 'SELECT count(*) AS "devices" FROM devices WHERE issued_by = ?';
  return (await sql.get<{ devices: number }>(text, authorityId))?.devices ?? 0;
}

/** Devices behind a deviceId that have a certificate of a device CA, in the order of their deviceIds. */
export const devicesOf = (
  sql: Sql,
  authorityId: string,
  after: string,
  limit: number,
): Promise<{ deviceId: string }[]> =>
  sql.all(
    `SELECT device_id AS "deviceId" FROM devices WHERE issued_by = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
    authorityId,
    after,
    limit,
  );

/** The device CAs that are revoked. */
export const listRevoked = (sql: Sql): Promise<{ authorityId: string }[]> =>
  sql.all('SELECT authority_id AS "authorityId" FROM device_authorities WHERE revoked_at IS NOT NULL');

/**
 * The end of the device CA that ends first, also if that has passed, among those that are neither retired nor revoked; null
 * without one.
 */
export async function firstEnd(sql: Sql): Promise<Micros | null> {
  const text = `SELECT MIN(expires_at) AS "at" FROM device_authorities WHERE retired_at IS NULL AND revoked_at IS NULL`;
  return (await sql.get<{ at: Micros | null }>(text))?.at ?? null;
}

/** Deletes the device CAs of a developer. Certificates that they have signed are invalid from then on. */
export async function deleteAuthoritiesOf(unit: UnitOfWork, developerId: string): Promise<void> {
  await unit.run('DELETE FROM device_authorities WHERE developer_id = ?', developerId);
}

export async function deleteAuthority(unit: UnitOfWork, authorityId: string): Promise<void> {
  await unit.run('DELETE FROM device_authorities WHERE authority_id = ?', authorityId);
}
