import t, { type Test } from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import type { Tenant, World } from '../world.ts';
import { QUICK } from './members.ts';
import { nodesSeen, put, twoNodes } from './nodes-world.ts';

/** Makes some `test` events through a node; resolves when all are stored. */
async function record(api: Tenant['api'], { path }: Tenant, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const { status } = await api.post(`${path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
    if (status !== 202) throw new Error(`a test event was answered ${status}`);
  }
}

/** Takes so many webhooks; returns how often each of all received ones was sent. */
async function take({ receiver }: Tenant, count: number): Promise<number[]> {
  for (let index = 0; index < count; index += 1) await receiver.next();
  const times = Map.groupBy(receiver.requests, ({ headers }) => headers['webhook-id']);
  return [...times.values()].map((same) => same.length);
}

const once = (t: Test, times: number[]): boolean =>
  t.ok(
    times.every((count) => count === 1),
    'each once',
  );

/** Resolves when all earlier hints have arrived, because a later one has. */
async function hintsCame(tenant: Tenant, [here, there]: [{ path: string; link: Link }, { path: string; link: Link }]) {
  await put(await tenant.at(1), here.path);
  await here.link.command();
  await put(tenant.api, there.path);
  await there.link.command();
}
type Link = Awaited<ReturnType<World['connect']>>;

t.test('a receiver gets the webhooks of all nodes, each once and within one window', { skip }, async (t) => {
  const { world, tenant, device, elsewhere } = await twoNodes(t);
  const there = await world.activatedDevice(tenant, { node: 1 });
  await record(tenant.api, tenant, 5);
  await record(elsewhere, tenant, 5);
  once(t, await take(tenant, 10));
  await world.idle();

  // A receiver that nothing was sent to has a window of four.
  const other = await world.createTenant('other');
  other.receiver.answer({ hang: true });
  await record(await other.at(1), other, 10);
  await record(other.api, other, 10);
  await hintsCame(tenant, [device, there]);
  await other.receiver.next();
  t.equal(other.receiver.requests.length, 4, 'all nodes together have its window');
  t.equal(other.receiver.open(), 4);
  const owners = await Promise.all(
    world.nodes.map(async ({ metrics }) => (await metrics.clusterPartitions.get()).values[0]?.value ?? 0),
  );
  t.equal(
    owners.reduce((sum, count) => sum + count, 0),
    64,
  );
});

for (const dead of [0, 1])
  t.test(`webhooks that are due when node ${dead} loses its lease are sent by the other one`, { skip }, async (t) => {
    const { world, tenant, wires } = await twoNodes(t, { lease: QUICK });
    wires[dead]?.cut('lapel lease', true);
    await nodesSeen(world, 1 - dead, 1);
    const api = await tenant.at(dead);
    await record(api, tenant, 3);
    await record(await tenant.at(1 - dead), tenant, 3);
    once(t, await take(tenant, 6));
    wires[dead]?.mend('lapel lease');
    await nodesSeen(world, 1 - dead, 2);
    await record(api, tenant, 3);
    once(t, await take(tenant, 3));
  });

t.test('when a node stops in order, the next one sends the rest to its receivers', { skip }, async (t) => {
  const { world, tenant, elsewhere } = await twoNodes(t);
  await record(tenant.api, tenant, 10);
  await world.service[Symbol.asyncDispose]();
  await record(elsewhere, tenant, 10);
  once(t, await take(tenant, 20));
});

t.test('a lost hint delays a webhook only until the next search', { skip }, async (t) => {
  let lost = false;
  const { world, tenant, elsewhere } = await twoNodes(t, { loses: ({ kind }) => lost && kind === 'due' });
  lost = true;
  await record(tenant.api, tenant, 2);
  await record(elsewhere, tenant, 2);
  await tenant.receiver.next();
  await tenant.receiver.next();
  await world.idle();
  world.clock.advance(5_000);
  once(t, await take(tenant, 2));
});
