import type { Sql, SqlValue } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';
import { INSTALLS, SEPARATOR, subjectOf } from './transaction-conditions.ts';

/** A package of software, or of firmware, as `line` says. */
export interface PackageName {
  line: 'software' | 'firmware';
  package: string;
}

export interface InstalledName extends PackageName {
  version: string;
}

export type InstallationState = 'installed' | 'waiting' | 'failed';

/** A device that has a version installed, waits for it, or failed to install it. */
export interface Installation {
  deviceId: string;
  state: InstallationState;
  errorCode: string | null;
  /** The time of the report, request or failure in microseconds; null when it is unknown. */
  since: Micros | null;
}

/** The conditions that listed installations must match; times, in microseconds, are those of the state. */
export interface InstallationFilter {
  errorCode?: string;
  since?: Micros;
  until?: Micros;
}

interface Source {
  /** The SQL expression that selects the version. */
  version: string;
  versionValues: SqlValue[];
  errorCode: string;
  since: string;
  /** The SQL from FROM on; the deviceId in it is `x.device_id`. */
  from: string;
  values: SqlValue[];
}

/**
 * The SQL for the devices in one state, for one version of a package or for all its versions. Per version, a device is
 * in one state at most. With `applicationId`, only devices that are activated for the application are found, and only
 * its own transactions count.
 */
function sourceOf(
  state: InstallationState,
  { line, package: name, version }: PackageName & { version?: string | undefined },
  applicationId: string | undefined,
): Source {
  const own =
    applicationId === undefined
      ? ''
      : ' AND EXISTS (SELECT 1 FROM devices d WHERE d.device_id = x.device_id AND d.application_id = ?)';
  const ownValues = applicationId === undefined ? [] : [applicationId];
  if (state === 'installed') {
    const plain = { versionValues: [], errorCode: 'CAST(NULL AS TEXT)' };
    const one = version === undefined ? [] : [version];
    if (line === 'firmware') {
      const which = version === undefined ? 'x.firmware IS NOT NULL' : 'x.firmware = ?';
      const from = `FROM device_status x WHERE ${which}${own}`;
      return { ...plain, version: 'x.firmware', since: 'CAST(NULL AS BIGINT)', from, values: [...one, ...ownValues] };
    }
    const which = version === undefined ? '' : ' AND x.version = ?';
    const from = `FROM device_software x WHERE x.package = ?${which}${own}`;
    return { ...plain, version: 'x.version', since: 'x.since', from, values: [name, ...one, ...ownValues] };
  }
  const has =
    line === 'software'
      ? `SELECT 1 FROM device_software w WHERE w.device_id = x.device_id AND w.package = ?
         AND x.subject = w.package || '${SEPARATOR}' || w.version`
      : `SELECT 1 FROM device_status w WHERE w.device_id = x.device_id AND x.subject = CAST(? AS TEXT) || '${SEPARATOR}' || w.firmware`;
  const waits = `SELECT 1 FROM transactions u WHERE u.device_id = x.device_id AND u.due = 1 AND u.completed_at IS NULL
    AND u.${INSTALLS} AND u.subject = x.subject`;
  const [which, ...subjects] = subjectOf(name, version, 'x.subject');
  const asked = applicationId === undefined ? '' : ' AND x.application_id = ?';
  // A device may have several transactions for a version. Of the waiting ones the first counts, of the failed ones the
  // last.
  const condition =
    state === 'waiting'
      ? `x.due = 1 AND x.completed_at IS NULL AND x.${INSTALLS} AND ${which} AND NOT EXISTS (${has})
         AND NOT EXISTS (${waits} AND u.transaction_id < x.transaction_id)`
      : `x.error_code IS NOT NULL AND x.status = 'failed' AND x.${INSTALLS} AND ${which} AND NOT EXISTS (${has}) AND NOT EXISTS (${waits})
         AND NOT EXISTS (SELECT 1 FROM transactions l WHERE l.subject = x.subject AND l.device_id = x.device_id
           AND l.transaction_id > x.transaction_id AND l.error_code IS NOT NULL AND l.status = 'failed'
             AND l.${INSTALLS})`;
  return {
    version: 'substr(x.subject, CAST(? AS INTEGER))',
    versionValues: [name.length + SEPARATOR.length + 1],
    errorCode: state === 'waiting' ? 'CAST(NULL AS TEXT)' : 'x.error_code',
    since: state === 'waiting' ? 'x.created_at' : 'x.completed_at',
    from: `FROM transactions x WHERE ${condition}${asked}${own}`,
    values: [...subjects, name, ...ownValues, ...ownValues],
  };
}

/** Counts the devices in a state, by version and error code. The code is null, except for `failed`. */
export function countInstallations(
  sql: Sql,
  state: InstallationState,
  name: PackageName,
  applicationId: string | undefined,
): Promise<{ version: string; code: string | null; devices: number }[]> {
  const { version, versionValues, errorCode, from, values } = sourceOf(state, name, applicationId);
  return sql.all(
    `SELECT version, code, count(*) AS devices FROM (SELECT ${version} AS version, ${errorCode} AS code ${from}) AS found
     GROUP BY version, code ORDER BY devices DESC, code`,
    ...versionValues,
    ...values,
  );
}

/** Lists the devices that are in a state for a version, in the order of their deviceIds, after a deviceId. */
export async function listInstallations(
  sql: Sql,
  state: InstallationState,
  name: InstalledName,
  {
    applicationId,
    after,
    limit,
    ...filter
  }: InstallationFilter & {
    applicationId: string | undefined;
    after: string;
    limit: number;
  },
): Promise<Installation[]> {
  const { errorCode, since, from, values } = sourceOf(state, name, applicationId);
  const filters: [condition: string, value: SqlValue][] = [];
  if (filter.errorCode !== undefined) filters.push([`${errorCode} = ?`, filter.errorCode]);
  if (filter.since !== undefined) filters.push([`${since} >= ?`, filter.since]);
  if (filter.until !== undefined) filters.push([`${since} < ?`, filter.until]);
  const rows = await sql.all<Omit<Installation, 'state'>>(
    `SELECT x.device_id AS "deviceId", ${errorCode} AS "errorCode", ${since} AS since ${from} AND x.device_id > ?
     ${filters.map(([condition]) => `AND ${condition} `).join('')}ORDER BY x.device_id LIMIT ?`,
    ...values,
    after,
    ...filters.map(([, value]) => value),
    limit,
  );
  return rows.map((row) => ({ ...row, state }));
}

/** The software that a device last reported as installed, in the order of its packages. */
export const installedOn = (
  sql: Sql,
  deviceId: string,
): Promise<{ package: string; version: string; since: number }[]> =>
  sql.all('SELECT package, version, since FROM device_software WHERE device_id = ? ORDER BY package', deviceId);

/** The transactions of a device that install software, newest first; `subject` is `package@version`. */
export const installsOf = (
  sql: Sql,
  deviceId: string,
): Promise<{ subject: string; errorCode: string | null; createdAt: Micros; completedAt: number | null }[]> =>
  sql.all(
    `SELECT subject, CASE WHEN status = 'failed' THEN error_code END AS "errorCode", created_at AS "createdAt", completed_at AS "completedAt"
     FROM transactions WHERE device_id = ? AND (due = 1 OR due = 0) AND operation = 'installSoftware'
     AND subject IS NOT NULL ORDER BY transaction_id DESC LIMIT 1000`,
    deviceId,
  );
