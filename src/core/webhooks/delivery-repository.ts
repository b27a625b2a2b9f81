import { inSets } from '../../platform/database/set-form.ts';
import type { Sql } from '../../platform/database/sql.ts';
import type { DeliveryStatus, ReceiverName } from './delivery.ts';

/** What an attempt needs to know of a delivery. */
export interface Delivery {
  /** Also the webhook-id. */
  deliveryId: string;
  /** The text that is signed and sent, the same at every attempt. */
  body: string;
  /** How many were made. */
  attempts: number;
  /** How often it was asked for again; a repetition that is asked for raises it. */
  round: number;
}

interface NewDelivery extends Omit<Delivery, 'round'>, ReceiverName {
  deviceId: string;
  transactionId: number | null;
  type: string;
  createdAt: number;
}

export interface Outcome {
  applicationId: string;
  deliveryId: string;
  /** In which the attempt was made. */
  round: number;
  status: DeliveryStatus;
  attempts: number;
  url: string | null;
  statusCode: number | null;
  error: string | null;
  /** Null unless pending. */
  nextAttemptAt: number | null;
  at: number;
}

const INSERT = inSets(
  `INSERT INTO deliveries (delivery_id, application_id, device_id, transaction_id, setting, type, body, status,
     attempts, next_attempt_at, created_at, updated_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?, ?)`,
  // biome-ignore format: in the order of the text
  ['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint'],
);
// COALESCE: not by the index of what is pending, which PostgreSQL may believe to be short: it is all of a receiver that is away.
const SAVE_OUTCOME = inSets(
  `UPDATE deliveries SET status = ?, attempts = ?, url = ?, last_status_code = ?, last_error = ?,
     next_attempt_at = ?, updated_at = ?
   WHERE application_id = ? AND delivery_id = ? AND COALESCE(status, '') = 'pending' AND round = ? AND attempts < ?`,
  // biome-ignore format: in the order of the text
  ['text', 'bigint', 'text', 'bigint', 'text', 'bigint', 'bigint', 'text', 'text', 'bigint', 'bigint'],
);

/** A pending delivery that is due at once. */
export async function insertDelivery(sql: Sql, delivery: NewDelivery): Promise<void> {
  await sql.run(
    INSERT,
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
  );
}

/** What is due for one receiver, the longest due first. */
export async function findDue(sql: Sql, receiver: ReceiverName, now: number, limit: number): Promise<Delivery[]> {
  return sql.all(
    `SELECT delivery_id AS "deliveryId", body, attempts, round FROM deliveries
     WHERE status = 'pending' AND application_id = ? AND setting = ? AND next_attempt_at <= ?
     ORDER BY next_attempt_at, delivery_id LIMIT ?`,
    receiver.applicationId,
    receiver.setting,
    now,
    limit,
  );
}

/** When the receiver's next delivery comes due after `now`. */
export async function findNextDue(sql: Sql, receiver: ReceiverName, now: number): Promise<number | undefined> {
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
 * The first receiver with a pending delivery behind `after` (in the order of the names), and when its first one is due.
 * Two seeks in the index, however many rows a receiver has: a comparison of both columns at once would walk over them.
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

/** All receivers with a pending delivery in one look that goes from one to the next, and when the first one is due; PostgreSQL only. */
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
 * Writes down an attempt; false when it counts for nothing: the delivery was asked for again meanwhile, and is to be sent
 * once more, or another node has made that attempt.
 */
export async function saveOutcome(sql: Sql, outcome: Outcome): Promise<boolean> {
  const changed = await sql.run(
    SAVE_OUTCOME,
    outcome.status,
    outcome.attempts,
    outcome.url,
    outcome.statusCode,
    outcome.error,
    outcome.nextAttemptAt,
    outcome.at,
    outcome.applicationId,
    outcome.deliveryId,
    outcome.round,
    outcome.attempts,
  );
  return changed > 0;
}

/** What is pending, and the earliest time at which some of it is due. Looks at all of it: for a thread of its own. */
export async function surveyPending(sql: Sql): Promise<{ count: number; earliestDueAt: number | null }> {
  const row = await sql.get<{ count: number; earliestDueAt: number | null }>(
    `SELECT count(*) AS count, MIN(next_attempt_at) AS "earliestDueAt" FROM deliveries WHERE status = 'pending'`,
  );
  return row ?? { count: 0, earliestDueAt: null };
}
