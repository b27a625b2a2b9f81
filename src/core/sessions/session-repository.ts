import { inOneGo } from '../../platform/database/in-one-go.ts';
import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { SECOND } from '../../runtime/units.ts';
import { type PacketRow, type StoredPacket, toPacket } from './stored-packet.ts';

export interface StoredSubscription {
  clientId: string;
  topic: string;
  qos: number;
  /** The subscription options of later protocol versions, as the client gave them. */
  properties: Record<string, unknown>;
}

interface SubscriptionRow {
  clientId: string;
  topic: string;
  qos: number;
  properties: string | null;
}

const SUBSCRIPTION = 'client_id AS "clientId", topic, qos, properties';
const toSubscription = (row: SubscriptionRow): StoredSubscription => ({
  ...row,
  properties: row.properties === null ? {} : (JSON.parse(row.properties) as Record<string, unknown>),
});
const FIND_SUBSCRIPTIONS = inSets('SELECT topic, qos, properties FROM subscriptions WHERE client_id = ?', ['text']);

/** Whether a device with these subscriptions hears everything that it needs. */
export type IsUsable = (clientId: string, subscriptions: readonly { topic: string; qos: number }[]) => boolean;

/** The session that a device wants. */
export interface SessionTerms {
  isUsable: IsUsable;
  /** Seconds after the end of the connection in which the session ends; null: it does not end by itself. */
  expirySeconds: number | null;
}

const FIND_END = inSets(
  'SELECT expiry_seconds AS "expirySeconds", ended_at AS "endedAt" FROM sessions WHERE client_id = ?',
  ['text'],
);

/**
 * Opens a persistent session; returns true when there was one already [MQTT-3.1.2-4] whose subscriptions are usable. If
 * they are not, its device was cut off before its SUBSCRIBE, or a backup was made then: a device that hears of this
 * session would trust it, and never subscribe. So it begins anew, like a new one, without subscriptions and without
 * messages of QoS 2 [MQTT-3.1.2-6]: a clean session that a crash has ended, or a device that was removed while it sent
 * them, may have left some. A session whose time is over is one that has ended [MQTT5 3.1.2.11.2]; one whose connection a
 * crash has ended goes on, because nobody has seen when.
 */
export async function openSession(
  unit: UnitOfWork,
  clientId: string,
  { isUsable, expirySeconds }: SessionTerms,
  nowMicros: number,
): Promise<boolean> {
  const [[known], , subscriptions] = await inOneGo(
    unit.all<{ expirySeconds: number | null; endedAt: number | null }>(FIND_END, clientId),
    unit.run(
      `INSERT INTO sessions (client_id, created_at, expiry_seconds) VALUES (?, ?, ?) ON CONFLICT (client_id) DO NOTHING`,
      clientId,
      nowMicros,
      expirySeconds,
    ),
    unit.all<{ topic: string; qos: number }>(FIND_SUBSCRIPTIONS, clientId),
  );
  if (known && (known.expirySeconds !== expirySeconds || known.endedAt !== null))
    unit.later('UPDATE sessions SET expiry_seconds = ?, ended_at = NULL WHERE client_id = ?', [
      expirySeconds,
      clientId,
    ]);
  const isOver =
    known?.endedAt != null && known.expirySeconds !== null && known.endedAt + known.expirySeconds * SECOND <= nowMicros;
  if (known && !isOver && isUsable(clientId, subscriptions)) return true;
  deleteSubscriptions(unit, clientId);
  deleteIncomingPackets(unit, clientId);
  return false;
}

/** Whether the client has a persistent session. */
export async function hasSession(sql: Sql, clientId: string): Promise<boolean> {
  return (await sql.get('SELECT 1 AS one FROM sessions WHERE client_id = ?', clientId)) !== undefined;
}

/** Notes when the connection of a session has ended. */
export const noteEnd = (unit: UnitOfWork, clientId: string, expirySeconds: number, nowMicros: number): void =>
  unit.later('UPDATE sessions SET ended_at = ?, expiry_seconds = ? WHERE client_id = ?', [
    nowMicros,
    expirySeconds,
    clientId,
  ]);

/** Deletes a session without its messages of QoS 2 and its will, which belong to the connection as well. */
export function detachSession(unit: UnitOfWork, clientId: string): void {
  unit.later('DELETE FROM sessions WHERE client_id = ?', [clientId]);
  deleteSubscriptions(unit, clientId);
}

/** Deletes the session with all its data [MQTT-3.1.2-6]. */
export function deleteSession(unit: UnitOfWork, clientId: string): void {
  detachSession(unit, clientId);
  deleteIncomingPackets(unit, clientId);
  unit.later('DELETE FROM wills WHERE client_id = ?', [clientId]);
}

