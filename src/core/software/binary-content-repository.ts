import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

export interface BinaryContent {
  binaryId: string;
  /** The registered package and version. */
  package: string;
  version: string;
  etag: string;
  /** The package and version in the file; null when it could not be read. */
  foundPackage: string | null;
  foundVersionName: string | null;
  foundVersionCode: number | null;
  /** How the file differs from the registration, or why it cannot be read as an APK; null when it fits. */
  warning: string | null;
  readAt: Micros;
}

export async function findEtag(sql: Sql, binaryId: string): Promise<string | undefined> {
  const row = await sql.get<{ etag: string }>('SELECT etag FROM binary_contents WHERE binary_id = ?', binaryId);
  return row?.etag;
}

/** The result of the inspection of a binary with this ETag; undefined when it was not inspected. */
export const findContent = (
  sql: Sql,
  binaryId: string,
  etag: string,
): Promise<Pick<BinaryContent, 'foundPackage' | 'foundVersionName' | 'warning'> | undefined> =>
  sql.get(
    `SELECT found_package AS "foundPackage", found_version_name AS "foundVersionName", warning FROM binary_contents
     WHERE binary_id = ? AND etag = ?`,
    binaryId,
    etag,
  );

/** Stores an inspection, unless the version was removed meanwhile. */
export async function saveContent(sql: Sql, content: BinaryContent): Promise<void> {
  await sql.run(
    `INSERT INTO binary_contents (binary_id, package, version, etag, found_package, found_version_name,
       found_version_code, warning, read_at)
     SELECT binary_id, ?, ?, ?, ?, ?, CAST(? AS BIGINT), ?, CAST(? AS BIGINT) FROM versions WHERE binary_id = ?
     ON CONFLICT (binary_id) DO UPDATE SET etag = excluded.etag, found_package = excluded.found_package,
       found_version_name = excluded.found_version_name, found_version_code = excluded.found_version_code,
       warning = excluded.warning, read_at = excluded.read_at`,
    content.package,
    content.version,
    content.etag,
    content.foundPackage,
    content.foundVersionName,
    content.foundVersionCode,
    content.warning,
    content.readAt,
    content.binaryId,
  );
}

/** A binary whose inspection was put off. */
export interface PutOff {
  binaryId: string;
  package: string;
  version: string;
}

// The ETag of a row whose inspection was put off. Its `read_at` is the time at which the inspection is due.
const NO_VERDICT = '';

/**
 * Stores that a binary is due for its inspection, unless it has a verdict for this ETag (null: the ETag is not known), or
 * its version was removed. The warning of the file before stays until then.
 */
export async function savePutOff(
  sql: Sql,
  { binaryId, etag, dueAt }: { binaryId: string; etag: string | null; dueAt: Micros },
): Promise<void> {
  await sql.run(
    `INSERT INTO binary_contents (binary_id, package, version, etag, read_at)
     SELECT binary_id, package, version, ?, CAST(? AS BIGINT) FROM versions WHERE binary_id = ? AND line = 'software'
     ON CONFLICT (binary_id) DO UPDATE SET etag = excluded.etag, read_at = excluded.read_at
     WHERE binary_contents.etag <> ?`,
    NO_VERDICT,
    dueAt,
    binaryId,
    etag ?? 'unknown',
  );
}

/** The binaries whose inspection was due at this time, the longest due first. */
export const findPutOff = (sql: Sql, at: Micros, limit: number): Promise<PutOff[]> =>
  sql.all(
    `SELECT binary_id AS "binaryId", package, version FROM binary_contents WHERE etag = ? AND read_at <= ?
     ORDER BY read_at, binary_id LIMIT ?`,
    NO_VERDICT,
    at,
    limit,
  );

/** The time at which the next inspection that was put off is due; undefined when there is none. */
export async function whenPutOffIsDue(sql: Sql): Promise<Micros | undefined> {
  const row = await sql.get<{ due: Micros | null }>(
    'SELECT min(read_at) AS due FROM binary_contents WHERE etag = ?',
    NO_VERDICT,
  );
  return row?.due ?? undefined;
}

/** Makes an inspection due again at `until`, so that no other node takes it up before. Returns false when it is not due. */
export const claimPutOff = async (sql: Sql, binaryId: string, now: Micros, until: Micros): Promise<boolean> =>
  (await sql.run(
    'UPDATE binary_contents SET read_at = ? WHERE binary_id = ? AND etag = ? AND read_at <= ?',
    until,
    binaryId,
    NO_VERDICT,
    now,
  )) === 1;

/** Removes the mark of an inspection that was put off: its binary is gone. */
export async function deletePutOff(sql: Sql, binaryId: string): Promise<void> {
  await sql.run('DELETE FROM binary_contents WHERE binary_id = ? AND etag = ?', binaryId, NO_VERDICT);
}

/** The binaries of distributed versions that were never inspected. */
export const findUninspected = (sql: Sql, limit: number): Promise<{ binaryId: string }[]> =>
  sql.all(
    `SELECT v.binary_id AS "binaryId" FROM versions v WHERE v.line = 'software' AND v.distribution_started_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM binary_contents c WHERE c.binary_id = v.binary_id) LIMIT ?`,
    limit,
  );

// An inspection counts only if its version still has the same binary, and the package and version have the same names
// as when it was inspected.
const WARNINGS = `FROM binary_contents c WHERE c.warning IS NOT NULL AND EXISTS (
  SELECT 1 FROM versions v WHERE v.line = 'software' AND v.package = c.package AND v.version = c.version
    AND v.binary_id = c.binary_id)`;
const OF_DEVELOPER = ` AND EXISTS (SELECT 1 FROM packages p WHERE p.line = 'software' AND p.package = c.package
  AND p.developer_id = ?)`;

/**
 * A page of the binaries with a warning (they differ from their registration, or cannot be read as an APK), ordered by
 * package and version, and their total number; of one developer, or of all.
 */
export async function listWarnings(
  sql: Sql,
  { developerId, ...page }: { offset: number; limit: number; developerId?: string | undefined },
): Promise<{ rows: BinaryContent[]; total: number }> {
  const from = developerId === undefined ? WARNINGS : WARNINGS + OF_DEVELOPER;
  const values = developerId === undefined ? [] : [developerId];
  const rows = await sql.all<BinaryContent>(
    `SELECT c.binary_id AS "binaryId", c.package, c.version, c.etag, c.found_package AS "foundPackage",
       c.found_version_name AS "foundVersionName", c.found_version_code AS "foundVersionCode", c.warning,
       c.read_at AS "readAt" ${from} ORDER BY c.package, c.version LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(`SELECT count(*) AS "total" ${from}`, ...values);
  return { rows, total: count?.total ?? 0 };
}
