import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { NO_DEVICE } from '../webhooks/delivery.ts';
import { ATTEMPTED, IS_FIRST, OF_KEY, OPEN, OPEN_OF_ONE, PENDING, RELEASED } from './delivery-columns.ts';
import type { EndpointDeliveryStatus, EndpointKey, Released } from './endpoint.ts';

/** A delivery that an endpoint takes from the stream. */
export interface NewEndpointDelivery {
  sequence: number;
  eventId: string;
  deviceId: string;
  type: string;
  /** Whether an earlier event of its device is not through yet. */
  isBlocked: boolean;
  nextAttemptAt: Micros;
}

const TAKE = `INSERT INTO endpoint_deliveries (application_id, endpoint_id, sequence, event_id, device_id, type, status, attempts, round,
     next_attempt_at, created_at, updated_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?)
   ON CONFLICT (application_id, endpoint_id, sequence) DO NOTHING`;
// A replay finds the row of an event that was sent before; one that still waits stays as it is.
const TAKE_AGAIN = TAKE.replace(
  'DO NOTHING',
  `DO UPDATE SET status = excluded.status, attempts = 0,
     round = endpoint_deliveries.round + 1, next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at,
     last_status_code = NULL, last_error = NULL
   WHERE endpoint_deliveries.status NOT IN ('pending', 'blocked')`,
);

/** Stores a delivery; `inserted` is called when there was none of this event, before the effects of the commit. */
export function insertTaken(
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  taken: NewEndpointDelivery,
  { now, again }: { now: Micros; again: boolean },
  inserted: () => void,
): void {
  const status: EndpointDeliveryStatus = taken.isBlocked ? 'blocked' : 'pending';
  const { sequence, eventId, deviceId, type, nextAttemptAt } = taken;
  const values = [applicationId, endpointId, sequence, eventId, deviceId, type, status, nextAttemptAt, now, now];
  unit.later(again ? TAKE_AGAIN : TAKE, values, (count) => {
    if (count > 0 && !again) inserted();
  });
}

/** Stores a delivery of an event that this unit has stored before; it is due at once. */
export const insertTest = (
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  eventId: string,
  now: Micros,
): void =>
  unit.later(
    `INSERT INTO endpoint_deliveries (application_id, endpoint_id, sequence, event_id, device_id, type, status, attempts, round,
       next_attempt_at, created_at, updated_at)
     SELECT application_id, ?, sequence, delivery_id, device_id, type, 'pending', 0, 0, CAST(? AS BIGINT), CAST(? AS BIGINT),
       CAST(? AS BIGINT)
     FROM deliveries WHERE application_id = ? AND delivery_id = ?`,
    [endpointId, now, now, now, applicationId, eventId],
  );

/** Those of the given devices that have an event which is not through yet. */
export async function findBusyDevices(
  sql: Sql,
  { applicationId, endpointId }: EndpointKey,
  deviceIds: readonly string[],
): Promise<Set<string>> {
  const busy = new Set<string>();
  for (const list of inLists(deviceIds)) {
    const rows = await sql.all<{ deviceId: string }>(
      `SELECT DISTINCT device_id AS "deviceId" FROM endpoint_deliveries WHERE ${OF_KEY} AND ${OPEN} AND device_id IN ${IN_LIST}`,
      applicationId,
      endpointId,
      ...list,
    );
    for (const { deviceId } of rows) busy.add(deviceId);
  }
  return busy;
}

/** None of the device is being sent. After a replay that can be one with a higher number than those that wait. */
const NONE_IS_SENT = `device_id NOT IN (SELECT device_id FROM endpoint_deliveries WHERE ${OF_KEY} AND ${PENDING})`;

/**
 * Lets the first event that is not through be sent, of the devices of the given events, where it waits for one that is
 * through. Returns these events, as an attempt needs them. The row of the endpoint is locked, so no event is taken meanwhile.
 */
