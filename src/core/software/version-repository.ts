import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Catalogue } from './catalogue.ts';
import { versionSortKey } from './version.ts';

export interface Version {
  package: string;
  version: string;
  description: string | null;
  /** Names the object of the binary; a version that is registered again gets another one. */
  binaryId: string;
  /** Bytes of the binary, as last seen in the store, or as announced for an upload URL. */
  storedBytes: number;
  /** The time at which the distribution was started, in microseconds; null when the version is not distributed. */
  distributionStartedAt: Micros | null;
  /** The version whose devices this one brings back to what they had before. */
  revertOf: string | null;
  /** The firmware that a device must have reported, as a SemVer range. */
  requiresFirmware: string | null;
  createdAt: Micros;
  updatedAt: Micros;
}

const COLUMNS = `package, version, description, binary_id AS "binaryId", stored_bytes AS "storedBytes",
  distribution_started_at AS "distributionStartedAt", revert_of AS "revertOf",
  requires_firmware AS "requiresFirmware", created_at AS "createdAt", updated_at AS "updatedAt"`;

export async function findVersion(
  sql: Sql,
  catalogue: Catalogue,
  name: string,
  version: string,
): Promise<Version | undefined> {
  const text = `SELECT ${COLUMNS} FROM versions WHERE line = ? AND package = ? AND version = ?`;
  return sql.get(text, catalogue, name, version);
}

/** A page of a package's versions, newest first. */
export async function listVersions(
  sql: Sql,
  catalogue: Catalogue,
  name: string,
  page: { offset: number; limit: number },
): Promise<{ versions: Version[]; total: number }> {
  const versions = await sql.all<Version>(
    `SELECT ${COLUMNS} FROM versions WHERE line = ? AND package = ?
     ORDER BY sort_key DESC, version DESC LIMIT ? OFFSET ?`,
    catalogue,
    name,
    page.limit,
    page.offset,
  );
  const text = 'SELECT COUNT(*) AS total FROM versions WHERE line = ? AND package = ?';
  const count = await sql.get<{ total: number }>(text, catalogue, name);
  return { versions, total: count?.total ?? 0 };
}

/**
 * A page of a package's versions, newest first. It begins behind the version `after`, which may have been removed
 * since.
 */
export function versionsBehind(
  sql: Sql,
  catalogue: Catalogue,
  name: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<Version[]> {
  const key = after === undefined ? undefined : versionSortKey(after);
  const behind = after === undefined ? '' : ' AND (sort_key < ? OR (sort_key = ? AND version < ?))';
  const values = after === undefined || key === undefined ? [] : [key, key, after];
  return sql.all<Version>(
    `SELECT ${COLUMNS} FROM versions WHERE line = ? AND package = ?${behind}
     ORDER BY sort_key DESC, version DESC LIMIT ?`,
    catalogue,
    name,
    ...values,
    limit,
  );
}

export async function hasVersions(sql: Sql, catalogue: Catalogue, name: string): Promise<boolean> {
  const text = 'SELECT 1 AS one FROM versions WHERE line = ? AND package = ? LIMIT 1';
  return (await sql.get(text, catalogue, name)) !== undefined;
}

/** Returns false when the package has that version already. The database refuses a version without its package. */
export async function insertVersion(sql: Sql, catalogue: Catalogue, row: Version): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO versions
       (line, package, version, sort_key, description, binary_id, stored_bytes, distribution_started_at, requires_firmware,
        created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (line, package, version) DO NOTHING`,
    catalogue,
    row.package,
    row.version,
    versionSortKey(row.version),
    row.description,
    row.binaryId,
    row.storedBytes,
    row.distributionStartedAt,
    row.requiresFirmware,
    row.createdAt,
    row.updatedAt,
  );
  return inserted === 1;
}

/** Stores what can be changed of a version, and the time of the change. */
export async function updateVersion(sql: Sql, catalogue: Catalogue, row: Version): Promise<void> {
  await sql.run(
    `UPDATE versions SET description = ?, distribution_started_at = ?, revert_of = ?, requires_firmware = ?, updated_at = ?
     WHERE line = ? AND package = ? AND version = ?`,
    row.description,
    row.distributionStartedAt,
    row.revertOf,
    row.requiresFirmware,
    row.updatedAt,
    catalogue,
    row.package,
    row.version,
  );
}

/** The newest version that brings devices back from a version. */
export async function findWayBack(
  sql: Sql,
  catalogue: Catalogue,
  name: string,
  version: string,
): Promise<string | undefined> {
  const row = await sql.get<{ version: string }>(
    `SELECT version FROM versions WHERE line = ? AND package = ? AND revert_of = ?
     ORDER BY sort_key DESC, version DESC LIMIT 1`,
    catalogue,
    name,
    version,
  );
  return row?.version;
}

export async function deleteVersion(sql: Sql, catalogue: Catalogue, name: string, version: string): Promise<void> {
  await sql.run('DELETE FROM versions WHERE line = ? AND package = ? AND version = ?', catalogue, name, version);
}

/** The time since which the binary's version is distributed (microseconds); null when it is not. */
export async function findDistributionOfBinary(sql: Sql, binaryId: string): Promise<number | null> {
  const row = await sql.get<{ since: number | null }>(
    'SELECT distribution_started_at AS since FROM versions WHERE binary_id = ?',
    binaryId,
  );
  return row?.since ?? null;
}

/** The developer of the binary's version; null for the service's own, and when no version refers to the binary. */
export async function findDeveloperOfBinary(sql: Sql, binaryId: string): Promise<string | null> {
  const row = await sql.get<{ developerId: string | null }>(
    `SELECT p.developer_id AS "developerId" FROM versions v
       JOIN packages p ON p.line = v.line AND p.package = v.package WHERE v.binary_id = ?`,
    binaryId,
  );
  return row?.developerId ?? null;
}
