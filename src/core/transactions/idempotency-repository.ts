import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';

interface KeptAnswer {
  /** Of the request that was answered so. */
  requestHash: Buffer;
  answer: string;
}

/** What a key was answered with at `since` or later; microseconds. */
export async function findKeptAnswer(
  sql: Sql,
  applicationId: string,
  keyHash: Buffer,
  since: number,
): Promise<KeptAnswer | undefined> {
  return sql.get<KeptAnswer>(
    `SELECT request_hash AS "requestHash", answer FROM idempotency_keys
     WHERE application_id = ? AND key_hash = ? AND created_at >= ?`,
    applicationId,
    keyHash,
    since,
  );
}

/**
 * Keeps the answer to the first request with a key, in the place of one from before `since`, whose time is over. False when
 * there is another one: a unit that has just kept it is waited for.
 */
export async function keepAnswer(
  sql: Sql,
  kept: KeptAnswer & { applicationId: string; keyHash: Buffer; createdAt: number },
  since: number,
): Promise<boolean> {
  const changed = await sql.run(
    `INSERT INTO idempotency_keys (application_id, key_hash, request_hash, answer, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (application_id, key_hash) DO UPDATE SET request_hash = excluded.request_hash,
       answer = excluded.answer, created_at = excluded.created_at WHERE idempotency_keys.created_at < ?`,
    kept.applicationId,
    kept.keyHash,
    kept.requestHash,
    kept.answer,
    kept.createdAt,
    since,
  );
  return changed === 1;
}

/** Every key that comes sweeps out so many whose time is over: there are never many more than 24 hours' worth. */
const SWEPT_PER_KEY = 2;

/** Forgets a few answers that are older than `before`; those that others are about to forget are left to them. */
export async function forgetAnswers(unit: UnitOfWork, before: number): Promise<void> {
  await unit.run(
    `DELETE FROM idempotency_keys WHERE (application_id, key_hash) IN
       (SELECT application_id, key_hash FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ${SWEPT_PER_KEY}${unit.skipLocked})`,
    before,
  );
}

export interface KeyName {
  applicationId: string;
  keyHash: Buffer;
}

/** Answers that are older than `before`, the oldest first. */
export async function findOldAnswers(
  sql: Sql,
  before: number,
  limit: number,
): Promise<(KeyName & { createdAt: number })[]> {
  return sql.all(
    `SELECT application_id AS "applicationId", key_hash AS "keyHash", created_at AS "createdAt" FROM idempotency_keys
     WHERE created_at < ? ORDER BY created_at LIMIT ?`,
    before,
    limit,
  );
}

const REMOVE = inSets('DELETE FROM idempotency_keys WHERE application_id = ? AND key_hash = ? AND created_at < ?', [
  'text',
  'bytea',
  'bigint',
]);

/** Forgets such an answer; answers 0 when the key has come again. */
export const removeOldAnswer = (sql: Sql, { applicationId, keyHash }: KeyName, before: number): Promise<number> =>
  sql.run(REMOVE, applicationId, keyHash, before);