export async function releaseBehind(
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  sequences: readonly number[],
  now: Micros,
): Promise<Released[]> {
  const released: Released[] = [];
  const key = [applicationId, endpointId];
  for (const list of inLists(sequences)) {
    const freed = await unit.all<{ sequence: number }>(
      `UPDATE endpoint_deliveries SET ${RELEASED}
       WHERE ${OF_KEY} AND status = 'blocked' AND ${NONE_IS_SENT} AND sequence IN
         (SELECT (SELECT sequence FROM endpoint_deliveries WHERE ${OF_KEY} AND ${OPEN} AND device_id >= through.device_id
              AND device_id <= through.device_id ORDER BY device_id, sequence LIMIT 1)
          FROM (SELECT DISTINCT device_id FROM endpoint_deliveries WHERE ${OF_KEY} AND sequence IN ${IN_LIST}) AS through)
       RETURNING sequence`,
      now,
      now,
      now,
      ...Array.from({ length: 4 }, () => key).flat(),
      ...list,
    );
    for (const part of inLists(freed.map(({ sequence }) => sequence)))
      released.push(
        ...(await unit.all<Released>(
          `SELECT ${ATTEMPTED}, e.next_attempt_at AS "dueAt" FROM endpoint_deliveries e
           JOIN deliveries d ON d.application_id = e.application_id AND d.delivery_id = e.event_id
           WHERE e.application_id = ? AND e.endpoint_id = ? AND e.sequence IN ${IN_LIST}`,
          applicationId,
          endpointId,
          ...part,
        )),
      );
  }
  return released;
}

/** Lets all that is blocked be sent: of each device the first one that is not through, or all of them. */
export function releaseAll(
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  ordered: boolean,
  now: Micros,
): void {
  const which = ordered ? ` AND (device_id = '${NO_DEVICE}' OR (${IS_FIRST} AND ${NONE_IS_SENT}))` : '';
  const key = [applicationId, endpointId];
  unit.later(
    `UPDATE endpoint_deliveries SET ${RELEASED}
     WHERE ${OF_KEY} AND ${OPEN_OF_ONE} AND status = 'blocked'${which}`,
    [now, now, now, ...key, ...(ordered ? key : [])],
  );
}

/** Lets all that is pending wait for the first one of its device: the endpoint becomes ordered. */
export const holdBehind = (unit: UnitOfWork, { applicationId, endpointId }: EndpointKey): void =>
  unit.later(
    `UPDATE endpoint_deliveries SET status = 'blocked'
     WHERE ${OF_KEY} AND ${PENDING} AND device_id <> '${NO_DEVICE}' AND NOT (${IS_FIRST})`,
    [applicationId, endpointId],
  );

/** Lets all that is pending wait until the endpoint is enabled. */
export const holdAll = (unit: UnitOfWork, { applicationId, endpointId }: EndpointKey): void =>
  unit.later(`UPDATE endpoint_deliveries SET status = 'blocked' WHERE ${OF_KEY} AND ${PENDING}`, [
    applicationId,
    endpointId,
  ]);

/** Makes all that waits for another attempt due: the endpoint works again. */
export const hastenAll = (unit: UnitOfWork, { applicationId, endpointId }: EndpointKey, now: Micros): void =>
  unit.later(
    `UPDATE endpoint_deliveries SET next_attempt_at = ?, updated_at = ?
     WHERE ${OF_KEY} AND status = 'pending' AND attempts > 0 AND next_attempt_at > ?`,
    [now, now, applicationId, endpointId, now],
  );

/** Gives up all that is not through. */
export const skipAll = (unit: UnitOfWork, { applicationId, endpointId }: EndpointKey, now: Micros): void =>
  unit.later(
    `UPDATE endpoint_deliveries SET status = 'skipped', next_attempt_at = NULL, updated_at = ? WHERE ${OF_KEY} AND ${OPEN_OF_ONE}`,
    [now, applicationId, endpointId],
  );

/** Gives up one that is not through. Returns its device; undefined when there is none. */
export async function skipOne(
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  sequence: number,
  now: Micros,
): Promise<string | undefined> {
  const row = await unit.get<{ deviceId: string }>(
    `UPDATE endpoint_deliveries SET status = 'skipped', next_attempt_at = NULL, updated_at = ?
     WHERE ${OF_KEY} AND sequence = ? AND ${OPEN} RETURNING device_id AS "deviceId"`,
    now,
    applicationId,
    endpointId,
    sequence,
  );
  return row?.deviceId;
}

/** Removes the deliveries of an endpoint that is removed, some of them at a time. Returns their number. */
export const removeSome = (
  unit: UnitOfWork,
  { applicationId, endpointId }: EndpointKey,
  { most, onlyOpen }: { most: number; onlyOpen: boolean },
): Promise<number> =>
  unit.run(
    `DELETE FROM endpoint_deliveries WHERE ${OF_KEY} AND sequence IN
       (SELECT sequence FROM endpoint_deliveries WHERE ${OF_KEY}${onlyOpen ? ` AND ${OPEN_OF_ONE}` : ''} LIMIT (? + 0))`,
    applicationId,
    endpointId,
    applicationId,
    endpointId,
    most,
  );
