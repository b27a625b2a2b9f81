import type { RawConnection } from '../database/postgres/raw-connection.ts';
import type { Sql } from '../database/sql.ts';

/** The row of a node, by which the other nodes know it. */
export interface Node {
  nodeId: string;
  /** When the node registered: microseconds, by the clock of the database. */
  startedAt: number;
  release: string;
  /** The release and the shared settings, as fingerprint.ts makes them. */
  fingerprint: string;
  /** The settings that the node lacks and needs before other nodes may join, separated by spaces. */
  lacking: string;
  /**
   * The number of devices that were connected to the node at the last renewal of its lease; null before the first
   * renewal.
   */
  devices: number | null;
  /**
   * The encryption key that the node writes with (`-`: none), and all that it has, separated by spaces; null for a node of
   * a release without encryption.
   */
  encryptionKeys: string | null;
  /**
   * How much the node lets through of each limit that nodes share, as limit-shares.ts writes it; null before the first
   * renewal of the lease, and for a node of a release that sends hints about it.
   */
  used: string | null;
}

/** The encryption keys of a node: the one that it writes with, and all that it has. */
export interface KeysOfNode {
  nodeId: string;
  writes: string | null;
  has: readonly string[];
}

export function keysOf({ nodeId, encryptionKeys }: Node): KeysOfNode {
  const [writes = '-', ...has] = (encryptionKeys ?? '-').split(' ');
  return { nodeId, writes: writes === '-' ? null : writes, has };
}

/** A node as the database knows it: one that lives, or one that ended within a day without a word. */
export interface KnownNode {
  nodeId: string;
  /** Microseconds, by the clock of the database. */
  startedAt: number;
  release: string;
  devices: number | null;
  /** Seconds until the lease ends; negative when it has ended. */
  leaseSeconds: number;
  /** The present time by the clock of the database, in microseconds. */
  now: number;
}

/** The live nodes, and those whose lease expired within the last day, in the order of their registration. */
export const knownNodes = (sql: Sql): Promise<KnownNode[]> =>
  sql.all<KnownNode>(
    `SELECT node_id AS "nodeId", (extract(epoch FROM started_at) * 1000000)::bigint AS "startedAt", release, devices,
       extract(epoch FROM lease_until - clock_timestamp())::double precision AS "leaseSeconds",
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
     FROM nodes WHERE lease_until > clock_timestamp() - interval '1 day' ORDER BY started_at, node_id LIMIT 1000`,
  );

const STARTED_AT = '(extract(epoch FROM started_at) * 1000000)::bigint';
const columnsWith = (fingerprint: string): string => `node_id AS "nodeId", ${STARTED_AT} AS "startedAt", release,
  ${fingerprint} AS fingerprint, lacking, devices, encryption_keys AS "encryptionKeys", used`;
const COLUMNS = columnsWith('fingerprint');
// The present time and not that of the transaction's start, because the statement may have waited.
const UNTIL = `clock_timestamp() + $2 * interval '1 millisecond'`;

/** The advisory lock under which nodes register one after another. The number has no other meaning. */
const ADMISSION = 0x6c61_7065;

/**
 * The most milliseconds that a node waits for the lock, and that it may be idle while it holds it. Without this limit, a node
 * that is frozen while it registers would keep all others from registering, and with many nodes the connections that were
 * given up would stay in the queue for the lock.
 */
const ADMISSION_MS = 1_000;

/** Runs `done` under the lock, so that no other node registers meanwhile. */
export async function admitting<Result>(connection: RawConnection, done: () => Promise<Result>): Promise<Result> {
  await connection.query('BEGIN');
  try {
    await connection.query(
      `SELECT set_config(name, $1, true) FROM unnest('{lock_timeout,idle_in_transaction_session_timeout}'::text[]) AS name`,
      String(ADMISSION_MS),
    );
    await connection.query('SELECT pg_advisory_xact_lock($1)', ADMISSION);
    const result = await done();
    await connection.query('COMMIT');
    return result;
  } catch (cause) {
    await connection.query('ROLLBACK').catch(() => undefined);
    throw cause;
  }
}

