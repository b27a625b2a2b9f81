import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { OpenRaw } from '../database/postgres/raw-connection.ts';
import type { Database } from '../database/sql.ts';
import { createBus } from './bus.ts';
import { createHeal } from './heal.ts';
import type { Hint } from './hints.ts';
import { createShares } from './limit-shares.ts';
import type { Node } from './node-rows.ts';
import { createNodes, type Lease } from './nodes.ts';
import { createOwnership } from './ownership.ts';
import { createPartitions } from './partitions.ts';
import { createRebalancing } from './rebalance.ts';

interface Parts {
  database: Database;
  open: OpenRaw;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  about: Pick<Node, 'release' | 'fingerprint' | 'lacking'>;
  lease?: Lease;
  /** The encryption keys of this node, in the form of its row. */
  encryptionKeys?(): string;
  /** The most devices that are handed over in a second; 0 for none. */
  handOverRate: number;
  /** For tests: returns true for a hint that is to be lost. */
  loses?(hint: Hint): boolean;
}

export type Cluster = ReturnType<typeof createCluster>;

/**
 * The nodes at one database: how they learn of one another, and how they divide devices, receivers of webhooks and
 * limits.
 */
export function createCluster({
  database,
  open,
  clock,
  ids,
  log,
  metrics,
  about,
  lease,
  handOverRate,
  loses,
  ...parts
}: Parts) {
  const { encryptionKeys } = parts;
  const nodes = createNodes({
    open,
    ids,
    log,
    metrics,
    about,
    devices: () => ownership.size(),
    used: () => shares.report(),
    ...(encryptionKeys && { encryptionKeys }),
    ...(lease && { lease }),
  });
  const bus = createBus({
    open,
    log,
    metrics,
    nodeId: nodes.id,
    live: nodes.live,
    isLive: nodes.isLive,
    ...(loses && { loses }),
  });
  const ownership = createOwnership({ database, clock, nodes, bus, log, metrics });
  const partitions = createPartitions({ nodes, bus, log, metrics });
  const shares = createShares({ clock, nodes, bus });
  const heal = createHeal({ clock, log });
  const rebalancing = createRebalancing({ clock, log, metrics, nodes, ownership, perSecond: handOverRate });
  bus.onGap(heal.now);
  nodes.onGone(heal.now); // it may have died between a commit and the hint about it
  nodes.atBeat(async (on) => database.seenAt?.(on.query));
  nodes.onBack(() => {
    const renamed = async (): Promise<void> => {
      await ownership.rename();
      await bus.renamed();
    };
    renamed().catch((err: unknown) =>
      log.warn({ err }, 'the new name of this node could not be stored everywhere yet'),
    );
  });

  return {
    nodes,
    bus,
    ownership,
    partitions,
    heal,
    shares,

    /** Joins the other nodes: from here on this node has a name and gets hints. Throws SETTING_INVALID. */
    async join(): Promise<void> {
      await nodes.start();
      await bus.start();
      bus.broadcast({ kind: 'partitions', about: '' }); // the other nodes then renew their leases at once, and see this node
    },

    /**
     * To be called when the database was replaced: ends all connections, so that the devices connect again, and lets
     * everything that was cached be read again.
     */
    startOver(): void {
      ownership.endAll();
      bus.gap();
    },

    handOverBy: rebalancing.handOverBy,
    crosses: rebalancing.crosses,

    async start(): Promise<void> {
      await heal.start();
      rebalancing.start();
    },

    /** Resolves when no hint waits to be sent, and no check for lost hints is running. */
    async idle(): Promise<void> {
      await heal.idle();
      await ownership.idle();
      await bus.idle();
    },

    /** Leaves the cluster; the others then take over this node's devices and receivers. */
    async [Symbol.asyncDispose](): Promise<void> {
      await rebalancing[Symbol.asyncDispose]();
      await heal[Symbol.asyncDispose]();
      await ownership.idle();
      await nodes[Symbol.asyncDispose]();
      bus.broadcast({ kind: 'partitions', about: '' });
      await bus[Symbol.asyncDispose]();
    },
  };
}
