import { containing, ESCAPE } from '../../platform/database/like.ts';
import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Catalogue } from './catalogue.ts';

export interface Package {
  package: string;
  /** Null for a package of the service itself. */
  developerId: string | null;
  displayName: string | null;
  createdAt: Micros;
  updatedAt: Micros;
}

const COLUMNS = `package, developer_id AS "developerId", display_name AS "displayName",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/**
 * Finds a package. A unit of work that changes the package or one of its versions passes `lock` (its `forUpdate`):
 * until the unit ends, no other unit changes the owner or the versions of the package, or deletes it.
 */
export async function findPackage(
  sql: Sql,
  catalogue: Catalogue,
  name: string,
  lock: Lock = '',
): Promise<Package | undefined> {
  return sql.get(`SELECT ${COLUMNS} FROM packages WHERE line = ? AND package = ?${lock}`, catalogue, name);
}

/** A page of a developer's packages, ordered by name, and their total number. */
export async function listPackages(
  sql: Sql,
  developerId: string,
  page: { offset: number; limit: number },
): Promise<{ packages: Package[]; total: number }> {
  const packages = await sql.all<Package>(
    `SELECT ${COLUMNS} FROM packages WHERE line = 'software' AND developer_id = ?
     ORDER BY package LIMIT ? OFFSET ?`,
    developerId,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(
    `SELECT COUNT(*) AS total FROM packages WHERE line = 'software' AND developer_id = ?`,
    developerId,
  );
  return { packages, total: count?.total ?? 0 };
}

/** Whether the developer has a package. */
export async function hasPackages(sql: Sql, developerId: string): Promise<boolean> {
  const text = 'SELECT 1 AS one FROM packages WHERE developer_id = ? LIMIT 1';
  return (await sql.get(text, developerId)) !== undefined;
}

/** Packages whose name or display name contains a text, ordered by name. */
export const searchPackages = (
  sql: Sql,
  text: string,
  limit: number,
): Promise<{ package: string; line: Catalogue }[]> =>
  sql.all(
    `SELECT package, line FROM packages WHERE LOWER(package) LIKE ? ${ESCAPE} OR LOWER(display_name) LIKE ? ${ESCAPE}
     ORDER BY package, line LIMIT ?`,
    containing(text),
    containing(text),
    limit,
  );

/** A package as the administration lists it. */
export interface PackageSummary extends Package {
  line: Catalogue;
  forAll: boolean;
  versions: number;
  newest: string | null;
}

const SUMMARY = `SELECT p.line, p.package, p.developer_id AS "developerId", p.display_name AS "displayName", p.for_all AS "forAll",
  p.created_at AS "createdAt", COALESCE((SELECT MAX(v.updated_at) FROM versions v WHERE v.line = p.line
    AND v.package = p.package AND v.updated_at > p.updated_at), p.updated_at) AS "updatedAt",
  (SELECT count(*) FROM versions v WHERE v.line = p.line AND v.package = p.package) AS versions,
  (SELECT v.version FROM versions v WHERE v.line = p.line AND v.package = p.package
    ORDER BY v.sort_key DESC, v.version DESC LIMIT 1) AS newest FROM packages p`;

const toSummary = (row: Omit<PackageSummary, 'forAll'> & { forAll: number }): PackageSummary => ({
  ...row,
  forAll: row.forAll !== 0,
});

export async function findPackageSummary(sql: Sql, line: Catalogue, name: string): Promise<PackageSummary | undefined> {
  const row = await sql.get<Parameters<typeof toSummary>[0]>(
    `${SUMMARY} WHERE p.line = ? AND p.package = ?`,
    line,
    name,
  );
  return row && toSummary(row);
}

/** A page of packages, ordered by catalogue and name, after the given package. */
export async function listPackageSummaries(
  sql: Sql,
  {
    line,
    developerId,
    after,
    limit,
  }: {
    line?: Catalogue | undefined;
    developerId?: string | undefined;
    after: { line: string; package: string };
    limit: number;
  },
): Promise<PackageSummary[]> {
  const filters = [
    ...(line === undefined ? [] : [['p.line = ?', line] as const]),
    ...(developerId === undefined ? [] : [['p.developer_id = ?', developerId] as const]),
  ];
  const rows = await sql.all<Parameters<typeof toSummary>[0]>(
    `${SUMMARY} WHERE ${[...filters.map(([condition]) => condition), '(p.line, p.package) > (?, ?)'].join(' AND ')}
     ORDER BY p.line, p.package LIMIT ?`,
    ...filters.map(([, value]) => value),
    after.line,
    after.package,
    limit,
  );
  return rows.map(toSummary);
}

/**
 * Registers a package; returns false when anybody has taken the name. `forAll`: every application of the developer may
 * distribute it.
 */
export async function insertPackage(
  sql: Sql,
  catalogue: Catalogue,
  row: Package & { forAll: boolean },
): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO packages (line, package, developer_id, display_name, for_all, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (line, package) DO NOTHING`,
    catalogue,
    row.package,
    row.developerId,
    row.displayName,
    row.forAll ? 1 : 0,
    row.createdAt,
    row.updatedAt,
  );
  return inserted === 1;
}

/** Finds and locks the package of that name, or inserts the given one. */
export async function findOrInsertPackage(
  unit: UnitOfWork,
  catalogue: Catalogue,
  row: Package & { forAll: boolean },
): Promise<Package> {
  const known = await findPackage(unit, catalogue, row.package, unit.forUpdate);
  if (known || (await insertPackage(unit, catalogue, row))) return known ?? row;
  const other = await findPackage(unit, catalogue, row.package, unit.forUpdate); // another unit has just registered it
  if (!other) throw new Error(`the package ${row.package} was registered and removed in this moment`);
  return other;
}

export async function updatePackage(sql: Sql, catalogue: Catalogue, row: Package): Promise<void> {
  await sql.run(
    'UPDATE packages SET display_name = ?, updated_at = ? WHERE line = ? AND package = ?',
    row.displayName,
    row.updatedAt,
    catalogue,
    row.package,
  );
}

/** Deletes a package. The database refuses it while versions refer to it. */
export async function deletePackage(sql: Sql, catalogue: Catalogue, name: string): Promise<void> {
  await sql.run('DELETE FROM package_permissions WHERE line = ? AND package = ?', catalogue, name);
  await sql.run('DELETE FROM packages WHERE line = ? AND package = ?', catalogue, name);
}

/** Permits an application to distribute a package of its developer; repeating it changes nothing. */
export async function permitApplication(sql: Sql, name: string, applicationId: string): Promise<void> {
  await sql.run(
    `INSERT INTO package_permissions (line, package, application_id) VALUES ('software', ?, ?)
     ON CONFLICT (line, package, application_id) DO NOTHING`,
    name,
    applicationId,
  );
}
