import { startHaproxy } from '@lapel/tools/harness/haproxy';
import t from 'tap';
import { createClient } from '../contract/checked-client.ts';
import { missingProxy } from '../operations/proxy-files.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { openRawDevice } from '../raw-device.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';
import { STEADY } from './members.ts';
import { carryOut, nodesSeen } from './nodes-world.ts';

const DEVICES = 8;

/** The hints by which nodes have told one another of commands. */
async function crossed({ nodes }: World): Promise<number> {
  const counts = await Promise.all(nodes.map(({ metrics }) => metrics.clusterHints.get()));
  return counts
    .flatMap(({ values }) => values)
    .filter(({ labels }) => labels.kind === 'wake' && labels.outcome === 'sent')
    .reduce((sum, { value }) => sum + value, 0);
}

t.test(
  'behind the balancer of the example, no command crosses from one node to another',
  { skip: NO_POSTGRES || missingProxy('haproxy') },
  async (t) => {
    const world = await startWorld(t, { nodes: 2, cluster: () => ({ lease: STEADY }) });
    for (const node of [0, 1]) await nodesSeen(world, node, 2);
    const portOf = (address: string): number => Number(new URL(address).port);
    const ports = world.nodes.map(({ addresses: { http, admin, mqtt } }) => ({
      http: portOf(http),
      admin: portOf(admin),
      mqtt: portOf(mqtt),
    }));
    const haproxy = await startHaproxy(world.dataDir, ports, (config) =>
      config.replace('timeout check 3s', 'timeout check 20s'),
    );
    t.teardown(() => haproxy[Symbol.asyncDispose]());
    const tenant = await world.createTenant();
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const api = createClient({ baseUrl: `http://127.0.0.1:${haproxy.http}`, token });
    t.teardown(() => api[Symbol.asyncDispose]());

    for (let count = 0; count < DEVICES; count += 1) {
      const device = await world.registerDevice();
      const link = await openRawDevice({ url: `mqtt://127.0.0.1:${haproxy.mqtt}`, ...device });
      t.teardown(() => link.socket.destroy());
      await link.login();
      await link.subscribe(`devices/${device.deviceId}/commands`);
      const path = `${tenant.path}/devices/${device.deviceId}`;
      const activation = transactionIdOf(await api.post(path, { json: {} }));
      await carryOut(t, link, tenant, [activation]);
      const put = async (through: typeof api): Promise<number> =>
        transactionIdOf(await through.put(`${path}/settings/wifi`, { json: WIFI }));
      await carryOut(t, link, tenant, [await put(api), await put(api)]);
      t.equal(await crossed(world), count, 'the balancer leads its calls to its node');

      // A call that gets to the other node crosses, and its command comes all the same.
      const ids = [await put(await tenant.at(0)), await put(await tenant.at(1))];
      await carryOut(t, link, tenant, ids);
      t.equal(await crossed(world), count + 1);
    }
    const devices = await Promise.all(world.nodes.map(({ metrics }) => metrics.devicesConnected.get()));
    t.ok(
      devices.every(({ values }) => (values[0]?.value ?? 0) > 0),
      'each node has some of the devices',
    );
  },
);
