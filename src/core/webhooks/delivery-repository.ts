import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { sealOrNull } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';
import type { DeliveryStatus, ReceiverName } from './delivery.ts';
import { urlPlaceOf } from './log/delivery-record.ts';

/** The fields of a delivery that an attempt needs. */
export interface Delivery {
  /** The identifier, which is also the webhook-id. */
  deliveryId: string;
  /** The text that is signed and sent; it is the same at every attempt. */
  body: string;
  /** The number of attempts that were made. */
  attempts: number;
  /**
   * How many times the delivery was asked to be sent again. If the number has risen during an attempt, the outcome of
   * the attempt is outdated.
   */
  round: number;
  createdAt: Micros;
  /** The span whose work caused the event; null when it is not traced. */
  traceparent: string | null;
}

interface NewDelivery extends Omit<Delivery, 'round'>, ReceiverName {
  deviceId: string;
  transactionId: number | null;
  type: string;
}

export interface Outcome {
  applicationId: string;
  deliveryId: string;
  /** The delivery's `round` when the attempt began. */
  round: number;
  status: DeliveryStatus;
  attempts: number;
  url: string | null;
  statusCode: number | null;
  error: string | null;
  /** The headers that differ from attempt to attempt, as sent-headers.ts packs them; null when nothing was sent. */
  sent: string | null;
  /** The beginning of the answer to a test event. */
  answer: string | null;
  /** Null unless the status is pending. */
  nextAttemptAt: Micros | null;
  at: number;
}

const INSERT = inSets(
  `INSERT INTO deliveries (delivery_id, application_id, device_id, transaction_id, setting, type, body, status,
     attempts, next_attempt_at, created_at, updated_at, traceparent)
   VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?, ?, ?)`,
  // biome-ignore format: the types in the order of the placeholders
  ['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text'],
);
// COALESCE keeps PostgreSQL from using the index of pending deliveries instead of the primary key. PostgreSQL may think
// that this index is short, but it has all pending deliveries of a receiver that is down.
const SAVE_OUTCOME = inSets(
  `UPDATE deliveries SET status = ?, attempts = ?, url = ?, last_status_code = ?, last_error = ?,
     next_attempt_at = ?, updated_at = ?, sent = ?, answer = ?
   WHERE application_id = ? AND delivery_id = ? AND COALESCE(status, '') = 'pending' AND round = ? AND attempts < ?`,
  // biome-ignore format: the types in the order of the placeholders
  ['text', 'bigint', 'text', 'bigint', 'text', 'bigint', 'bigint', 'text', 'text', 'text', 'text', 'bigint', 'bigint'],
);

/** Stores a pending delivery that is due at once. */
export function insertDelivery(unit: UnitOfWork, delivery: NewDelivery): void {
  unit.later(INSERT, [
    delivery.deliveryId,
    delivery.applicationId,
    delivery.deviceId,
    delivery.transactionId,
    delivery.setting,
    delivery.type,
    delivery.body,
    delivery.createdAt,
    delivery.createdAt,
    delivery.createdAt,
    delivery.traceparent,
  ]);
}

/**
 * Like `findDue`, without the deliveries that are in memory, by their identifiers and rounds; PostgreSQL only. Each delivery
 * that is read is compared with each of them.
 */
export const findOtherDue = (
  sql: Sql,
  receiver: ReceiverName,
  held: ReadonlyMap<string, number>,
  { now, limit }: { now: Micros; limit: number },
): Promise<Delivery[]> =>
  sql.all(
    `SELECT delivery_id AS "deliveryId", body, attempts, round, created_at AS "createdAt", traceparent FROM deliveries
     WHERE status = 'pending' AND application_id = ? AND setting = ? AND next_attempt_at <= ?
       AND delivery_id || ' ' || round <> ALL (string_to_array(?, ','))
     ORDER BY next_attempt_at, delivery_id LIMIT CAST(? AS BIGINT)`,
    receiver.applicationId,
    receiver.setting,
    now,
    Array.from(held, ([deliveryId, round]) => `${deliveryId} ${round}`).join(','),
    limit,
  );

/** The due deliveries of one receiver, the earliest due first. */
export async function findDue(sql: Sql, receiver: ReceiverName, now: Micros, limit: number): Promise<Delivery[]> {
  return sql.all(
    `SELECT delivery_id AS "deliveryId", body, attempts, round, created_at AS "createdAt", traceparent FROM deliveries
     WHERE status = 'pending' AND application_id = ? AND setting = ? AND next_attempt_at <= ?
     ORDER BY next_attempt_at, delivery_id LIMIT ?`,
    receiver.applicationId,
    receiver.setting,
    now,
    limit,
  );
}

