import { oldestOfDevicesIn } from '../../platform/database/device-sweep.ts';
import { IN_LIST, inLists } from '../../platform/database/in-lists.ts';
import { inSets } from '../../platform/database/set-form.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

/** Why a connection ended. The last two are those of all connections of a process that stopped, or was killed. */
export type EndReason =
  | 'disconnected'
  | 'keep_alive'
  | 'lost'
  | 'protocol'
  | 'replaced'
  | 'revoked'
  | 'elsewhere'
  | 'contested'
  | 'node_stopped'
  | 'node_lost';
export type RefusalReason = 'credentials' | 'certificate' | 'blocked' | 'will' | 'protocol_version';

/** A fact about the connections of a device. Times are microseconds. */
export interface ConnectionFact {
  deviceId: string;
  /** Rises with time. */
  factId: string;
  kind: 'connected' | 'ended' | 'refused';
  at: Micros;
  /** The time of the last fact that is counted in this one. */
  lastAt: Micros;
  count: number;
  reason: EndReason | RefusalReason | null;
  detail: string | null;
  address: string | null;
  transport: string | null;
  nodeId: string | null;
  /** The begin of the connection that ended. */
  since: Micros | null;
  /** 1 while no end of this connection is recorded. */
  isOpen: number;
}

const COLUMNS = `c.device_id AS "deviceId", c.fact_id AS "factId", c.kind, c.at, c.last_at AS "lastAt", c.count, c.reason,
  c.detail, c.address, c.transport, c.node_id AS "nodeId", c.since, c.is_open AS "isOpen"`;

