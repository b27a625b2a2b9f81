import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

interface Orphan {
  binaryId: string;
  foundAt: Micros;
}

export const listOrphans = (sql: Sql): Promise<Orphan[]> =>
  sql.all('SELECT binary_id AS "binaryId", found_at AS "foundAt" FROM orphaned_objects');

/** Stores that no version refers to an object; an earlier time is kept. */
export async function rememberOrphan(sql: Sql, { binaryId, foundAt }: Orphan): Promise<void> {
  await sql.run(
    'INSERT INTO orphaned_objects (binary_id, found_at) VALUES (?, ?) ON CONFLICT (binary_id) DO NOTHING',
    binaryId,
    foundAt,
  );
}

export async function forgetOrphan(sql: Sql, binaryId: string): Promise<void> {
  await sql.run('DELETE FROM orphaned_objects WHERE binary_id = ?', binaryId);
}

/** Whether a version refers to the object. */
export async function isReferred(sql: Sql, binaryId: string): Promise<boolean> {
  return (await sql.get('SELECT 1 AS "one" FROM versions WHERE binary_id = ?', binaryId)) !== undefined;
}

/** Deletes the inspection, the digest and the signature of a removed binary. */
export async function forgetBinary(sql: Sql, binaryId: string): Promise<void> {
  await sql.run('DELETE FROM binary_contents WHERE binary_id = ?', binaryId);
  await sql.run('DELETE FROM binary_digests WHERE binary_id = ?', binaryId);
  await sql.run('DELETE FROM binary_certificates WHERE binary_id = ?', binaryId);
  await sql.run('DELETE FROM version_signatures WHERE binary_id = ?', binaryId);
}
