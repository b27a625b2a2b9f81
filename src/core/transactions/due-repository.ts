import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Due } from '../outbox/due.ts';
import { parametersOf } from './stored-parameters.ts';

type DueRow = Omit<Due, 'parameters'> & { parameters: string | null };

// A transaction that has ended and is due has a cancel for the device, however it ended.
const DUE_COLUMNS = `transaction_id AS "transactionId", application_id AS "applicationId", operation, parameters,
  CASE WHEN completed_at IS NULL THEN status ELSE 'cancelled' END AS status,
  attempts, created_at AS "createdAt", updated_at AS "updatedAt", answer_within AS "answerWithin",
  expires_at AS "expiresAt", rollout_id AS "rolloutId", traceparent`;
// A command whose time has passed is not published again, even if it could not be ended yet.
const IN_TIME = '(ends_at IS NULL OR ends_at > ?)';
// A rollout that bounds its unfinished devices holds a command until it has a place.
const HAS_PLACE = `NOT EXISTS (SELECT 1 FROM rollout_members m WHERE m.rollout_id = transactions.rollout_id
  AND m.device_id = transactions.device_id AND m.transaction_id = transactions.transaction_id
  AND m.state = 'unfinished' AND m.code = 'NO_PLACE')`;
// While the commands of a rollout are held, those that were never delivered are not published.
const RELEASED = `(rollout_id IS NULL OR delivered_at IS NOT NULL OR completed_at IS NOT NULL
  OR (rollout_id IN (SELECT rollout_id FROM rollouts WHERE publishes = 1) AND ${HAS_PLACE}))`;
const MAY_GO = `${IN_TIME} AND ${RELEASED}`;
const HELD = `CASE WHEN ${RELEASED} THEN 0 ELSE 1 END AS held`;

const FIND_DUE = inSets(
  `SELECT ${DUE_COLUMNS}, ${HELD} FROM transactions
   WHERE device_id IN (?) AND due = 1 AND transaction_id > ? AND ${IN_TIME}
   ORDER BY transaction_id LIMIT (? + 0)`,
  ['text', 'bigint', 'bigint', 'bigint'],
);
const COUNT_ATTEMPT = inSets(
  `UPDATE transactions SET attempts = attempts + 1, published_at = COALESCE(published_at, ?)
   WHERE transaction_id = ? AND due + 0 = 1 AND ${RELEASED}`,
  ['bigint', 'bigint'],
);

/**
 * The due transactions of a device after a transactionId, in order, each with the number of the attempt that begins when
 * `countAttempt` is called in the same unit of work.
 */
export async function findDue(
  unit: UnitOfWork,
  deviceId: string,
  after: number,
  limit: number,
  now: Micros,
): Promise<Due[]> {
  const rows = await unit.all<DueRow>(FIND_DUE, deviceId, after, now, limit);
  return rows.map((row) => ({
    ...row,
    attempts: row.attempts + 1,
    parameters: parametersOf(unit, { ...row, deviceId }, row.parameters),
  }));
}

/** The first due transaction of a device after a transactionId that may be sent. */
export async function firstDue(sql: Sql, deviceId: string, after: number, now: Micros): Promise<number | undefined> {
  const row = await sql.get<{ transactionId: number }>(
    `SELECT transaction_id AS "transactionId" FROM transactions
     WHERE device_id = ? AND due = 1 AND transaction_id > ? AND ${MAY_GO} ORDER BY transaction_id LIMIT 1`,
    deviceId,
    after,
    now,
  );
  return row?.transactionId;
}

/**
 * Claims a due transaction that was found in the same unit of work: counts its attempt, so that even after a crash the next
 * attempt has a higher number. `now` (microseconds) becomes the time of the publication, if there was none before. Another
 * node may have paused its rollout since it was found: then it is not counted, `refused` is called before the commit, and
 * the command must not be sent.
 */
export const countAttempt = (unit: UnitOfWork, transactionId: number, now: Micros, refused: () => void): void =>
  unit.later(COUNT_ATTEMPT, [now, transactionId], (count) => {
    if (count === 0) refused();
  });

/**
 * The unfinished commands of a device's rollouts, up to a transactionId, and whether its rollout holds each back. A
 * delivered one is never held: its PUBACK on a former connection may have been stored after it was passed over.
 */
export async function unfinishedOfRollouts(
  sql: Sql,
  deviceId: string,
  upTo: number,
): Promise<ReadonlyMap<number, boolean>> {
  const rows = await sql.all<{ transactionId: number; held: number }>(
    `SELECT transaction_id AS "transactionId", ${HELD} FROM transactions WHERE device_id = ? AND due = 1
     AND completed_at IS NULL AND rollout_id IS NOT NULL AND transaction_id <= ?`,
    deviceId,
    upTo,
  );
  return new Map(rows.map(({ transactionId, held }) => [transactionId, held === 1]));
}

/** Claims one command whose rollout held it back; undefined when it may still not be published, or not any more. */
export async function claimReleased(
  sql: Sql,
  deviceId: string,
  transactionId: number,
  now: Micros,
): Promise<Due | undefined> {
  const row = await sql.get<DueRow>(
    `UPDATE transactions SET attempts = attempts + 1, published_at = COALESCE(published_at, ?)
     WHERE transaction_id = ? AND due + 0 = 1 AND completed_at IS NULL AND ${MAY_GO} RETURNING ${DUE_COLUMNS}`,
    now,
    transactionId,
    now,
  );
  return row && { ...row, parameters: parametersOf(sql, { ...row, deviceId }, row.parameters) };
}

/** Claims the cancel of one transaction; undefined when the device has received it, or it is not due any more. */
export async function claimCancel(sql: Sql, transactionId: number): Promise<Due | undefined> {
  // With `+ 0`, PostgreSQL finds the row by its primary key. Otherwise it might use the index of due transactions,
  // which it may believe to be empty, and which can be long.
  const row = await sql.get<DueRow>(
    `UPDATE transactions SET attempts = attempts + 1
     WHERE transaction_id = ? AND due + 0 = 1 AND completed_at IS NOT NULL RETURNING ${DUE_COLUMNS}`,
    transactionId,
  );
  return row && { ...row, parameters: {} }; // a finished transaction has lost its parameters
}

/** The due cancels of a device, of transactions up to the given one. */
export async function dueCancels(sql: Sql, deviceId: string, upTo: number): Promise<number[]> {
  const rows = await sql.all<{ transactionId: number }>(
    `SELECT transaction_id AS "transactionId" FROM transactions
     WHERE device_id = ? AND due = 1 AND completed_at IS NOT NULL AND transaction_id <= ?`,
    deviceId,
    upTo,
  );
  return rows.map(({ transactionId }) => transactionId);
}
