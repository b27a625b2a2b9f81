import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Batch } from './enrolment.ts';

type Row = Omit<Batch, 'deviceIds' | 'registered'> & { deviceIds: string | null; registered: number };

const COLUMNS = `batch_id AS "batchId", developer_id AS "developerId", name, approval, device_ids AS "deviceIds", registered,
  claim_certificate AS "claimCertificate", authority_id AS "authorityId", certificate_days AS "certificateDays", most_devices AS "mostDevices", enrolled, created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt"`;

const toBatch = (row: Row): Batch => ({
  ...row,
  deviceIds: row.deviceIds === null ? null : (JSON.parse(row.deviceIds) as string[]),
  registered: row.registered === 1,
});

/** Finds a batch. A unit of work whose decision depends on it passes `lock` (its `forUpdate`). */
export async function findBatch(sql: Sql, batchId: string, lock: Lock = ''): Promise<Batch | undefined> {
  const row = await sql.get<Row>(`SELECT ${COLUMNS} FROM enrolment_batches WHERE batch_id = ?${lock}`, batchId);
  return row && toBatch(row);
}

export async function findBatchByCode(sql: Sql, codeHash: Buffer): Promise<Batch | undefined> {
  const row = await sql.get<Row>(`SELECT ${COLUMNS} FROM enrolment_batches WHERE code_hash = ?`, codeHash);
  return row && toBatch(row);
}

/** A page of a developer's batches, the newest first, and their total number. */
export async function listBatches(sql: Sql, developerId: string, page: { offset: number; limit: number }) {
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM enrolment_batches WHERE developer_id = ? ORDER BY batch_id DESC LIMIT ? OFFSET ?`,
    developerId,
    page.limit,
    page.offset,
  );
  const count = await sql.get<{ total: number }>(
    'SELECT count(*) AS "total" FROM enrolment_batches WHERE developer_id = ?',
    developerId,
  );
  return { batches: rows.map(toBatch), total: count?.total ?? 0 };
}

/** The number of a developer's batches whose codes are valid. */
export async function countOpen(sql: Sql, developerId: string, now: Micros): Promise<number> {
  const row = await sql.get<{ open: number }>(
    `SELECT count(*) AS "open" FROM enrolment_batches
     WHERE developer_id = ? AND revoked_at IS NULL AND expires_at > ?`,
    developerId,
    now,
  );
  return row?.open ?? 0;
}

export async function insertBatch(unit: UnitOfWork, batch: Batch, codeHash: Buffer): Promise<void> {
  await unit.run(
    `INSERT INTO enrolment_batches (batch_id, developer_id, name, code_hash, approval, device_ids, registered,
       claim_certificate, authority_id, certificate_days, most_devices, enrolled, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    batch.batchId,
    batch.developerId,
    batch.name,
    codeHash,
    batch.approval,
    batch.deviceIds && JSON.stringify(batch.deviceIds),
    batch.registered ? 1 : 0,
    batch.claimCertificate,
    batch.authorityId,
    batch.certificateDays,
    batch.mostDevices,
    batch.enrolled,
    batch.createdAt,
    batch.expiresAt,
  );
}

export async function revokeBatch(unit: UnitOfWork, batchId: string, now: Micros): Promise<void> {
  await unit.run('UPDATE enrolment_batches SET revoked_at = ? WHERE batch_id = ?', now, batchId);
}

/** Counts a device that enrols. The unit has locked the batch, and it has room. */
export const countEnrolled = (unit: UnitOfWork, batchId: string): void =>
  unit.later('UPDATE enrolment_batches SET enrolled = enrolled + 1 WHERE batch_id = ?', [batchId]);

/** Batches that expired before a time, those that expired first at the beginning. */
export const findExpiredBatches = (
  sql: Sql,
  before: Micros,
  limit: number,
): Promise<{ batchId: string; expiresAt: Micros }[]> =>
  sql.all(
    `SELECT batch_id AS "batchId", expires_at AS "expiresAt" FROM enrolment_batches WHERE expires_at < ?
     ORDER BY expires_at, batch_id LIMIT ?`,
    before,
    limit,
  );

/** The time at which the first batch expired, or will expire; null without a batch. */
export async function oldestExpiry(sql: Sql): Promise<Micros | null> {
  const row = await sql.get<{ at: Micros | null }>('SELECT MIN(expires_at) AS "at" FROM enrolment_batches');
  return row?.at ?? null;
}

/** The batches of a developer behind a batchId, a page of them. */
export const batchesOf = (
  sql: Sql,
  developerId: string,
  after: string,
  limit: number,
): Promise<{ batchId: string }[]> =>
  sql.all(
    `SELECT batch_id AS "batchId" FROM enrolment_batches WHERE developer_id = ? AND batch_id > ? ORDER BY batch_id LIMIT ?`,
    developerId,
    after,
    limit,
  );

export const removeBatch = (unit: UnitOfWork, batchId: string): Promise<number> =>
  unit.run('DELETE FROM enrolment_batches WHERE batch_id = ?', batchId);
