import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';

/** A developer's usage of the quotas. */
export interface Usage {
  packages: number;
  versions: number;
  /** The bytes of uploaded binaries, and the announced bytes of binaries whose upload URL was issued. */
  storedBytes: number;
}

const NOTHING: Usage = { packages: 0, versions: 0, storedBytes: 0 };

const find = (sql: Sql, developerId: string, lock: Lock): Promise<Usage | undefined> =>
  sql.get(
    `SELECT packages, versions, stored_bytes AS "storedBytes" FROM developer_usage WHERE developer_id = ?${lock}`,
    developerId,
  );

export const findUsage = async (sql: Sql, developerId: string): Promise<Usage> =>
  (await find(sql, developerId, '')) ?? NOTHING;

/** Reads a developer's usage and locks it until the unit ends. To avoid deadlocks, the package is locked before it. */
export async function lockUsage(unit: UnitOfWork, developerId: string): Promise<Usage> {
  const known = await find(unit, developerId, unit.forUpdate);
  if (known) return known;
  await unit.run(
    `INSERT INTO developer_usage (developer_id, packages, versions, stored_bytes) VALUES (?, 0, 0, 0)
     ON CONFLICT (developer_id) DO NOTHING`,
    developerId,
  );
  return (await find(unit, developerId, unit.forUpdate)) ?? NOTHING;
}

/** Adds to a developer's usage; a removal is negative. */
export async function addUsage(unit: UnitOfWork, developerId: string, by: Partial<Usage>): Promise<void> {
  await lockUsage(unit, developerId); // makes sure that the developer's row exists
  await unit.run(
    `UPDATE developer_usage SET packages = packages + ?, versions = versions + ?, stored_bytes = stored_bytes + ?
     WHERE developer_id = ?`,
    by.packages ?? 0,
    by.versions ?? 0,
    by.storedBytes ?? 0,
    developerId,
  );
}

/** A version of a developer's package, with the size of its binary. */
export interface StoredVersion {
  developerId: string;
  package: string;
  version: string;
  storedBytes: number;
}

/** Finds the version of a binary; undefined for the service's own software, and when no version refers to it. */
export const findStoredVersion = (sql: Sql, binaryId: string): Promise<StoredVersion | undefined> =>
  sql.get(
    `SELECT p.developer_id AS "developerId", v.package, v.version, v.stored_bytes AS "storedBytes" FROM versions v
       JOIN packages p ON p.line = v.line AND p.package = v.package
     WHERE v.binary_id = ? AND v.line = 'software' AND p.developer_id IS NOT NULL`,
    binaryId,
  );

/** Stores the size of a version's binary. */
export async function setStoredBytes(
  unit: UnitOfWork,
  of: { package: string; version: string },
  storedBytes: number,
): Promise<void> {
  await unit.run(
    `UPDATE versions SET stored_bytes = ? WHERE line = 'software' AND package = ? AND version = ?`,
    storedBytes,
    of.package,
    of.version,
  );
}

/** Stores the size of a version's binary, and counts the change for the developer. */
export async function saveStoredBytes(unit: UnitOfWork, of: StoredVersion, storedBytes: number): Promise<void> {
  if (storedBytes === of.storedBytes) return;
  await setStoredBytes(unit, of, storedBytes);
  await addUsage(unit, of.developerId, { storedBytes: storedBytes - of.storedBytes });
}

/** Forgets what was counted for a developer. */
export async function forgetUsage(unit: UnitOfWork, developerId: string): Promise<void> {
  await unit.run('DELETE FROM developer_usage WHERE developer_id = ?', developerId);
}
