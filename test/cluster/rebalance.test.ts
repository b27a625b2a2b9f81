import t from 'tap';
import { createMetrics } from '../../src/metrics.ts';
import type { Nodes } from '../../src/platform/cluster/nodes.ts';
import type { Ownership } from '../../src/platform/cluster/ownership.ts';
import { createRebalancing, surplusOf } from '../../src/platform/cluster/rebalance.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { deviceIdOf } from '../world.ts';
import { carryOut, nodesSeen, put, twoNodes } from './nodes-world.ts';

const surplus = (own: number, all: (number | null)[], isUnderWay: boolean, onTheWay = 0): number =>
  surplusOf({ own, all, onTheWay }, isUnderWay);

t.test('a node with a tenth more devices than the mean hands over, until it has half of that more', async (t) => {
  t.equal(surplus(1000, [1000], false), 0, 'alone');
  t.equal(surplus(1000, [1000, null], false), 0, 'a node of the release before says nothing of itself');
  t.equal(surplus(1000, [1000, 0], false), 475);
  t.equal(surplus(549, [549, 451], false), 0, 'a little more');
  t.equal(surplus(549, [549, 451], true), 24, 'once begun it goes on');
  t.equal(surplus(525, [525, 475], true), 0);
  t.equal(surplus(451, [549, 451], true), 0, 'who has fewer');
  t.equal(surplus(4, [4, 0], false), 0, 'a few make no difference');
  t.equal(surplus(549, [549, 351], true, 100), 24, 'those that are on their way are somewhere');
});

t.test('devices whose commands come through another node are handed over first', async (t) => {
  const clock = createFakeClock();
  let nodesChanged = (): void => undefined;
  const devices = new Set(Array.from({ length: 40 }, (_, number) => `device ${number}`));
  const handed: string[] = [];
  const node = { nodeId: 'own', devices: devices.size };
  const rebalancing = createRebalancing({
    clock,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    nodes: {
      id: () => 'own',
      live: () => [node, { ...node, nodeId: 'other', devices: 0 }],
      mayAct: () => true,
      onChanged: (told: () => void) => (nodesChanged = told),
    } as unknown as Nodes,
    ownership: {
      size: () => devices.size,
      has: (deviceId: string) => devices.has(deviceId),
      deviceIds: () => devices.values(),
      async handOver(deviceId: string) {
        devices.delete(deviceId);
        handed.push(deviceId);
      },
    } as unknown as Ownership,
    perSecond: 2,
  });
  t.teardown(() => rebalancing[Symbol.asyncDispose]());
  rebalancing.handOverBy({ isQuiet: () => true, prepare: async () => undefined });
  rebalancing.start();
  rebalancing.crosses('device 5');
  nodesChanged();
  for (const deviceId of ['device 30', 'device 7', 'of another node', 'device 31']) rebalancing.crosses(deviceId);
  clock.advance(31_000);
  t.same(handed, ['device 30', 'device 7', 'device 31', 'device 0'], 'those of before the last change count no more');
  for (let number = 0; number < 10_000; number += 1) rebalancing.crosses(`gone ${number}`);
  clock.advance(1_000);
  rebalancing.crosses('device 20');
  clock.advance(1_000);
  t.ok(handed.includes('device 20'), 'those that have left make room');
});

t.test('nodes even out their devices slowly, and devices lose nothing', { skip }, async (t) => {
  const { world, tenant, device } = await twoNodes(t, { env: { LAPEL_HAND_OVER_RATE: '2' } });
  const json = Array.from({ length: 15 }, (_, number) => ({ deviceId: deviceIdOf(100 + number) }));
  const others = await Promise.all(
    json.map(async (one) => {
      const made = await world.admin().post('/admin/v1/developers/dev/devices', { json: one });
      return { ...one, credential: made.body.credential as string };
    }),
  );
  const [silent] = others as [(typeof others)[number]]; // gone for ever when its connection ends
  const will = {
    topic: `devices/${silent.deviceId}/status`,
    payload: Buffer.from('{"lang":"fr"}'),
    qos: 1,
    retain: false,
  };
  let over = false;
  /** Connects to a node; after the end of a connection it connects to the second one. */
  async function live(other: (typeof others)[number], node: number): Promise<void> {
    const link = await world.open({ ...other, node, ...(other === silent && { connect: { will } }) });
    const { returnCode } = await link.login().catch(() => ({ returnCode: -1 }));
    if (returnCode !== 0) await new Promise((resolve) => setTimeout(resolve, 50));
    void link.closed.then(() => (over || other === silent ? undefined : live(other, 1)));
  }
  for (const other of others) await live(other, 0); // the device that was connected first leaves first
  const waiting = await put(tenant.api, device.path);
  const command = await device.link.command(); // it has not confirmed this command, so it has work in progress

  const handedOver = async (): Promise<number> =>
    (await world.nodes[0]?.metrics.clusterHandedOver.get())?.values[0]?.value ?? 0;
  const connected = async (node: number): Promise<number> =>
    (await world.nodes[node]?.metrics.devicesConnected.get())?.values[0]?.value ?? 0;
  await nodesSeen(world, 0, 2);
  world.clock.advance(29_000);
  t.equal(await handedOver(), 0, 'others may still be on their way');
  for (let before = 0; (await handedOver()) < 5; ) {
    world.clock.advance(1_000);
    const now = await handedOver();
    t.ok(now - before <= 2, 'two in a second');
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // The number of the other node's devices is known with its next renewal.
  for (let beats = 0; beats < 15; beats += 1) {
    world.clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 110));
  }
  await until(async () => (await connected(0)) + (await connected(1)) >= 15);
  const moved = await handedOver();
  t.ok(moved >= 5 && moved <= 9, `16 and none become about as many (${moved})`);
  t.same([await connected(0), await connected(1)], [16 - moved, moved - 1]);
  world.clock.advance(60_000);
  t.equal(await handedOver(), moved, 'and stay so');
  const raw = await world.raw();
  const spoken = () => raw.all('SELECT * FROM device_status WHERE device_id = ?', silent.deviceId);
  t.same(await spoken(), [], 'its will is not carried out by that');
  while ((await spoken()).length === 0) {
    world.clock.advance(60_000);
    await world.idle();
  }
  t.match(JSON.stringify(await spoken()), /fr/, 'but when it does not come');
  device.link.puback(command.packet);
  await device.link.ack({ transactionId: waiting, status: 'succeeded' });
  t.match((await tenant.event()).data.transaction, { transactionId: waiting, status: 'succeeded' });
  await carryOut(t, device.link, tenant, [await put(tenant.api, device.path)]);
  over = true;
});
