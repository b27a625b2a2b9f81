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
import { createEvening } from './rebalance.ts';

interface Parts {
  database: Database;
  open: OpenRaw;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  about: Pick<Node, 'release' | 'fingerprint' | 'lacking'>;
  lease?: Lease;
  /** Devices that are handed over in a second at most; 0: none. */
  handOverRate: number;
  /** For tests: true for a hint that is to be lost. */
  loses?(hint: Hint): boolean;
}

export type Cluster = ReturnType<typeof createCluster>;

/** What processes at one database know of one another and share out among themselves. */
export function createCluster({ database, open, clock, ids, log, metrics, about, lease, handOverRate, loses }: Parts) {
  const nodes = createNodes({
    open,
    ids,
    log,
    metrics,
    about,
    devices: () => ownership.size(),
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
  const ownership = createOwnership({ database, nodes, bus, log, metrics });
  const partitions = createPartitions({ nodes, bus, log, metrics });
  const shares = createShares({ clock, nodes, bus });
  const heal = createHeal({ clock, log });
  const evening = createEvening({ clock, log, metrics, nodes, ownership, perSecond: handOverRate });
  bus.onGap(heal.now);
  nodes.atBeat(async (on) => database.seenAt?.(on.query));
  nodes.onBack(() => {
    const renamed = async (): Promise<void> => {
      await ownership.rename();
      await bus.renamed();
    };
    renamed().catch((err: unknown) => log.warn({ err }, 'the new name of this node is not everywhere yet'));
  });

  return {
    nodes,
    bus,
    ownership,
    partitions,
    heal,
    shares,

    /** Comes among the others: from here on this node has a name, and is told things. Throws SETTING_INVALID. */
    async join(): Promise<void> {
      await nodes.start();
      await bus.start();
      bus.broadcast({ kind: 'partitions', about: '' }); // the others see it at once
    },

    /** The database is another one: devices come again and get what is due, and all that was known is read again. */
    startOver(): void {
      ownership.endAll();
      bus.gap();
    },

    handOverBy: evening.handOverBy,

    async start(): Promise<void> {
      await heal.start();
      evening.start();
    },

    /** Resolves when nothing is left to be told or looked at. */
    async idle(): Promise<void> {
      await heal.idle();
      await ownership.idle();
      await bus.idle();
    },

    /** The others take what this node has. */
    async [Symbol.asyncDispose](): Promise<void> {
      await evening[Symbol.asyncDispose]();
      await heal[Symbol.asyncDispose]();
      await ownership.idle();
      await nodes[Symbol.asyncDispose]();
      bus.broadcast({ kind: 'partitions', about: '' });
      await bus[Symbol.asyncDispose]();
    },
  };
}
