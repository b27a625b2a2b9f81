import type { Sql } from '../../platform/database/sql.ts';

/** The SHA-256 of a binary with this ETag; undefined when it was not computed, or only for another upload. */
export async function findDigest(sql: Sql, binaryId: string, etag: string): Promise<string | undefined> {
  const row = await sql.get<{ sha256: string }>(
    'SELECT sha256 FROM binary_digests WHERE binary_id = ? AND etag = ?',
    binaryId,
    etag,
  );
  return row?.sha256;
}

/** Stores a digest, unless the version was removed meanwhile. */
export async function saveDigest(
  sql: Sql,
  { binaryId, etag, sha256 }: { binaryId: string; etag: string; sha256: string },
): Promise<void> {
  await sql.run(
    `INSERT INTO binary_digests (binary_id, etag, sha256) SELECT binary_id, ?, ? FROM versions WHERE binary_id = ?
     ON CONFLICT (binary_id) DO UPDATE SET etag = excluded.etag, sha256 = excluded.sha256`,
    etag,
    sha256,
    binaryId,
  );
}
