import type { Operation } from '../core/transactions/operations.ts';
import type { TransactionStatus } from '../core/transactions/transaction.ts';
import type { SqlValue } from '../platform/database/sql.ts';

/** The conditions that listed transactions must match; a member that is missing is not a condition. */
export interface OverviewFilter {
  applicationId?: string;
  deviceId?: string;
  rolloutId?: string;
  /** The operations that are listed. */
  operations?: readonly Operation[];
  status?: TransactionStatus;
  /** Matches transactions that were created in [createdSince, createdBefore), in microseconds. */
  createdSince?: number;
  createdBefore?: number;
  /** Matches transactions that ended in [endedSince, endedBefore), in microseconds. */
  endedSince?: number;
  endedBefore?: number;
  errorCode?: string;
  /** Matches installations of a package, of the named version or of all. */
  package?: string;
  version?: string;
}

/** Whether a list is one of failures: it has them in the order of their ends. */
export const isOfFailures = ({ status, errorCode }: Pick<OverviewFilter, 'status' | 'errorCode'>): boolean =>
  status === 'failed' || errorCode !== undefined;

/**
 * Whether a list has transactions in the order of their ends, which an index has for failures only. All others have the
 * order of the transactionIds, either way.
 */
export const isByEnd = (
  query: Pick<OverviewFilter, 'status' | 'errorCode' | 'deviceId' | 'rolloutId'> & {
    unfinished: boolean;
    warning: boolean;
  },
): boolean =>
  isOfFailures(query) &&
  !query.unfinished &&
  !query.warning &&
  query.deviceId === undefined &&
  query.rolloutId === undefined;

/** The SQL condition for transactions that install something. */
export const INSTALLS = `operation IN ('installSoftware', 'updateFirmware')`;
/**
 * The column `subject` of an installation holds `package@version`, with SEPARATOR between them. AFTER_SEPARATOR is the
 * next character in the alphabet, so `packageA` sorts after all versions of the package.
 */
export const SEPARATOR = '@';
const AFTER_SEPARATOR = 'A';

/** The condition for the subjects of a package, of one version or of all. */
export function subjectOf(
  name: string,
  version: string | undefined,
  column = 'subject',
): [condition: string, ...values: string[]] {
  if (version !== undefined) return [`${column} = ?`, `${name}${SEPARATOR}${version}`];
  return [`${column} >= ? AND ${column} < ?`, `${name}${SEPARATOR}`, `${name}${AFTER_SEPARATOR}`];
}

/** The condition for the installations of a package, of one version or of all. */
export function ofPackage(name: string, version: string | undefined): [condition: string, ...values: string[]] {
  const [condition, ...values] = subjectOf(name, version);
  return [`${INSTALLS} AND ${condition}`, ...values];
}

export function conditions(filter: OverviewFilter): { where: string[]; values: SqlValue[] } {
  const found: [condition: string, ...values: SqlValue[]][] = [];
  const { operations } = filter;
  if (filter.deviceId !== undefined) found.push(['device_id = ?', filter.deviceId]);
  if (filter.rolloutId !== undefined) found.push(['rollout_id = ?', filter.rolloutId]);
  if (filter.applicationId !== undefined) found.push(['application_id = ?', filter.applicationId]);
  if (operations) found.push([`operation IN (${operations.map(() => '?').join(', ')})`, ...operations]);
  if (filter.status !== undefined) found.push(['status = ?', filter.status]);
  if (filter.createdSince !== undefined) found.push(['created_at >= ?', filter.createdSince]);
  if (filter.createdBefore !== undefined) found.push(['created_at < ?', filter.createdBefore]);
  if (filter.endedSince !== undefined) found.push(['completed_at >= ?', filter.endedSince]);
  if (filter.endedBefore !== undefined) found.push(['completed_at < ?', filter.endedBefore]);
  if (filter.errorCode !== undefined) found.push(['error_code = ?', filter.errorCode]);
  if (filter.package !== undefined) found.push(ofPackage(filter.package, filter.version));
  return { where: found.map(([condition]) => condition), values: found.flatMap(([, ...values]) => values) };
}