/**
 * Stores subscriptions of one client. Most clients subscribe to the same topics at each connection, so stored ones are read
 * first: an upsert that changes nothing locks its row, which PostgreSQL writes to the page and to its log.
 */
export async function saveSubscriptions(
  unit: UnitOfWork,
  clientId: string,
  subscriptions: readonly StoredSubscription[],
): Promise<void> {
  const rows = await unit.all<Omit<SubscriptionRow, 'clientId'>>(FIND_SUBSCRIPTIONS, clientId);
  const known = new Map(rows.map((row) => [row.topic, row]));
  for (const { topic, qos, properties: given } of subscriptions) {
    const properties = Object.keys(given).length === 0 ? null : JSON.stringify(given);
    const row = known.get(topic);
    if (row?.qos !== qos || row.properties !== properties)
      unit.later(
        `INSERT INTO subscriptions (client_id, topic, qos, properties) VALUES (?, ?, ?, ?)
         ON CONFLICT (client_id, topic) DO UPDATE SET qos = excluded.qos, properties = excluded.properties`,
        [clientId, topic, qos, properties],
      );
  }
}

export const deleteSubscription = (unit: UnitOfWork, clientId: string, topic: string): void =>
  unit.later('DELETE FROM subscriptions WHERE client_id = ? AND topic = ?', [clientId, topic]);

const deleteSubscriptions = (unit: UnitOfWork, clientId: string): void =>
  unit.later('DELETE FROM subscriptions WHERE client_id = ?', [clientId]);

export async function subscriptionsOf(sql: Sql, clientId: string): Promise<StoredSubscription[]> {
  const text = `SELECT ${SUBSCRIPTION} FROM subscriptions WHERE client_id IN (?) ORDER BY topic`;
  return (await sql.all<SubscriptionRow>(text, clientId)).map(toSubscription);
}

/** Subscriptions to exactly this topic. Those of QoS 0 are left out, because they have no stored delivery. */
export async function subscriptionsTo(sql: Sql, topic: string): Promise<StoredSubscription[]> {
  const text = `SELECT ${SUBSCRIPTION} FROM subscriptions WHERE topic = ? AND qos > 0`;
  return (await sql.all<SubscriptionRow>(text, topic)).map(toSubscription);
}

export async function clientsSubscribedTo(sql: Sql, topic: string): Promise<string[]> {
  const text = 'SELECT client_id AS "clientId" FROM subscriptions WHERE topic = ? ORDER BY client_id';
  return (await sql.all<{ clientId: string }>(text, topic)).map((row) => row.clientId);
}

export async function countSubscriptions(sql: Sql): Promise<{ subscriptions: number; clients: number }> {
  const row = await sql.get<{ subscriptions: number; clients: number }>(
    `SELECT count(CASE WHEN qos > 0 THEN 1 END) AS "subscriptions", count(DISTINCT client_id) AS "clients" FROM subscriptions`,
  );
  return row ?? { subscriptions: 0, clients: 0 };
}

export const saveIncomingPacket = (unit: UnitOfWork, messageId: number, stored: StoredPacket): void =>
  unit.later(
    `INSERT INTO incoming_packets (client_id, message_id, packet, payload) VALUES (?, ?, ?, ?)
     ON CONFLICT (client_id, message_id) DO UPDATE SET packet = excluded.packet, payload = excluded.payload`,
    [stored.clientId, messageId, JSON.stringify(stored.packet), stored.payload],
  );

export async function findIncomingPacket(
  sql: Sql,
  clientId: string,
  messageId: number,
): Promise<StoredPacket | undefined> {
  const row = await sql.get<PacketRow>(
    'SELECT client_id AS "clientId", packet, payload FROM incoming_packets WHERE client_id = ? AND message_id = ?',
    clientId,
    messageId,
  );
  return row && toPacket(row);
}

/** The identifiers of the stored inbound QoS 2 packets of a device. */
export async function incomingIds(sql: Sql, clientId: string): Promise<Set<number>> {
  const text = 'SELECT message_id AS "messageId" FROM incoming_packets WHERE client_id = ?';
  const rows = await sql.all<{ messageId: number }>(text, clientId);
  return new Set(rows.map(({ messageId }) => messageId));
}

export async function deleteIncomingPacket(sql: Sql, clientId: string, messageId: number): Promise<boolean> {
  const text = 'DELETE FROM incoming_packets WHERE client_id = ? AND message_id = ?';
  return (await sql.run(text, clientId, messageId)) === 1;
}

export const deleteIncomingPackets = (unit: UnitOfWork, clientId: string): void =>
  unit.later('DELETE FROM incoming_packets WHERE client_id = ?', [clientId]);