const INSERT = inSets(
  `INSERT INTO connection_log (device_id, fact_id, kind, at, last_at, count, reason, detail, address, transport, node_id,
     since, is_open)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  // biome-ignore format: the types in the order of the placeholders
  ['text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text', 'text', 'text', 'text', 'text', 'bigint', 'bigint'],
);

export async function insertFact(sql: Sql, fact: ConnectionFact): Promise<void> {
  await sql.run(
    INSERT,
    fact.deviceId,
    fact.factId,
    fact.kind,
    fact.at,
    fact.lastAt,
    fact.count,
    fact.reason,
    fact.detail,
    fact.address,
    fact.transport,
    fact.nodeId,
    fact.since,
    fact.isOpen,
  );
}

const FORGET = inSets('DELETE FROM connection_log WHERE device_id = ? AND fact_id = ?', ['text', 'text']);

/** Deletes a fact that may be stored already, because nobody knows whether its unit was committed. */
export async function forgetFact(sql: Sql, { deviceId, factId }: ConnectionFact): Promise<void> {
  await sql.run(FORGET, deviceId, factId);
}

const COUNT = inSets('UPDATE connection_log SET count = count + ?, last_at = ? WHERE device_id = ? AND fact_id = ?', [
  'bigint',
  'bigint',
  'text',
  'text',
]);

/** Counts further facts in a stored one. */
export async function countInFact(
  sql: Sql,
  { deviceId, factId }: Pick<ConnectionFact, 'deviceId' | 'factId'>,
  more: { count: number; lastAt: Micros },
): Promise<void> {
  await sql.run(COUNT, more.count, more.lastAt, deviceId, factId);
}

const CLOSE = inSets('UPDATE connection_log SET is_open = 0 WHERE device_id = ? AND fact_id = ?', ['text', 'text']);

/** Stores that the end of a connection is recorded. */
export async function closeFact(
  sql: Sql,
  { deviceId, factId }: Pick<ConnectionFact, 'deviceId' | 'factId'>,
): Promise<void> {
  await sql.run(CLOSE, deviceId, factId);
}

/** Returns those of the devices that are registered, and stay so until the unit has ended. */
export async function registeredOf(unit: UnitOfWork, deviceIds: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const list of inLists(deviceIds)) {
    const text = `SELECT device_id AS "deviceId" FROM devices WHERE device_id IN ${IN_LIST}
      ORDER BY device_id${unit.whileThere}`;
    for (const { deviceId } of await unit.all<{ deviceId: string }>(text, ...list)) found.add(deviceId);
  }
  return found;
}

/** How many facts of a kind a device has since a fact id, and the id of the last one. */
interface Kept {
  deviceId: string;
  kind: ConnectionFact['kind'];
  facts: number;
  factId: string;
}

/** Counts the facts of devices since a fact id, by kind. */
export async function keptSince(sql: Sql, deviceIds: readonly string[], since: string): Promise<Kept[]> {
  const found: Kept[] = [];
  for (const list of inLists(deviceIds)) {
    const rows = await sql.all<Kept>(
      `SELECT device_id AS "deviceId", kind, count(*) AS facts, MAX(fact_id) AS "factId" FROM connection_log
       WHERE device_id IN ${IN_LIST} AND fact_id >= ? GROUP BY device_id, kind`,
      ...list,
      since,
    );
    found.push(...rows);
  }
  return found;
}

/** The facts of a device in [since, until) whose ids are in [from, before), the newest first. */
export const listFacts = (
  sql: Sql,
  deviceId: string,
  range: { since: Micros; until: Micros; from: string; before: string; limit: number },
): Promise<ConnectionFact[]> =>
  sql.all(
    `SELECT ${COLUMNS} FROM connection_log c WHERE c.device_id = ? AND c.fact_id >= ? AND c.fact_id < ?
       AND c.at >= ? AND c.at < ? ORDER BY c.fact_id DESC LIMIT ?`,
    deviceId,
    range.from,
    range.before,
    range.since,
    range.until,
    range.limit,
  );

/**
 * The last connections of a device that ended with their process, and so have no end of their own. There is at most one
 * for each process.
 */
export const listCutConnections = (
  sql: Sql,
  deviceId: string,
  limit: number,
): Promise<(ConnectionFact & { endedAt: Micros; endReason: EndReason })[]> =>
  sql.all(
    `SELECT ${COLUMNS}, l.ended_at AS "endedAt", l.reason AS "endReason"
     FROM connection_log c, node_lives l
     WHERE (c.device_id, c.fact_id) IN
         (SELECT device_id, fact_id FROM connection_log WHERE device_id = ? AND is_open = 1
          ORDER BY fact_id DESC LIMIT ?)
       AND l.node_id = c.node_id AND l.ended_at IS NOT NULL`,
    deviceId,
    limit,
  );

/** Deletes all facts of a device. */
export async function deleteFacts(unit: UnitOfWork, deviceId: string): Promise<void> {
  await unit.run('DELETE FROM connection_log WHERE device_id = ?', deviceId);
}

const OLDEST_OF_DEVICES = oldestOfDevicesIn('connection_log', 'MIN(fact_id)');

/** Lists devices that have facts, ordered by id and beginning behind `after`, each with the id of its oldest fact. */
export const oldestOfDevices = (
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ deviceId: string; oldest: string }[]> => sql.all(OLDEST_OF_DEVICES, after, limit);

export type FactKey = Pick<ConnectionFact, 'deviceId' | 'factId'>;

/** The facts of a device before an id, the oldest first. */
export const oldFacts = (sql: Sql, deviceId: string, before: string, limit: number): Promise<FactKey[]> =>
  sql.all(
    `SELECT device_id AS "deviceId", fact_id AS "factId" FROM connection_log
     WHERE device_id = ? AND fact_id < ? ORDER BY fact_id LIMIT ?`,
    deviceId,
    before,
    limit,
  );

const REMOVE = inSets('DELETE FROM connection_log WHERE device_id = ? AND fact_id = ?', ['text', 'text']);

export const removeFact = (sql: Sql, { deviceId, factId }: FactKey): Promise<number> =>
  sql.run(REMOVE, deviceId, factId);
