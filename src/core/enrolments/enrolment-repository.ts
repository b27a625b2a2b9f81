import type { Lock, Sql, SqlValue, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Enrolment, EnrolmentState } from './enrolment.ts';

const COLUMNS = `batch_id AS "batchId", device_id AS "deviceId", state, nonce_hash AS "nonceHash",
  credential_hash AS "credentialHash", address, requested_at AS "requestedAt", decided_at AS "decidedAt"`;

/** Finds the request of a device. A unit of work whose decision depends on it passes `lock` (its `forUpdate`). */
export const findEnrolment = (
  sql: Sql,
  batchId: string,
  deviceId: string,
  lock: Lock = '',
): Promise<Enrolment | undefined> =>
  sql.get<Enrolment>(
    `SELECT ${COLUMNS} FROM enrolments WHERE batch_id = ? AND device_id = ?${lock}`,
    batchId,
    deviceId,
  );

/** Stores a request, in the place of a former one of the device. */
export function saveEnrolment(unit: UnitOfWork, enrolment: Enrolment): void {
  unit.later(
    `INSERT INTO enrolments (batch_id, device_id, state, nonce_hash, credential_hash, address, requested_at, decided_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (batch_id, device_id) DO UPDATE SET state = excluded.state, nonce_hash = excluded.nonce_hash,
       credential_hash = excluded.credential_hash, address = excluded.address, requested_at = excluded.requested_at,
       decided_at = excluded.decided_at`,
    [
      enrolment.batchId,
      enrolment.deviceId,
      enrolment.state,
      enrolment.nonceHash,
      enrolment.credentialHash,
      enrolment.address,
      enrolment.requestedAt,
      enrolment.decidedAt,
    ],
  );
}

/** How many requests of a batch wait for a person, without those from before a time. */
export async function countPending(sql: Sql, batchId: string, since: Micros): Promise<number> {
  const row = await sql.get<{ waiting: number }>(
    `SELECT count(*) AS "waiting" FROM enrolments WHERE batch_id = ? AND state = 'pending' AND requested_at > ?`,
    batchId,
    since,
  );
  return row?.waiting ?? 0;
}

/** Removes the requests of a batch that wait for a person since before a time. */
export const removeStale = (unit: UnitOfWork, batchId: string, before: Micros): void =>
  unit.later(`DELETE FROM enrolments WHERE batch_id = ? AND state = 'pending' AND requested_at <= ?`, [
    batchId,
    before,
  ]);

/** Requests of a batch behind a deviceId, in the order of their deviceIds. */
export function listEnrolments(
  sql: Sql,
  batchId: string,
  { state, after = '', limit }: { state?: EnrolmentState | undefined; after?: string | undefined; limit: number },
): Promise<Enrolment[]> {
  const values: SqlValue[] = state === undefined ? [] : [state];
  return sql.all<Enrolment>(
    `SELECT ${COLUMNS} FROM enrolments WHERE batch_id = ?${state === undefined ? '' : ' AND state = ?'} AND device_id > ?
     ORDER BY device_id LIMIT ?`,
    batchId,
    ...values,
    after,
    limit,
  );
}

export const removeEnrolment = (unit: UnitOfWork, batchId: string, deviceId: string): Promise<number> =>
  unit.run('DELETE FROM enrolments WHERE batch_id = ? AND device_id = ?', batchId, deviceId);
