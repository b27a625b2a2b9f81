import { type Leaver, ofLeaver } from '../core/applications/clearing.ts';
import type { Sql } from '../platform/database/sql.ts';

/** Rows of transactions that one statement looks through, so that other readers of the same connection have their turn. */
const TRANSACTIONS = 20_000;

async function count(sql: Sql, text: string, ...values: string[]): Promise<number> {
  const row = await sql.get<{ count: number }>(text, ...values);
  return row?.count ?? 0;
}

/** The applications that leave, without those that were deleted before, and how many of them have a key. */
export async function countApplications(sql: Sql, leaver: Leaver): Promise<{ applications: number; keys: number }> {
  const [isTheirs, of] = ofLeaver('application_id', leaver);
  const row = await sql.get<{ applications: number; keys: number }>(
    `SELECT count(*) AS applications, count(authentication_key) AS keys FROM applications
     WHERE ${isTheirs} AND (deleted_at IS NULL OR removal_id IS NOT NULL)`,
    of,
  );
  return row ?? { applications: 0, keys: 0 };
}

/** The devices of a developer, or those that are activated for an application. */
export const countDevices = (sql: Sql, { developerId, applicationId }: Leaver): Promise<number> =>
  applicationId === null
    ? count(sql, 'SELECT count(*) AS count FROM devices WHERE developer_id = ?', developerId)
    : count(sql, 'SELECT count(*) AS count FROM devices WHERE application_id = ?', applicationId);

/** A page of the identifiers of these devices. */
export async function deviceIdsOf(
  sql: Sql,
  { developerId, applicationId }: Leaver,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql.all<{ deviceId: string }>(
    `SELECT device_id AS "deviceId" FROM devices WHERE ${applicationId === null ? 'developer_id' : 'application_id'} = ?
     AND device_id > ? ORDER BY device_id LIMIT ?`,
    applicationId ?? developerId,
    after,
    limit,
  );
  return rows.map(({ deviceId }) => deviceId);
}

/** The transactions of the customer, among the next ones behind a transactionId; undefined when there are none. */
export async function countTransactions(
  sql: Sql,
  leaver: Leaver,
  after: number,
): Promise<{ last: number; all: number; unfinished: number } | undefined> {
  const [isTheirs, of] = ofLeaver('application_id', leaver);
  const row = await sql.get<{ last: number | null; all: number; unfinished: number }>(
    `SELECT MAX(transaction_id) AS last, COALESCE(SUM(theirs), 0) AS "all",
       COALESCE(SUM(CASE WHEN completed_at IS NULL THEN theirs ELSE 0 END), 0) AS unfinished
     FROM (SELECT transaction_id, completed_at, CASE WHEN ${isTheirs} THEN 1 ELSE 0 END AS theirs FROM transactions
       WHERE transaction_id > ? ORDER BY transaction_id LIMIT ${TRANSACTIONS}) AS seen`,
    of,
    after,
  );
  return row && row.last !== null ? { ...row, last: row.last } : undefined;
}

export async function countDeliveries(sql: Sql, leaver: Leaver): Promise<{ all: number; pending: number }> {
  const [isTheirs, of] = ofLeaver('application_id', leaver);
  return {
    all: await count(sql, `SELECT count(*) AS count FROM deliveries WHERE ${isTheirs}`, of),
    pending: await count(sql, `SELECT count(*) AS count FROM deliveries WHERE status = 'pending' AND ${isTheirs}`, of),
  };
}

export async function countRollouts(sql: Sql, leaver: Leaver): Promise<{ all: number; unfinished: number }> {
  const [isTheirs, of] = ofLeaver('application_id', leaver);
  return {
    all: await count(sql, `SELECT count(*) AS count FROM rollouts WHERE ${isTheirs}`, of),
    unfinished: await count(sql, `SELECT count(*) AS count FROM rollouts WHERE at_work = 1 AND ${isTheirs}`, of),
  };
}

export const countIdempotencyKeys = (sql: Sql, leaver: Leaver): Promise<number> => {
  const [isTheirs, of] = ofLeaver('application_id', leaver);
  return count(sql, `SELECT count(*) AS count FROM idempotency_keys WHERE ${isTheirs}`, of);
};

/** The entries of the audit log about the developer and its applications, or about the application. */
export const countAuditEntries = (sql: Sql, leaver: Leaver): Promise<number> => {
  const [isTheirs, of] = ofLeaver('object_id', leaver);
  return leaver.applicationId === null
    ? count(
        sql,
        `SELECT count(DISTINCT audit_id) AS count FROM audit_objects
         WHERE (kind = 'application' AND ${isTheirs}) OR (kind = 'developer' AND object_id = ?)`,
        of,
        leaver.developerId,
      )
    : count(
        sql,
        `SELECT count(DISTINCT audit_id) AS count FROM audit_objects WHERE kind = 'application' AND ${isTheirs}`,
        of,
      );
};
