import { inSets } from '../../platform/database/set-form.ts';
import type { Sql } from '../../platform/database/sql.ts';
import { openOrNull, type Place, sealOrNull } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';

/** Identifies a request. The time is needed because a device may use a request id again later. */
export interface RequestKey {
  deviceId: string;
  requestId: string;
  /** Microseconds; of two requests with the same id, the later one has the greater time. */
  receivedAt: Micros;
}

export interface StoredRequest extends RequestKey {
  /** The application for which the device was activated when it asked; null when it was not. */
  applicationId: string | null;
  type: string;
  /** JSON. */
  data: string;
  /** JSON; null until the request is answered. */
  answer: string | null;
  /** The time of the answer's PUBACK; null until then. */
  doneAt: Micros | null;
}

const COLUMNS = `device_id AS "deviceId", request_id AS "requestId", received_at AS "receivedAt",
  application_id AS "applicationId", type, data, answer, done_at AS "doneAt"`;

/** The place of an answer, which can hold URLs that are valid without a password. */
const placeOf = ({ deviceId, requestId, receivedAt }: RequestKey): Place => [
  'device_requests',
  'answer',
  deviceId,
  requestId,
  receivedAt,
];

const opened = ({ vault }: Sql, row: StoredRequest): StoredRequest => ({
  ...row,
  answer: openOrNull(vault, placeOf(row), row.answer),
});

const FIND = `SELECT ${COLUMNS} FROM device_requests WHERE device_id = ? AND request_id = ?`;

/** The latest request of a device with an id. */
export async function findRequest(sql: Sql, deviceId: string, requestId: string): Promise<StoredRequest | undefined> {
  const row = await sql.get<StoredRequest>(FIND, deviceId, requestId);
  return row && opened(sql, row);
}

/** A device's requests without an answer, in the order of arrival. */
export const findUnanswered = (sql: Sql, deviceId: string, limit: number): Promise<StoredRequest[]> =>
  sql.all(
    `SELECT ${COLUMNS} FROM device_requests WHERE device_id IN (?) AND answer IS NULL ORDER BY received_at, request_id LIMIT (? + 0)`,
    deviceId,
    limit,
  );

/** A device's answered requests without the answer's PUBACK, in the order of arrival. */
export async function findAnswered(sql: Sql, deviceId: string, limit: number): Promise<StoredRequest[]> {
  const rows = await sql.all<StoredRequest>(
    `SELECT ${COLUMNS} FROM device_requests WHERE device_id IN (?) AND answer IS NOT NULL AND done_at IS NULL
     ORDER BY received_at, request_id LIMIT (? + 0)`,
    deviceId,
    limit,
  );
  return rows.map((row) => opened(sql, row));
}

/** The number of a device's unfinished requests, and the characters of their data and answers. */
export async function measureUnfinished(sql: Sql, deviceId: string): Promise<{ count: number; characters: number }> {
  const found = await sql.get<{ count: number; characters: number }>(
    `SELECT count(*) AS "count", CAST(coalesce(sum(length(data) + coalesce(length(answer), 0)), 0) AS BIGINT) AS "characters"
     FROM device_requests WHERE device_id = ? AND done_at IS NULL`,
    deviceId,
  );
  return found ?? { count: 0, characters: 0 };
}

/** Stores a request; it replaces an earlier one with the same id. */
export async function putRequest(sql: Sql, request: StoredRequest): Promise<void> {
  await sql.run(
    `INSERT INTO device_requests (device_id, request_id, received_at, application_id, type, data, answer) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (device_id, request_id) DO UPDATE SET received_at = excluded.received_at,
       application_id = excluded.application_id, type = excluded.type, data = excluded.data, answer = excluded.answer, done_at = NULL`,
    request.deviceId,
    request.requestId,
    request.receivedAt,
    request.applicationId,
    request.type,
    request.data,
    sealOrNull(sql.vault, placeOf(request), request.answer),
  );
}

const ANSWER = inSets(
  'UPDATE device_requests SET answer = ? WHERE device_id = ? AND request_id = ? AND received_at = ? AND answer IS NULL',
  ['text', 'text', 'text', 'bigint'],
);

/** Stores the answer; returns false when there is one already, or the request was removed. */
export async function putAnswer(sql: Sql, key: RequestKey, answer: string): Promise<boolean> {
  return (
    (await sql.run(ANSWER, sql.vault.seal(placeOf(key), answer), key.deviceId, key.requestId, key.receivedAt)) === 1
  );
}

const DONE = inSets(
  'UPDATE device_requests SET done_at = ? WHERE device_id = ? AND request_id = ? AND received_at = ?',
  ['bigint', 'text', 'text', 'bigint'],
);

/**
 * Stores the time of the PUBACK of a request's answer. Null removes it, so that the device gets the answer once more.
 */
export async function setDone(sql: Sql, key: RequestKey, doneAt: Micros | null): Promise<void> {
  await sql.run(DONE, doneAt, key.deviceId, key.requestId, key.receivedAt);
}

/** Deletes a device's requests whose answers were acknowledged before a time. */
export async function forgetDone(sql: Sql, deviceId: string, before: number): Promise<void> {
  await sql.run('DELETE FROM device_requests WHERE device_id = ? AND done_at < ?', deviceId, before);
}

/** Deletes all requests of a device. */
export async function deleteRequests(sql: Sql, deviceId: string): Promise<void> {
  await sql.run('DELETE FROM device_requests WHERE device_id = ?', deviceId);
}

/** Requests that arrived before a time, the oldest first. */
export const findOldRequests = (sql: Sql, before: number, limit: number): Promise<RequestKey[]> =>
  sql.all(
    `SELECT device_id AS "deviceId", request_id AS "requestId", received_at AS "receivedAt" FROM device_requests
     WHERE received_at < ? ORDER BY received_at LIMIT ?`,
    before,
    limit,
  );

const REMOVE = inSets('DELETE FROM device_requests WHERE device_id = ? AND request_id = ? AND received_at = ?', [
  'text',
  'text',
  'bigint',
]);

/** Removes a request; returns 0 when it is gone, or its id was used again. */
export const removeRequest = (sql: Sql, { deviceId, requestId, receivedAt }: RequestKey): Promise<number> =>
  sql.run(REMOVE, deviceId, requestId, receivedAt);
