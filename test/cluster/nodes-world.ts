import type { Test } from 'tap';
import type { Hint } from '../../src/platform/cluster/hints.ts';
import type { Lease } from '../../src/platform/cluster/nodes.ts';
import { until } from '../until.ts';
import { startWorld, type Tenant, transactionIdOf, WIFI, type World } from '../world.ts';
import { createWire, STEADY } from './members.ts';

type Link = Awaited<ReturnType<World['connect']>>;

interface Wanted {
  loses?: (hint: Hint) => boolean;
  env?: Record<string, string>;
  keepsHistory?: boolean;
  /** A lease that ends soon, for a test in which a node loses it. */
  lease?: Lease;
}

/** Two nodes whose connections can be cut, and an activated device that is connected to the first. */
export async function twoNodes(t: Test, { loses, env, keepsHistory = false, lease = STEADY }: Wanted = {}) {
  const wires: ReturnType<typeof createWire>[] = [];
  const world = await startWorld(t, {
    nodes: 2,
    keepsHistory,
    ...(env && { env }),
    cluster: (node) => ({
      lease,
      open(url) {
        const wire = createWire(url);
        wires[node] = wire;
        return wire.open;
      },
      ...(loses && { loses }),
    }),
  });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const elsewhere = await tenant.at(1);
  return { world, tenant, device, elsewhere, wires };
}

/** Sends a command through one of the nodes; returns its transactionId. */
export const put = async (api: Tenant['api'], path: string): Promise<number> =>
  transactionIdOf(await api.put(`${path}/settings/wifi`, { json: WIFI }));

/** Takes these commands in order, and answers each of them. */
export async function carryOut(t: Test, link: Link, tenant: Tenant, ids: number[]): Promise<void> {
  for (const transactionId of ids) {
    const command = await link.command();
    t.equal(command.transactionId, transactionId, 'in order');
    link.puback(command.packet);
    await link.ack({ transactionId, status: 'succeeded' });
    t.match((await tenant.event()).data.transaction, { transactionId, status: 'succeeded' });
  }
}

/** Resolves when a node sees so many living nodes. */
export async function nodesSeen(world: World, node: number, count: number): Promise<void> {
  const seen = async (): Promise<unknown> => (await world.nodes[node]?.metrics.clusterNodes.get())?.values[0]?.value;
  await until(async () => (await seen()) === count);
}
