import type { Config } from '../../config.ts';
import type { Core } from '../../core/core.ts';
import { createDelayedWills } from '../../core/sessions/delayed-wills.ts';
import { createOrphanedWills } from '../../core/sessions/orphaned-wills.ts';
import { createTakeover, type Takeover } from '../../core/sessions/takeover.ts';
import { renameBroker } from '../../core/sessions/will-repository.ts';
import type { Cluster } from '../../platform/cluster/cluster.ts';
import type { Peers } from '../../platform/cluster/peers.ts';
import type { Common, Parts } from '../../platform/common.ts';
import type { Entrances } from '../../platform/entrance/entrance.ts';
import type { createOwners } from '../../runtime/device-owners.ts';
import { createMqttAddresses } from './addresses.ts';
import { type Broker, createBroker } from './broker.ts';
import { createDeviceMessages } from './device-messages.ts';

interface Given {
  parts: Parts;
  config: Config;
  peers: Peers;
  common: Common;
  core: Core;
  entrances: Entrances;
  owners: ReturnType<typeof createOwners>;
  takeover: Takeover | undefined;
}

/** Makes the functions that move devices from other nodes to this one; undefined without a cluster. */
export const takeoverOf = ({ cluster }: Peers, common: Given['common']): Takeover | undefined =>
  cluster && createTakeover({ ...common, ownership: cluster.ownership });

/**
 * Creates the broker and its listeners, connects them with the core and the other nodes, and registers them for the
 * start.
 */
export async function createMqttEdge({ parts, config, peers, common, core, entrances, owners, takeover }: Given) {
  const { transactions, statuses, events, requests, devices, sessions, presence, connectionLog, webhooks } = core;
  const { cluster } = peers;
  const delayedWills = parts.add(
    createDelayedWills({
      ...common,
      isOneOfMany: cluster !== undefined,
      leads: () => cluster?.nodes.leads() ?? true,
      carryOut: (will) => broker.carryOutWill(will),
    }),
  );
  const broker: Broker = parts.add(
    await createBroker({
      delayedWills,
      commands: transactions.demand,
      ...common,
      ...config.mqtt,
      gateOf: entrances.gateOf,
      proxies: entrances.proxies,
      names: { names: config.mqttWsNames, setting: 'LAPEL_HTTP_NAMES' },
      sessions,
      presence,
      connectionLog,
      authenticate: devices.authenticate,
      ownerOf: owners.of,
      takeover,
      nodeId: cluster?.nodes.id,
      open: transactions.open,
      openResponses: requests.open,
      handlers: createDeviceMessages({ transactions, statuses, events, requests }),
    }),
  );
  const addresses = parts.add(createMqttAddresses(broker, entrances.certificates, config));
  peers.serve({ commands: transactions, webhooks, renamed: renameBroker, connections: broker });
  if (cluster && takeover) joinCluster({ parts, common, broker, cluster, takeover });
  return { broker, addresses };
}

/** Lets other nodes take devices over from this node, and publishes the wills of devices whose node has died. */
function joinCluster({
  parts,
  common,
  broker,
  cluster,
  takeover,
}: Pick<Given, 'parts' | 'common'> & { broker: Broker; cluster: Cluster; takeover: Takeover }): void {
  cluster.handOverBy({ isQuiet: broker.isQuiet, prepare: takeover.orphan });
  parts.add(createOrphanedWills({ ...common, nodes: cluster.nodes, carryOut: broker.carryOutWill }));
}
