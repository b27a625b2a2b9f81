import type { Sql, SqlValue } from '../platform/database/sql.ts';
import type { Micros } from '../runtime/units.ts';
import { conditions, INSTALLS, type OverviewFilter, ofPackage } from './transaction-conditions.ts';

/** The place of a failure in a list: the newest first, by the time of the end. */
export interface FailurePlace {
  at: Micros;
  transactionId: number;
}

/**
 * Examines up to `most` failures behind a place, the newest first: those of a time, and, if the filter names one, of an
 * error code or of a version. An index has each of these in the order of time. `hit` is 1 for those that match the rest
 * of the filter.
 */
export function examineFailures(
  sql: Sql,
  filter: OverviewFilter,
  { at, transactionId }: FailurePlace,
  most: number,
): Promise<(FailurePlace & { hit: number })[]> {
  const { endedSince = 0, endedBefore: _, errorCode, package: name, version, ...others } = filter;
  const byVersion = errorCode === undefined && name !== undefined && version !== undefined;
  const rest = conditions({
    ...others,
    ...(!byVersion && name !== undefined && { package: name, ...(version !== undefined && { version }) }),
  });
  const [own, ...ownValues] = byVersion ? ofPackage(name, version) : ['1 = 1'];
  return sql.all(
    `SELECT transaction_id AS "transactionId", completed_at AS at,
       CASE WHEN ${rest.where.length === 0 ? '1 = 1' : rest.where.join(' AND ')} THEN 1 ELSE 0 END AS hit
     FROM transactions WHERE error_code IS NOT NULL${errorCode === undefined ? '' : ' AND error_code = ?'} AND ${own}
       AND completed_at >= ? AND completed_at <= ? AND (completed_at, transaction_id) < (?, ?)
     ORDER BY completed_at DESC, transaction_id DESC LIMIT ?`,
    ...rest.values,
    ...(errorCode === undefined ? [] : [errorCode]),
    ...ownValues,
    endedSince,
    at,
    at,
    transactionId,
    most,
  );
}

/** A time of a transaction; undefined when there is no such transaction, or no such time. */
export async function timeOf(
  sql: Sql,
  transactionId: number,
  column: 'created_at' | 'completed_at',
): Promise<Micros | undefined> {
  const text = `SELECT ${column} AS at FROM transactions WHERE transaction_id = ?`;
  return (await sql.get<{ at: Micros | null }>(text, transactionId))?.at ?? undefined;
}

/** The installations that are counted: those that ended in [before, until), in two periods that `since` parts. */
export interface Counted {
  before: Micros;
  since: Micros;
  until: Micros;
  applicationId?: string;
  package?: string;
  version?: string;
}

export interface Group {
  value: string | null;
  finished: number;
  failed: number;
  finishedBefore: number;
  failedBefore: number;
}

const GROUPS = {
  hour: 'completed_at - completed_at % 3600000000',
  version: 'subject',
  errorCode: `CASE WHEN status = 'failed' THEN error_code END`,
} as const;

/**
 * Counts the installations that ended in a period, and in the one before it, by a property. An index has all columns
 * that are read. `most` groups are returned, those with the most failures.
 */
export function countEnded(sql: Sql, by: keyof typeof GROUPS, counted: Counted, most: number): Promise<Group[]> {
  const { before, since, until, applicationId, package: name, version } = counted;
  const where: [string, ...SqlValue[]][] = [];
  if (applicationId !== undefined) where.push(['application_id = ?', applicationId]);
  if (name !== undefined) where.push(ofPackage(name, version));
  const now = 'SUM(CASE WHEN completed_at >= CAST(? AS BIGINT)';
  const past = 'SUM(CASE WHEN completed_at < CAST(? AS BIGINT)';
  return sql.all(
    `SELECT CAST(${GROUPS[by]} AS TEXT) AS value, ${now} THEN 1 ELSE 0 END) AS finished,
       ${now} AND status = 'failed' THEN 1 ELSE 0 END) AS failed, ${past} THEN 1 ELSE 0 END) AS "finishedBefore",
       ${past} AND status = 'failed' THEN 1 ELSE 0 END) AS "failedBefore"
     FROM transactions WHERE completed_at IS NOT NULL AND ${INSTALLS}
       AND completed_at >= ? AND completed_at < ?${where.map(([condition]) => ` AND ${condition}`).join('')}
     GROUP BY ${GROUPS[by]} ORDER BY failed DESC, finished DESC LIMIT ?`,
    since,
    since,
    since,
    since,
    before,
    until,
    ...where.flatMap(([, ...values]) => values),
    most,
  );
}
