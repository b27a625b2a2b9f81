import type { RawConnection } from '../database/postgres/raw-connection.ts';

/** What others know of a node. */
export interface Node {
  nodeId: string;
  /** Microseconds, by the clock of the database. */
  startedAt: number;
  release: string;
  /** See fingerprint.ts. */
  fingerprint: string;
  /** Settings without which no other may be beside it; empty when it has them all. */
  lacking: string;
  /** Connected to it, as of its last renewal; null: it has not said. */
  devices: number | null;
}

const COLUMNS = `node_id AS "nodeId", (extract(epoch FROM started_at) * 1000000)::bigint AS "startedAt", release,
  fingerprint, lacking, devices`;
// The clock, not the start of the transaction: a statement may have waited.
const UNTIL = `clock_timestamp() + $2 * interval '1 millisecond'`;

/** Of all that come and go: one after another. The number means nothing but this. */
const ADMISSION = 0x6c61_7065;

/** Nobody else is let in until `done` has ended. */
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

/** The nodes whose lease has not run out, in the order in which they came. */
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

/** Prolongs a lease that has not run out; answers who lives then, without this node when its lease had run out. */
export async function renewLease(
  connection: RawConnection,
  { nodeId, devices }: Pick<Node, 'nodeId' | 'devices'>,
  validMs: number,
): Promise<Node[]> {
  // The list is as of before the renewal: of this node the renewal itself tells.
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

/** The node goes. */
export async function deleteNode(connection: RawConnection, nodeId: string): Promise<void> {
  await connection.query('DELETE FROM nodes WHERE node_id = $1', nodeId);
}

/** Who has been dead for a day is forgotten. */
export async function deleteDead(connection: RawConnection): Promise<void> {
  await connection.query(`DELETE FROM nodes WHERE lease_until < clock_timestamp() - interval '1 day'`);
}
