import type { Sql, SqlValue } from '../database/sql.ts';

/** What is installed: `line` says whether software or firmware. */
export interface InstalledName {
  line: 'software' | 'firmware';
  package: string;
  version: string;
}

/** Whose devices count: of one application, or everybody's. */
export interface Of {
  applicationId: string | undefined;
}

type InstallationState = 'installed' | 'waiting' | 'failed';

/** A device that has a version, waits for it, or failed at it. */
export interface Installation {
  deviceId: string;
  state: InstallationState;
  errorCode: string | null;
  /** Microseconds; null when nobody has noted it. */
  since: number | null;
}

const INSTALLS = `operation IN ('installSoftware', 'updateFirmware')`;

interface Source {
  columns: string;
  from: string;
  values: SqlValue[];
}

const subjectOf = ({ package: name, version }: InstalledName): string => `${name}@${version}`;

/** The devices of a version in one state; no device is in two. Its deviceId is `x.device_id`. */
function sourceOf(state: InstallationState, name: InstalledName, { applicationId }: Of): Source {
  const has =
    name.line === 'software'
      ? 'SELECT 1 FROM device_software w WHERE w.device_id = x.device_id AND w.package = ? AND w.version = ?'
      : 'SELECT 1 FROM device_status w WHERE w.device_id = x.device_id AND w.firmware = ?';
  const hasValues = name.line === 'software' ? [name.package, name.version] : [name.version];
  const waits = `SELECT 1 FROM transactions u WHERE u.device_id = x.device_id AND u.due = 1 AND u.completed_at IS NULL
    AND u.${INSTALLS} AND u.subject = ?`;
  const own = 'EXISTS (SELECT 1 FROM devices d WHERE d.device_id = x.device_id AND d.application_id = ?)';
  const subject = subjectOf(name);
  const ownValues = applicationId === undefined ? [] : [applicationId];
  const ended = (condition: string): string => (applicationId === undefined ? condition : `${condition} AND ${own}`);
  if (state === 'installed') {
    const columns = `x.device_id AS "deviceId", NULL AS "errorCode"`;
    return name.line === 'software'
      ? {
          columns: `${columns}, x.since AS since`,
          from: `device_software x WHERE ${ended('x.package = ? AND x.version = ?')}`,
          values: [...hasValues, ...ownValues],
        }
      : {
          columns: `${columns}, CAST(NULL AS BIGINT) AS since`,
          from: `device_status x WHERE ${ended('x.firmware = ?')}`,
          values: [...hasValues, ...ownValues],
        };
  }
  const mine = applicationId === undefined ? '' : ' AND x.application_id = ?';
  if (state === 'waiting') {
    return {
      columns: `x.device_id AS "deviceId", NULL AS "errorCode", x.created_at AS since`,
      // The first of a device that waits more than once.
      from: `transactions x WHERE ${ended(`x.due = 1 AND x.completed_at IS NULL AND x.${INSTALLS} AND x.subject = ?${mine}
        AND NOT EXISTS (${has}) AND NOT EXISTS (${waits} AND u.transaction_id < x.transaction_id)`)}`,
      values: [subject, ...ownValues, ...hasValues, subject, ...ownValues],
    };
  }
  return {
    columns: `x.device_id AS "deviceId", x.error_code AS "errorCode", x.completed_at AS since`,
    // The last of a device that failed more than once.
    from: `transactions x WHERE ${ended(`x.error_code IS NOT NULL AND x.${INSTALLS} AND x.subject = ?${mine}
      AND NOT EXISTS (${has}) AND NOT EXISTS (${waits}) AND NOT EXISTS (SELECT 1 FROM transactions l WHERE l.subject = x.subject
        AND l.device_id = x.device_id AND l.transaction_id > x.transaction_id AND l.error_code IS NOT NULL AND l.${INSTALLS})`)}`,
    values: [subject, ...ownValues, ...hasValues, subject, ...ownValues],
  };
}

/** How many devices are in a state, by error code (null but for those that failed). Looks at all of them. */
export function countInstallations(
  sql: Sql,
  state: InstallationState,
  name: InstalledName,
  of: Of,
): Promise<{ code: string | null; devices: number }[]> {
  const { columns, from, values } = sourceOf(state, name, of);
  return sql.all(
    `SELECT "errorCode" AS code, count(*) AS devices FROM (SELECT ${columns} FROM ${from}) AS found
     GROUP BY "errorCode" ORDER BY devices DESC, code`,
    ...values,
  );
}

/** The next devices in a state behind one, by deviceId. */
export async function listInstallations(
  sql: Sql,
  state: InstallationState,
  name: InstalledName,
  { applicationId, after, limit }: Of & { after: string; limit: number },
): Promise<Installation[]> {
  const { columns, from, values } = sourceOf(state, name, { applicationId });
  const rows = await sql.all<Omit<Installation, 'state'>>(
    `SELECT ${columns} FROM ${from} AND x.device_id > ? ORDER BY x.device_id LIMIT ?`,
    ...values,
    after,
    limit,
  );
  return rows.map((row) => ({ ...row, state }));
}

/** What a device last reported as installed, by package. */
export const installedOn = (
  sql: Sql,
  deviceId: string,
): Promise<{ package: string; version: string; since: number }[]> =>
  sql.all('SELECT package, version, since FROM device_software WHERE device_id = ? ORDER BY package', deviceId);

/** Installations of a device, newest first: `package@version`, and what became of it. */
export const installsOf = (
  sql: Sql,
  deviceId: string,
): Promise<
  { subject: string; status: string; errorCode: string | null; createdAt: number; completedAt: number | null }[]
> =>
  sql.all(
    `SELECT subject, status, error_code AS "errorCode", created_at AS "createdAt", completed_at AS "completedAt"
     FROM transactions WHERE device_id = ? AND (due = 1 OR due = 0) AND operation = 'installSoftware' AND subject IS NOT NULL
     ORDER BY transaction_id DESC LIMIT 1000`,
    deviceId,
  );
