import type { RawConnection } from '../database/postgres/raw-connection.ts';

export interface Partition {
  partition: number;
  /** The node that has the partition; null when none has it. */
  nodeId: string | null;
  /** Raised whenever the partition goes to another node, or to none. */
  epoch: number;
}

export const listPartitions = (connection: RawConnection): Promise<Partition[]> =>
  connection.query<Partition>(
    'SELECT partition, node_id AS "nodeId", epoch FROM receiver_partitions ORDER BY partition',
  );

/**
 * Gives partitions to a node whose lease has not expired, or to none (null), if they still have the epochs that were
 * read. Returns the partitions that were changed.
 */
export async function movePartitions(
  connection: RawConnection,
  seen: readonly Pick<Partition, 'partition' | 'epoch'>[],
  to: string | null,
): Promise<number[]> {
  if (seen.length === 0) return [];
  const rows = await connection.query<{ partition: number }>(
    `UPDATE receiver_partitions SET node_id = $3, epoch = receiver_partitions.epoch + 1
     FROM unnest($1::int[], $2::bigint[]) AS seen (partition, epoch)
     WHERE receiver_partitions.partition = seen.partition AND receiver_partitions.epoch = seen.epoch
       AND ($3::text IS NULL OR EXISTS
         (SELECT 1 FROM nodes WHERE nodes.node_id = $3 AND nodes.lease_until > clock_timestamp()))
     RETURNING receiver_partitions.partition`,
    seen.map(({ partition }) => partition),
    seen.map(({ epoch }) => epoch),
    to,
  );
  return rows.map(({ partition }) => partition);
}
