import { inSets } from '../../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../../platform/database/sql.ts';
import type { Micros } from '../../../runtime/units.ts';
import type { DeliveryKey, SettingReceiver } from '../delivery.ts';

/** An attempt that failed. Times are microseconds. */
export interface FailedAttempt {
  attempt: number;
  at: number;
  statusCode: number | null;
  error: string;
  duration: number;
  /** The beginning of the answer; null when there was none, or the bound of stored answers was reached. */
  answer: string | null;
  /** The headers that differ from attempt to attempt, as sent-headers.ts packs them; null when nothing was sent. */
  sent: string | null;
}

/**
 * The most failed attempts of a delivery that are stored; older ones are deleted. A delivery is attempted ten times at
 * most, before an application asks to send it again.
 */
const KEPT = 20;

/** Stores a failed attempt; nothing if the delivery was removed. */
export async function insertAttempt(
  unit: UnitOfWork,
  { applicationId, deliveryId, round }: DeliveryKey & { round: number },
  failed: FailedAttempt,
): Promise<void> {
  await unit.run(
    `INSERT INTO delivery_attempts (application_id, delivery_id, round, attempt, at, status_code, error, duration, answer, sent)
     SELECT application_id, delivery_id, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), ?,
       CAST(? AS BIGINT), ?, ?
     FROM deliveries WHERE application_id = ? AND delivery_id = ?${unit.whileThere}
     ON CONFLICT (application_id, delivery_id, round, attempt) DO NOTHING`,
    round,
    failed.attempt,
    failed.at,
    failed.statusCode,
    failed.error,
    failed.duration,
    failed.answer,
    failed.sent,
    applicationId,
    deliveryId,
  );
  if (round === 0) return;
  await unit.run(
    `DELETE FROM delivery_attempts WHERE application_id = ? AND delivery_id = ? AND (round, attempt) <=
       (SELECT round, attempt FROM delivery_attempts WHERE application_id = ? AND delivery_id = ?
        ORDER BY round DESC, attempt DESC LIMIT 1 OFFSET ${KEPT})`,
    applicationId,
    deliveryId,
    applicationId,
    deliveryId,
  );
}

/** The failed attempts of a delivery, the newest first. */
export const listAttempts = (sql: Sql, { applicationId, deliveryId }: DeliveryKey): Promise<FailedAttempt[]> =>
  sql.all(
    `SELECT attempt, at, status_code AS "statusCode", error, duration, answer, sent FROM delivery_attempts
     WHERE application_id = ? AND delivery_id = ? ORDER BY round DESC, attempt DESC`,
    applicationId,
    deliveryId,
  );

const REMOVE = inSets('DELETE FROM delivery_attempts WHERE application_id = ? AND delivery_id = ?', ['text', 'text']);

export const removeAttempts = (sql: Sql, { applicationId, deliveryId }: DeliveryKey): Promise<number> =>
  sql.run(REMOVE, applicationId, deliveryId);

/** A receiver whose last attempt failed. Times are microseconds. */
export interface FailingReceiver extends SettingReceiver {
  since: Micros;
  failedAt: Micros;
  statusCode: number | null;
  error: string;
  /** The time at which its application was notified that it fails; null before that. */
  toldAt: Micros | null;
  /** The time at which the event was stored that is only in the stream, because no receiver could be told; null before that. */
  streamedAt: Micros | null;
}

const FAILING = `application_id AS "applicationId", setting, since, failed_at AS "failedAt", status_code AS "statusCode", error,
  told_at AS "toldAt", streamed_at AS "streamedAt"`;

/**
 * Stores that a receiver's last attempt failed; the time of the first failure is kept. Nothing is stored for an application
 * that was removed during the attempt.
 */
export async function saveFailing(
  unit: UnitOfWork,
  failing: Omit<FailingReceiver, 'toldAt' | 'streamedAt'>,
): Promise<void> {
  await unit.run(
    `INSERT INTO failing_receivers (application_id, setting, since, failed_at, status_code, error)
     SELECT application_id, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), ?
     FROM applications WHERE application_id = ?${unit.whileThere}
     ON CONFLICT (application_id, setting) DO UPDATE SET failed_at = excluded.failed_at,
       status_code = excluded.status_code, error = excluded.error`,
    failing.setting,
    failing.since,
    failing.failedAt,
    failing.statusCode,
    failing.error,
    failing.applicationId,
  );
}

/** Stores the time at which the receiver's application was notified, by a webhook or only in its stream. */
export async function saveTold(
  sql: Sql,
  { applicationId, setting }: SettingReceiver,
  by: 'webhook' | 'stream',
  at: number,
): Promise<void> {
  const column = by === 'webhook' ? 'told_at' : 'streamed_at';
  const text = `UPDATE failing_receivers SET ${column} = ? WHERE application_id = ? AND setting = ?`;
  await sql.run(text, at, applicationId, setting);
}

/** Removes the record that a receiver fails, after a successful attempt. */
export async function removeFailing(sql: Sql, { applicationId, setting }: SettingReceiver): Promise<void> {
  await sql.run('DELETE FROM failing_receivers WHERE application_id = ? AND setting = ?', applicationId, setting);
}

export const findFailing = (
  sql: Sql,
  { applicationId, setting }: SettingReceiver,
): Promise<FailingReceiver | undefined> =>
  sql.get(`SELECT ${FAILING} FROM failing_receivers WHERE application_id = ? AND setting = ?`, applicationId, setting);

export const listFailingOf = (sql: Sql, applicationId: string): Promise<FailingReceiver[]> =>
  sql.all(`SELECT ${FAILING} FROM failing_receivers WHERE application_id = ?`, applicationId);

export const listFailing = (sql: Sql): Promise<FailingReceiver[]> =>
  sql.all(`SELECT ${FAILING} FROM failing_receivers`);
