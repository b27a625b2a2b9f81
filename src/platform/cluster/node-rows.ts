import type { RawConnection } from '../database/postgres/raw-connection.ts';

/** A node's row, by which the other nodes know it. */
export interface Node {
  nodeId: string;
  /** Microseconds, by the clock of the database. */
  startedAt: number;
  release: string;
  /** See fingerprint.ts. */
  fingerprint: string;
  /** The settings that it lacks to have other nodes beside it, separated by spaces; empty when it has them all. */
  lacking: string;
  /** The number of connected devices at its last renewal; null before the first. */
  devices: number | null;
}

const COLUMNS = `node_id AS "nodeId", (extract(epoch FROM started_at) * 1000000)::bigint AS "startedAt", release,
  fingerprint, lacking, devices`;
// clock_timestamp() and not the start of the transaction, because a statement may have waited.
const UNTIL = `clock_timestamp() + $2 * interval '1 millisecond'`;

/** The advisory lock under which nodes register one after another. The number has no other meaning. */
const ADMISSION = 0x6c61_7065;

/** Runs `done` under the lock, so that no other node registers meanwhile. */
export async function admitting<Result>(connection: RawConnection, done: () => Promise<Result>): Promise<Result> {
  await connection.query('BEGIN');
  try {
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
  { nodeId, release, fingerprint, lacking }: Omit<Node, 'startedAt' | 'devices'>,
  validMs: number,
): Promise<void> {
  await connection.query(
    `INSERT INTO nodes (node_id, lease_until, started_at, release, fingerprint, lacking)
     VALUES ($1, ${UNTIL}, clock_timestamp(), $3, $4, $5)`,
    nodeId,
    validMs,
    release,
    fingerprint,
    lacking,
  );
}

/**
 * Renews a lease that has not expired; returns the live nodes. This node is missing from them when its lease had expired.
 */
export async function renewLease(
  connection: RawConnection,
  { nodeId, devices }: Pick<Node, 'nodeId' | 'devices'>,
  validMs: number,
): Promise<Node[]> {
  // The SELECT sees the rows as before the renewal, so this node is included by the result of the renewal itself.
  return connection.query<Node>(
    `WITH renewed AS (UPDATE nodes SET lease_until = ${UNTIL}, devices = $3
       WHERE node_id = $1 AND lease_until > clock_timestamp() RETURNING node_id)
     SELECT ${COLUMNS} FROM nodes
     WHERE (node_id <> $1 AND lease_until > clock_timestamp()) OR node_id IN (SELECT node_id FROM renewed)
     ORDER BY started_at, node_id`,
    nodeId,
    validMs,
    devices,
  );
}

/** Removes the row of a node that stops. */
export async function deleteNode(connection: RawConnection, nodeId: string): Promise<void> {
  await connection.query('DELETE FROM nodes WHERE node_id = $1', nodeId);
}

/** Removes the rows of nodes whose leases expired more than a day ago. */
export async function deleteDead(connection: RawConnection): Promise<void> {
  await connection.query(`DELETE FROM nodes WHERE lease_until < clock_timestamp() - interval '1 day'`);
}
