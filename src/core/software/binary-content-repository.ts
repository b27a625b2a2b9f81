import type { Sql } from '../../platform/database/sql.ts';

interface BinaryContent {
  binaryId: string;
  /** As registered. */
  package: string;
  version: string;
  etag: string;
  /** As the file says; null when it could not be read. */
  foundPackage: string | null;
  foundVersionName: string | null;
  foundVersionCode: number | null;
  /** How the file differs from what was registered; null when it does not. */
  warning: string | null;
  /** Microseconds. */
  readAt: number;
}

export async function findEtag(sql: Sql, binaryId: string): Promise<string | undefined> {
  const row = await sql.get<{ etag: string }>('SELECT etag FROM binary_contents WHERE binary_id = ?', binaryId);
  return row?.etag;
}

/** What was found in a binary as it was uploaded under that ETag; undefined when nobody has looked. */
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

export async function saveContent(sql: Sql, content: BinaryContent): Promise<void> {
  await sql.run(
    `INSERT INTO binary_contents (binary_id, package, version, etag, found_package, found_version_name,
       found_version_code, warning, read_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (binary_id) DO UPDATE SET etag = excluded.etag, found_package = excluded.found_package,
       found_version_name = excluded.found_version_name, found_version_code = excluded.found_version_code,
       warning = excluded.warning, read_at = excluded.read_at`,
    content.binaryId,
    content.package,
    content.version,
    content.etag,
    content.foundPackage,
    content.foundVersionName,
    content.foundVersionCode,
    content.warning,
    content.readAt,
  );
}

// Of versions that are still registered as they were when the file was read.
const WARNINGS = `FROM binary_contents c WHERE c.warning IS NOT NULL AND EXISTS (
  SELECT 1 FROM versions v WHERE v.line = 'software' AND v.package = c.package AND v.version = c.version
    AND v.binary_id = c.binary_id)`;

/** A page of the binaries that differ from what was registered, by package and version, and how many there are. */
export async function listWarnings(
  sql: Sql,
  page: { offset: number; limit: number },
): Promise<{ rows: BinaryContent[]; total: number }> {
  const rows = await sql.all<BinaryContent>(
    `SELECT c.binary_id AS "binaryId", c.package, c.version, c.etag, c.found_package AS "foundPackage",
       c.found_version_name AS "foundVersionName", c.found_version_code AS "foundVersionCode", c.warning,
       c.read_at AS "readAt" ${WARNINGS} ORDER BY c.package, c.version LIMIT ? OFFSET ?`,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(`SELECT count(*) AS "total" ${WARNINGS}`);
  return { rows, total: count?.total ?? 0 };
}