/** The nodes whose lease has not expired, in the order of their registration. */
export const liveNodes = (connection: RawConnection): Promise<Node[]> =>
  connection.query<Node>(
    `SELECT ${COLUMNS} FROM nodes WHERE lease_until > clock_timestamp() ORDER BY started_at, node_id`,
  );

export async function insertNode(
  connection: RawConnection,
  { nodeId, release, fingerprint, lacking, encryptionKeys }: Omit<Node, 'startedAt' | 'devices' | 'used'>,
  validMs: number,
): Promise<void> {
  await connection.query(
    `INSERT INTO nodes (node_id, lease_until, started_at, release, fingerprint, lacking, encryption_keys)
     VALUES ($1, ${UNTIL}, clock_timestamp(), $3, $4, $5, $6)`,
    nodeId,
    validMs,
    release,
    fingerprint,
    lacking,
    encryptionKeys,
  );
}

/** A node as a renewal reads it; its fingerprint is null when it started before a given time. */
type NodeRead = Omit<Node, 'fingerprint'> & { fingerprint: string | null };

/** Adds the fingerprints that were read before. Reads all again if one is missing, as after a clock was set back. */
async function withFingerprints(
  connection: RawConnection,
  read: readonly NodeRead[],
  before: readonly Node[],
): Promise<readonly Node[]> {
  const known = new Map(before.map((node) => [node.nodeId, node.fingerprint]));
  const nodes = read.map((node) => ({ ...node, fingerprint: node.fingerprint ?? known.get(node.nodeId) }));
  const isWhole = (all: readonly (Omit<Node, 'fingerprint'> & { fingerprint: string | undefined })[]): all is Node[] =>
    all.every(({ fingerprint }) => fingerprint !== undefined);
  return isWhole(nodes) ? nodes : liveNodes(connection);
}

/**
 * Renews a lease that has not expired; returns the live nodes. This node is missing from them when its lease had expired.
 * Fingerprints never change and are long, so those of the nodes that are `known` are not read again.
 */
export async function renewLease(
  connection: RawConnection,
  { nodeId, devices, encryptionKeys, used }: Pick<Node, 'nodeId' | 'devices' | 'encryptionKeys' | 'used'>,
  { validMs, known }: { validMs: number; known: readonly Node[] },
): Promise<readonly Node[]> {
  // The SELECT sees the rows as before the renewal, so this node is included by the result of the renewal itself.
  const read = await connection.query<NodeRead>(
    `WITH renewed AS (UPDATE nodes SET lease_until = ${UNTIL}, devices = $3, encryption_keys = $4, used = $5
       WHERE node_id = $1 AND lease_until > clock_timestamp() RETURNING node_id)
     SELECT ${columnsWith(`CASE WHEN ${STARTED_AT} > $6::bigint THEN fingerprint END`)} FROM nodes
     WHERE (node_id <> $1 AND lease_until > clock_timestamp()) OR node_id IN (SELECT node_id FROM renewed)
     ORDER BY started_at, node_id`,
    nodeId,
    validMs,
    devices,
    encryptionKeys,
    used,
    known.at(-1)?.startedAt ?? 0,
  );
  return withFingerprints(connection, read, known);
}

/** Removes the row of a node that stops. */
export async function deleteNode(connection: RawConnection, nodeId: string): Promise<void> {
  await connection.query('DELETE FROM nodes WHERE node_id = $1', nodeId);
}

/** Removes the rows of nodes whose leases expired more than a day ago. */
export async function deleteDead(connection: RawConnection): Promise<void> {
  await connection.query(`DELETE FROM nodes WHERE lease_until < clock_timestamp() - interval '1 day'`);
}
