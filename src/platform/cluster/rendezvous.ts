/** The number of partitions of webhook receivers; the table receiver_partitions has a row for each. */
export const PARTITIONS = 64;

/**
 * FNV-1a over UTF-16 units, with a final mix. It must be the same in every release, because nodes of two releases run side
 * by side.
 */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** The partition of a receiver, which is one webhook setting of one application. */
export const partitionOf = ({ applicationId, setting }: { applicationId: string; setting: string }): number =>
  hash(`${setting} ${applicationId}`) % PARTITIONS;

/**
 * Chooses the node for a partition. All nodes that know the same live nodes choose the same one, and when a node joins
 * or leaves, no partition moves between two other nodes (rendezvous hashing). Undefined when no node is live.
 */
export function chosen(partition: number, nodeIds: Iterable<string>): string | undefined {
  let best: { nodeId: string; weight: number } | undefined;
  for (const nodeId of nodeIds) {
    const weight = hash(`${partition} ${nodeId}`);
    if (!best || weight > best.weight || (weight === best.weight && nodeId > best.nodeId)) best = { nodeId, weight };
  }
  return best?.nodeId;
}
