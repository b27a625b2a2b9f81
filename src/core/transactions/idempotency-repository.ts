import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

/** The answer that the first request with a key got. */
export interface KeptAnswer {
  /** The hash of the request that got this answer. */
  requestHash: Buffer;
  answer: string;
}

/** Finds the answer that a key got at `since` or later; microseconds. */
export async function findKeptAnswer(
  sql: Sql,
  applicationId: string,
  keyHash: Buffer,
  since: Micros,
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
 * Stores the answer to the first request with a key; it replaces an expired one, from before `since`. Returns false when there
 * is another answer; if another unit is just storing one, it waits for that unit.
 */
export async function keepAnswer(
  sql: Sql,
  kept: KeptAnswer & { applicationId: string; keyHash: Buffer; createdAt: number },
  since: Micros,
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

/** Each new key removes this many expired keys, so that hardly more keys are stored than those of the last 24 hours. */
const SWEPT_PER_KEY = 2;

/** Removes a few answers that are older than `before`, except those that another unit is removing. */
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

/** Removes a stored answer if it is older than `before`; returns 0 when the key was used again meanwhile. */
export const removeOldAnswer = (sql: Sql, { applicationId, keyHash }: KeyName, before: number): Promise<number> =>
  sql.run(REMOVE, applicationId, keyHash, before);
