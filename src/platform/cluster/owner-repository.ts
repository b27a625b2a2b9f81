import { inSets } from '../database/set-form.ts';
import type { Sql } from '../database/sql.ts';

/** Assigns a device to a node under a new epoch; returns the epoch, and the node that had the device before. */
const TAKE = `WITH former AS (SELECT node_id FROM device_owners WHERE device_id = ?)
  INSERT INTO device_owners (device_id, node_id, epoch) VALUES (?, ?, nextval('device_epochs'))
  ON CONFLICT (device_id) DO UPDATE SET node_id = excluded.node_id, epoch = excluded.epoch
  RETURNING epoch, (SELECT node_id FROM former) AS "formerId"`;

export async function takeDevice(
  sql: Sql,
  deviceId: string,
  nodeId: string | null,
): Promise<{ epoch: number; formerId: string | null }> {
  const row = await sql.get<{ epoch: number; formerId: string | null }>(TAKE, deviceId, deviceId, nodeId);
  if (!row) throw new Error('a device could not be taken over');
  return row;
}

const FIND_EPOCH = inSets('SELECT epoch FROM device_owners WHERE device_id = ?', ['text']);

export const findEpoch = async (sql: Sql, deviceId: string): Promise<number | undefined> =>
  (await sql.get<{ epoch: number }>(FIND_EPOCH, deviceId))?.epoch;

export interface Owner {
  nodeId: string | null;
  /** The epoch of the device's present connection; undefined when only this process uses the database. */
  epoch: number | undefined;
  /**
   * 1 when a command after the given transaction is due for the device, else 0. Undefined when only this process stores
   * commands, because it then knows this itself.
   */
  behind: number | undefined;
}

const FIND_OWNER = inSets(
  `SELECT node_id AS "nodeId", epoch, CASE WHEN EXISTS (SELECT 1 FROM transactions
    WHERE transactions.device_id = device_owners.device_id AND due = 1 AND transaction_id > ?) THEN 1 ELSE 0 END AS behind
  FROM device_owners WHERE device_id = ?`,
  ['bigint', 'text'],
);

/** Finds the owner of a device; undefined when it was never connected. */
export const findOwner = (sql: Sql, deviceId: string, after: number): Promise<Owner | undefined> =>
  sql.get<Owner>(FIND_OWNER, after, deviceId);

/** Stores that a device is connected nowhere, unless it has a newer epoch. */
const RELEASE = inSets('UPDATE device_owners SET node_id = NULL WHERE device_id = ? AND epoch = ?', ['text', 'bigint']);

export const releaseDevice = (sql: Sql, deviceId: string, epoch: number): Promise<number> =>
  sql.run(RELEASE, deviceId, epoch);

export const deleteOwner = (sql: Sql, deviceId: string): Promise<number> =>
  sql.run('DELETE FROM device_owners WHERE device_id = ?', deviceId);

/** The nodes to which devices are connected; devices that are not connected are left out. */
export const ownersOf = (sql: Sql, deviceIds: readonly string[]): Promise<{ deviceId: string; nodeId: string }[]> =>
  sql.all(
    `SELECT device_id AS "deviceId", node_id AS "nodeId" FROM device_owners
     WHERE device_id = ANY (string_to_array(?, ',')) AND node_id IS NOT NULL`,
    deviceIds.join(','),
  );

/** Up to `limit` devices that are connected to one of the given nodes, in no order. */
export async function ownedByAny(sql: Sql, nodeIds: readonly string[], limit: number): Promise<string[]> {
  const rows = await sql.all<{ deviceId: string }>(
    `SELECT device_id AS "deviceId" FROM device_owners
     WHERE node_id = ANY (string_to_array(?, ',')) LIMIT CAST(? AS BIGINT)`,
    nodeIds.join(','),
    limit,
  );
  return rows.map(({ deviceId }) => deviceId);
}

/** The number of devices that are connected to the given nodes. */
export async function countOwnedByAny(sql: Sql, nodeIds: readonly string[]): Promise<number> {
  const row = await sql.get<{ count: number }>(
    `SELECT count(*) AS count FROM device_owners WHERE node_id = ANY (string_to_array(?, ','))`,
    nodeIds.join(','),
  );
  return row?.count ?? 0;
}

/** Due transactions of a connected device. */
export interface DueOfDevice {
  deviceId: string;
  /** The epoch of the connection. */
  epoch: number;
  /** The highest of their transactionIds. */
  newest: number;
  /** Whether a cancel is among them. */
  cancels: boolean;
}

/** A connected device, with its due transactions; `newest` and `cancels` are null without any. */
export interface Owned {
  deviceId: string;
  epoch: number;
  newest: number | null;
  cancels: boolean | null;
}

/** The highest transactionId; 0 when there is no transaction. */
export const newestTransaction = async (sql: Sql): Promise<number> =>
  (await sql.get<{ newest: number | null }>('SELECT MAX(transaction_id) AS newest FROM transactions'))?.newest ?? 0;

/**
 * Reads a page of the due transactions behind one of them, by transactionId, of devices that are connected to a node. The
 * time that this takes depends on the number of transactions behind it, not on that of devices.
 */
export const dueBehind = (sql: Sql, nodeId: string, after: number, limit: number): Promise<DueOfDevice[]> =>
  sql.all(
    `SELECT t.device_id AS "deviceId", o.epoch, t.transaction_id AS newest, t.completed_at IS NOT NULL AS cancels
     FROM transactions t JOIN device_owners o ON o.device_id = t.device_id
     WHERE t.transaction_id > ? AND t.due = 1 AND o.node_id = ?
     ORDER BY t.transaction_id LIMIT CAST(? AS BIGINT)`,
    after,
    nodeId,
    limit,
  );

/**
 * Reads a page of the devices that are connected to a node, by deviceId, each with its due transactions. `after` is the
 * last deviceId of the page before.
 */
export const ownedBy = (sql: Sql, nodeId: string, after: string, limit: number): Promise<Owned[]> =>
  sql.all(
    `SELECT o.device_id AS "deviceId", o.epoch, found.newest, found.cancels FROM
       (SELECT device_id, epoch FROM device_owners WHERE node_id = ? AND device_id > ? ORDER BY device_id
        LIMIT CAST(? AS BIGINT)) AS o
     LEFT JOIN LATERAL (SELECT MAX(transaction_id) AS newest, bool_or(completed_at IS NOT NULL) AS cancels
       FROM transactions t WHERE t.device_id = o.device_id AND t.due = 1) AS found ON true
     ORDER BY o.device_id`,
    nodeId,
    after,
    limit,
  );

/** Writes a node's new name into the rows of its devices. */
export const renameOwner = (sql: Sql, from: string, to: string): Promise<number> =>
  sql.run('UPDATE device_owners SET node_id = ? WHERE node_id = ?', to, from);
