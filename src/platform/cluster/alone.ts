import type { ConnectionsHere, Peers } from './peers.ts';

/**
 * The owner of every device in a process that is alone. It has no epoch, since no other process could store commands or
 * connect devices.
 */
const SELF = { nodeId: null, epoch: undefined, behind: undefined } as const;

const NOTHING = (): void => undefined;

/** The peers of a process that is alone at its database: it has every device and every receiver, and sends no hints. */
export function createAlone(): Peers {
  let connections: ConnectionsHere = {
    isConnected: () => false,
    connectedIds: () => [],
    connectedCount: () => 0,
  };

  return {
    cluster: undefined,
    nodes: { id: () => '', count: () => 1, leads: () => true, encryption: () => [], told: NOTHING },
    known: async () => [],
    bus: { broadcast: NOTHING, on: NOTHING, onGap: NOTHING },
    ownership: {
      look: async () => SELF,
      wake: NOTHING,
      lost: NOTHING,
      remove: async () => 0,
      connected: (deviceIds) => new Set(deviceIds.filter((deviceId) => connections.isConnected(deviceId))),
      connectedIds: (most) => connections.connectedIds(most),
      connectedCount: () => connections.connectedCount(),
      nodeOf: async () => null,
      leave: NOTHING,
    },
    partitions: { mine: () => true, partitionOf: () => 0, tell: NOTHING },
    shares: undefined,
    vitals: () => undefined,
    serve(workers) {
      connections = workers.connections;
    },
  };
}