/** The time at which the receiver's next delivery becomes due, after `now`. */
export async function findNextDue(sql: Sql, receiver: ReceiverName, now: Micros): Promise<number | undefined> {
  const row = await sql.get<{ at: number }>(
    `SELECT next_attempt_at AS at FROM deliveries
     WHERE status = 'pending' AND application_id = ? AND setting = ? AND next_attempt_at > ?
     ORDER BY next_attempt_at LIMIT 1`,
    receiver.applicationId,
    receiver.setting,
    now,
  );
  return row?.at;
}

/**
 * The next receiver with a pending delivery after `after` (in the order of the names), and the time at which its first one
 * is due. It takes two seeks in the index, however many rows a receiver has; comparing both columns at once would scan them.
 */
export async function findNextReceiver(
  sql: Sql,
  after: { applicationId: string; setting: string },
): Promise<(ReceiverName & { nextAttemptAt: number }) | undefined> {
  const columns = 'application_id AS "applicationId", setting, next_attempt_at AS "nextAttemptAt"';
  const sameApplication = await sql.get<ReceiverName & { nextAttemptAt: number }>(
    `SELECT ${columns} FROM deliveries WHERE status = 'pending' AND application_id = ? AND setting > ?
     ORDER BY setting, next_attempt_at LIMIT 1`,
    after.applicationId,
    after.setting,
  );
  if (sameApplication) return sameApplication;
  return sql.get(
    `SELECT ${columns} FROM deliveries WHERE status = 'pending' AND application_id > ?
     ORDER BY application_id, setting, next_attempt_at LIMIT 1`,
    after.applicationId,
  );
}

/**
 * All receivers with a pending delivery, each with the time at which its first one is due; one recursive query, PostgreSQL
 * only.
 */
export const findReceivers = (sql: Sql): Promise<(ReceiverName & { nextAttemptAt: number })[]> =>
  sql.all(
    `WITH RECURSIVE found AS (
       (SELECT application_id, setting, next_attempt_at FROM deliveries WHERE status = 'pending'
        ORDER BY application_id, setting, next_attempt_at LIMIT 1)
       UNION ALL
       SELECT next.* FROM found CROSS JOIN LATERAL
         (SELECT application_id, setting, next_attempt_at FROM deliveries
          WHERE status = 'pending' AND (application_id, setting) > (found.application_id, found.setting)
          ORDER BY application_id, setting, next_attempt_at LIMIT 1) AS next)
     SELECT application_id AS "applicationId", setting, next_attempt_at AS "nextAttemptAt" FROM found`,
  );

/**
 * Stores the outcome of an attempt. `stored` is called with false when the outcome is ignored: the delivery was asked to be
 * sent again during the attempt, so it is sent once more, or another node has already stored the outcome of this attempt.
 */
export function saveOutcome(unit: UnitOfWork, outcome: Outcome, stored: (counts: boolean) => void): void {
  unit.later(
    SAVE_OUTCOME,
    [
      outcome.status,
      outcome.attempts,
      sealOrNull(unit.vault, urlPlaceOf(outcome), outcome.url),
      outcome.statusCode,
      outcome.error,
      outcome.nextAttemptAt,
      outcome.at,
      outcome.sent,
      outcome.answer,
      outcome.applicationId,
      outcome.deliveryId,
      outcome.round,
      outcome.attempts,
    ],
    (changed) => stored(changed > 0),
  );
}

/**
 * The number of pending deliveries, and the earliest time at which one is due. It reads all of them, so it belongs on a
 * thread of its own.
 */
export async function surveyPending(sql: Sql): Promise<{ count: number; earliestDueAt: number | null }> {
  const row = await sql.get<{ count: number; earliestDueAt: number | null }>(
    `SELECT count(*) AS count, MIN(next_attempt_at) AS "earliestDueAt" FROM deliveries WHERE status = 'pending'`,
  );
  return row ?? { count: 0, earliestDueAt: null };
}

/** Whether the next attempt of a delivery is later than any schedule says: the clock was ahead when it was set. */
export const isPutOff = async (sql: Sql, latest: Micros): Promise<boolean> =>
  (await sql.get(
    "SELECT 1 AS one FROM deliveries WHERE status = 'pending' AND next_attempt_at > ? LIMIT 1",
    latest,
  )) !== undefined;

/** Makes such deliveries due at `now`; returns their number. */
export const pullDown = (sql: Sql, now: Micros, latest: Micros): Promise<number> =>
  sql.run("UPDATE deliveries SET next_attempt_at = ? WHERE status = 'pending' AND next_attempt_at > ?", now, latest);
