import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { SECOND } from '../../runtime/units.ts';
import { type PacketRow, type StoredPacket, toPacket } from './stored-packet.ts';

/** A will that is stored; `delaySeconds`: how long after the connection it is due, null for at once. */
export interface StoredWill extends StoredPacket {
  delaySeconds: number | null;
}

const WILL = 'client_id AS "clientId", packet, payload, delay_seconds AS "delaySeconds"';
type WillRow = PacketRow & { delaySeconds: number | null };

export const saveWill = (unit: UnitOfWork, brokerId: string, stored: StoredWill): void =>
  unit.later(
    `INSERT INTO wills (client_id, broker_id, packet, payload, delay_seconds) VALUES (?, ?, ?, ?, ?) ON CONFLICT (client_id)
     DO UPDATE SET broker_id = excluded.broker_id, packet = excluded.packet, payload = excluded.payload,
       delay_seconds = excluded.delay_seconds, due_at = NULL`,
    [stored.clientId, brokerId, JSON.stringify(stored.packet), stored.payload, stored.delaySeconds],
  );

export async function findWill(sql: Sql, clientId: string): Promise<StoredPacket | undefined> {
  const row = await sql.get<WillRow>(`SELECT ${WILL} FROM wills WHERE client_id = ?`, clientId);
  return row && toPacket(row);
}

/**
 * Deletes and returns a client's will: of any broker, or only of the given one. The caller that gets the will must
 * carry it out.
 */
export async function deleteWill(sql: Sql, clientId: string, brokerId?: string): Promise<StoredWill | undefined> {
  const own = brokerId === undefined ? '' : ' AND broker_id = ?';
  const row = await sql.get<WillRow>(
    `DELETE FROM wills WHERE client_id = ?${own} RETURNING ${WILL}`,
    clientId,
    ...(brokerId === undefined ? [] : [brokerId]),
  );
  return row && toPacket(row);
}

/** Makes a client's will due at a time, when its connection has ended. */
export const putWillOff = (unit: UnitOfWork, clientId: string, dueAt: number): void =>
  unit.later('UPDATE wills SET due_at = ? WHERE client_id = ? AND delay_seconds IS NOT NULL', [dueAt, clientId]);

/** Makes all wills with a delay due whose connections a stop of the process has ended. */
export const putAllWillsOff = (sql: Sql, nowMicros: number): Promise<number> =>
  sql.run(
    `UPDATE wills SET due_at = ? + delay_seconds * ${SECOND} WHERE delay_seconds IS NOT NULL AND due_at IS NULL`,
    nowMicros,
  );

/** When the next will with a delay is due; null for none. */
export async function nextWillAt(sql: Sql): Promise<number | null> {
  const text = 'SELECT due_at AS "dueAt" FROM wills WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1';
  return (await sql.get<{ dueAt: number }>(text))?.dueAt ?? null;
}

/** The clients of up to `limit` wills that are due, the first one first. */
export async function dueWills(sql: Sql, nowMicros: number, limit: number): Promise<string[]> {
  const text = 'SELECT client_id AS "clientId" FROM wills WHERE due_at <= ? ORDER BY due_at LIMIT ?';
  return (await sql.all<{ clientId: string }>(text, nowMicros, limit)).map(({ clientId }) => clientId);
}

/** Deletes and returns a client's will if it is due. The caller that gets the will must carry it out. */
export async function deleteDueWill(sql: Sql, clientId: string, nowMicros: number): Promise<StoredWill | undefined> {
  const text = `DELETE FROM wills WHERE client_id = ? AND due_at <= ? RETURNING ${WILL}`;
  const row = await sql.get<WillRow>(text, clientId, nowMicros);
  return row && toPacket(row);
}

/**
 * Deletes and returns the will of a client whose broker is dead; a will with a delay is put off instead, because nobody has
 * seen when its connection ended.
 */
export async function takeOrphan(
  sql: Sql,
  { clientId, brokerId }: { clientId: string; brokerId: string },
  nowMicros: number,
): Promise<StoredWill | undefined> {
  const putOff = await sql.run(
    `UPDATE wills SET due_at = ? + delay_seconds * ${SECOND}
     WHERE client_id = ? AND broker_id = ? AND delay_seconds IS NOT NULL AND due_at IS NULL`,
    nowMicros,
    clientId,
    brokerId,
  );
  return putOff > 0 ? undefined : deleteWill(sql, clientId, brokerId);
}

/**
 * Up to `limit` wills that belong to other brokers than the named ones, ordered by client, after the given client;
 * PostgreSQL only.
 */
export const willsOfOthers = (
  sql: Sql,
  brokerIds: readonly string[],
  clientId: string,
  limit: number,
): Promise<{ clientId: string; brokerId: string }[]> =>
  sql.all(
    `SELECT client_id AS "clientId", broker_id AS "brokerId" FROM wills
     WHERE client_id > ? AND due_at IS NULL AND NOT broker_id = ANY (string_to_array(?, ',')) ORDER BY client_id LIMIT CAST(? AS BIGINT)`,
    clientId,
    brokerIds.join(','),
    limit,
  );

/** Assigns a client's will to a broker that does not exist, so that it is treated as that of a dead node. */
export const orphanWill = (sql: Sql, clientId: string, brokerId: string): Promise<number> =>
  sql.run('UPDATE wills SET broker_id = ? WHERE client_id = ?', brokerId, clientId);

/** Changes the name of a broker in its wills. */
export const renameBroker = (sql: Sql, from: string, to: string): Promise<number> =>
  sql.run('UPDATE wills SET broker_id = ? WHERE broker_id = ?', to, from);

/**
 * Up to `limit` wills without a delay that belong to another broker than the named one, ordered by client, after the given
 * client.
 */
export async function willsAfter(
  sql: Sql,
  { clientId, notOf, limit }: { clientId: string; notOf: string; limit: number },
): Promise<(StoredPacket & { brokerId: string })[]> {
  const rows = await sql.all<{ clientId: string; brokerId: string; packet: string; payload: Buffer | null }>(
    `SELECT client_id AS "clientId", broker_id AS "brokerId", packet, payload FROM wills
     WHERE client_id > ? AND broker_id <> ? AND delay_seconds IS NULL ORDER BY client_id LIMIT ?`,
    clientId,
    notOf,
    limit,
  );
  return rows.map((row) => ({ ...toPacket(row), brokerId: row.brokerId }));
}
