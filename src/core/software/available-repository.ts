import type { Sql } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Catalogue } from './catalogue.ts';

/** A version with its package, as the lists of available software show it. */
export interface AvailableVersion {
  package: string;
  displayName: string | null;
  version: string;
  description: string | null;
  /** The time at which the distribution was started, in microseconds; null when the version is not distributed. */
  distributionStartedAt: Micros | null;
  createdAt: Micros;
  updatedAt: Micros;
}

/** `package` selects one package; `latest` selects the newest version of each. */
interface Filter {
  package?: string;
  latest: boolean;
}

const COLUMNS = `p.package, p.display_name AS "displayName", v.version, v.description,
  v.distribution_started_at AS "distributionStartedAt", v.created_at AS "createdAt", v.updated_at AS "updatedAt"`;
// The owner's packages come first, then their versions. SQLite keeps the order of a CROSS JOIN, so the rows come in the
// order of two indexes, and rows of other owners are not read.
const JOINED = 'packages p CROSS JOIN versions v';
const OF_PACKAGE = 'v.line = p.line AND v.package = p.package';
const ORDER = 'ORDER BY p.package, v.sort_key DESC, v.version DESC';
const IS_NEWEST = `v.version = (SELECT n.version FROM versions n WHERE n.line = p.line AND n.package = p.package
  ORDER BY n.sort_key DESC, n.version DESC LIMIT 1)`;
const OF_CALLER = `${OF_PACKAGE} AND p.line = 'software' AND p.developer_id = ? AND (p.for_all = 1 OR EXISTS (
  SELECT 1 FROM package_permissions m WHERE m.line = p.line AND m.package = p.package AND m.application_id = ?))`;

/**
 * A page of the versions that an application may distribute (op 24), ordered by package and then newest version first,
 * and their total number.
 */
export async function listDistributable(
  sql: Sql,
  caller: { developerId: string; applicationId: string },
  filter: Filter,
  page: { offset: number; limit: number },
): Promise<{ rows: AvailableVersion[]; total: number }> {
  const named = filter.package === undefined ? [] : [filter.package];
  const where = [OF_CALLER, ...(named.length > 0 ? ['p.package = ?'] : []), ...(filter.latest ? [IS_NEWEST] : [])];
  const condition = where.join(' AND ');
  const values = [caller.developerId, caller.applicationId, ...named];
  const rows = await sql.all<AvailableVersion>(
    `SELECT ${COLUMNS} FROM ${JOINED} WHERE ${condition} ${ORDER} LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(
    `SELECT COUNT(*) AS total FROM ${JOINED} WHERE ${condition}`,
    ...values,
  );
  return { rows, total: count?.total ?? 0 };
}

/** The newest versions of each system package, at most `perPackage` of one. */
export async function listNewestOfSystem(
  sql: Sql,
  filter: { package?: string },
  perPackage: number,
): Promise<AvailableVersion[]> {
  const named = filter.package === undefined ? [] : [filter.package];
  return sql.all(
    `SELECT package, "displayName", version, description, "distributionStartedAt", "createdAt", "updatedAt" FROM (
       SELECT ${COLUMNS}, v.sort_key,
         ROW_NUMBER() OVER (PARTITION BY p.package ORDER BY v.sort_key DESC, v.version DESC) AS place
       FROM ${JOINED} WHERE ${OF_PACKAGE} AND p.line = 'software' AND p.developer_id IS NULL ${named.length > 0 ? 'AND p.package = ?' : ''}
     ) AS ranked WHERE place <= ? ORDER BY package, sort_key DESC, version DESC`,
    ...named,
    perPackage,
  );
}

/**
 * A page of the service's own versions in one catalogue (see catalogue.ts), ordered by package and then newest version
 * first.
 */
export async function listServiceSoftware(
  sql: Sql,
  catalogue: Catalogue,
  page: { offset: number; limit: number },
): Promise<{ rows: AvailableVersion[]; total: number }> {
  const where = `${OF_PACKAGE} AND p.line = ? AND p.developer_id IS NULL`;
  const rows = await sql.all<AvailableVersion>(
    `SELECT ${COLUMNS} FROM ${JOINED} WHERE ${where} ${ORDER} LIMIT ? OFFSET ?`,
    catalogue,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM ${JOINED} WHERE ${where}`, catalogue);
  return { rows, total: count?.total ?? 0 };
}

/** Every firmware version (op 29), ordered by package and then newest version first. */
export async function listFirmware(sql: Sql): Promise<{ package: string; version: string }[]> {
  return sql.all(
    `SELECT p.package, v.version FROM ${JOINED} WHERE ${OF_PACKAGE} AND p.line = 'firmware' AND p.developer_id IS NULL ${ORDER}`,
  );
}
