import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { sealOrNull } from '../../platform/encryption/vault.ts';
import {
  type Delivery,
  type EventNumbers,
  NO_DEVICE,
  type Outcome,
  type ReceiverName,
  UNSENT,
  type UrlSetting,
} from './delivery.ts';
import { dueRows } from './due-rows.ts';
import { urlPlaceOf } from './log/delivery-record.ts';

interface NewEvent extends Pick<Delivery, 'deliveryId' | 'body' | 'createdAt' | 'traceparent'>, ReceiverName {
  deviceId: string;
  transactionId: number | null;
  type: string;
  unsent: boolean;
}

const INSERT = `INSERT INTO deliveries (delivery_id, application_id, device_id, transaction_id, setting, type, body, status,
     attempts, next_attempt_at, created_at, updated_at, traceparent, sequence, device_sequence)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, next_event_number()`;
const RETURNED = 'RETURNING sequence, device_sequence AS "deviceSequence"';
// biome-ignore format: the types in the order of the placeholders
const TYPES = ['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text'] as const;
const INSERT_OF_NONE = inSets(`${INSERT}, NULL) ${RETURNED}`, TYPES);
const OF_DEVICE = 'application_id = ? AND device_id = ?';
const COUNTED = `INSERT INTO event_counts (application_id, device_id, last) VALUES (?, ?, 0)
  ON CONFLICT (application_id, device_id) DO NOTHING`;
const COUNT = inSets(`UPDATE event_counts SET last = last + 1 WHERE ${OF_DEVICE}`, ['text', 'text']);
const INSERT_OF_DEVICE = inSets(`${INSERT}, (SELECT last FROM event_counts WHERE ${OF_DEVICE})) ${RETURNED}`, [
  ...TYPES,
  'text',
  'text',
]);
// COALESCE keeps PostgreSQL from using the index of pending deliveries instead of the primary key. PostgreSQL may think
// that this index is short, but it has all pending deliveries of a receiver that is down.
const SAVE_OUTCOME = inSets(
  `UPDATE deliveries SET status = ?, attempts = ?, url = ?, last_status_code = ?, last_error = ?,
     next_attempt_at = ?, updated_at = ?, sent = ?, answer = ?
   WHERE application_id = ? AND delivery_id = ? AND COALESCE(status, '') = 'pending' AND round = ? AND attempts < ?`,
  // biome-ignore format: the types in the order of the placeholders
  ['text', 'bigint', 'text', 'bigint', 'text', 'bigint', 'bigint', 'text', 'text', 'text', 'text', 'bigint', 'bigint'],
);

/**
 * Stores an event with its delivery, which is due at once unless it is unsent. `numbered` is called with its numbers, before
 * the effects of the commit. The unit has the device as its key, or has locked it, so that two events of one device never get
 * the same number. `isCounted`: the row that counts the events of the device is there.
 */
export function insertEvent(
  unit: UnitOfWork,
  event: NewEvent,
  numbered: (numbers: EventNumbers) => void,
  isCounted = false,
): void {
  const { applicationId, deviceId, createdAt, unsent } = event;
  const values = [
    event.deliveryId,
    applicationId,
    deviceId,
    event.transactionId,
    event.setting,
    event.type,
    event.body,
    unsent ? UNSENT : 'pending',
    unsent ? null : createdAt,
    createdAt,
    createdAt,
    event.traceparent,
  ];
  if (deviceId === NO_DEVICE) {
    unit.insertReturning(INSERT_OF_NONE, values, numbered);
    return;
  }
  const ofDevice = [applicationId, deviceId];
  if (!isCounted) unit.later(COUNTED, ofDevice);
  unit.later(COUNT, ofDevice);
  unit.insertReturning(INSERT_OF_DEVICE, [...values, ...ofDevice], numbered);
}

/** The columns of a delivery that an attempt needs. */
const ATTEMPTED = `delivery_id AS "deliveryId", body, attempts, round, created_at AS "createdAt", traceparent, sequence,
  device_sequence AS "deviceSequence"`;

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

/** The deliveries to the URLs of settings, as the sender of webhooks finds them. */
export const dueOfSettings = {
  ...dueRows<UrlSetting>({
    table: 'deliveries',
    column: 'setting',
    attempted: `${ATTEMPTED} FROM deliveries`,
    of: '',
    id: 'delivery_id',
    order: 'delivery_id',
    key: ['application_id', 'delivery_id'],
    waiting: "status = 'pending'",
  }),
  saveOutcome,
};
