import type { Database } from '../database/sql.ts';
import type { Nodes } from './nodes.ts';
import * as repository from './owner-repository.ts';

interface Parts {
  database: Database;
  nodes: Pick<Nodes, 'live' | 'isLive'>;
}

/** Reads which devices are connected, to whichever live node. */
export function createConnectedDevices({ database, nodes }: Parts) {
  return {
    /** Returns those of the given devices that are connected to a live node. */
    async connected(deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
      const owners = deviceIds.length === 0 ? [] : await repository.ownersOf(database.read, deviceIds);
      return new Set(owners.filter(({ nodeId }) => nodes.isLive(nodeId)).map(({ deviceId }) => deviceId));
    },

    /** All connected devices; undefined when there are more than `most`. */
    async connectedIds(most: number): Promise<string[] | undefined> {
      const live = nodes.live().map(({ nodeId }) => nodeId);
      const deviceIds = await repository.ownedByAny(database.read, live, most + 1);
      return deviceIds.length > most ? undefined : deviceIds;
    },

    /** The number of devices that are connected, to whichever node. */
    connectedCount: (): Promise<number> =>
      repository.countOwnedByAny(
        database.aside,
        nodes.live().map(({ nodeId }) => nodeId),
      ),

    /** The node to which a device is connected; null when it is not connected. */
    async nodeOf(deviceId: string): Promise<string | null> {
      const [owner] = await repository.ownersOf(database.read, [deviceId]);
      return owner && nodes.isLive(owner.nodeId) ? owner.nodeId : null;
    },
  };
}
