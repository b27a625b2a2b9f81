import t, { type Test } from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
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

/** An application whose deliveries, made through the first node, were given up; a range of them can be made to wait. */
async function givenUp(t: Test, count: number) {
  const nodes = await twoNodes(t);
  const { world, tenant, elsewhere } = nodes;
  tenant.receiver.answer({ status: 410 });
  await record(tenant.api, tenant, count);
  await until(async () => {
    const { body } = await tenant.api.get(`${tenant.path}/webhooks/deliveries?status=gone&limit=1000`);
    return body.deliveries.length === count;
  });
  await world.idle();
  tenant.receiver.answer({ status: 204 });
  tenant.receiver.forget();
  const url = `${tenant.path}/webhooks/deliveries/redeliver`;
  const send = (api: Tenant['api'], range: object = {}) => api.post(url, { json: range });
  return {
    ...nodes,
    /** Asks a node for all of them. */
    sendAll: (api = tenant.api) => send(api, { status: 'gone' }),
    /** Asks a node for a range that examines none of them. */
    sendNone: (api = elsewhere) => send(api, { status: 'gone', since: '2099-01-01T00:00:00Z' }),
    /** Makes a range wait at one of these deliveries until the returned function is called. */
    async block() {
      const raw = await world.raw();
      await raw.exec('BEGIN');
      const [row] = await raw.all<{ id: string }>(
        `SELECT delivery_id AS id FROM deliveries WHERE status = 'gone' ORDER BY delivery_id DESC LIMIT 1 FOR UPDATE`,
      );
      if (!row) throw new Error('no delivery was given up');
      return () => raw.exec('ROLLBACK');
    },
    /** Resolves when a range has the turn of the application. */
    async begun(): Promise<void> {
      const raw = await world.raw();
      await until(async () => (await raw.all('SELECT 1 AS one FROM redeliveries WHERE held_until > 0')).length > 0);
    },
  };
}
const RUNNING = { status: 429, headers: { 'lapel-error-code': 'REDELIVERY_RUNNING' } };

t.test('while a node makes a range due, the other one refuses a range of the application', { skip }, async (t) => {
  const { sendAll, sendNone, block, begun } = await givenUp(t, 60);
  const unblock = await block();
  const first = sendAll();
  await begun();
  t.match(await sendNone(), RUNNING);
  await unblock();
  t.match(await first, { status: 202, body: { redelivered: 60 } });
  t.match(await sendNone(), { status: 202, body: { redelivered: 0 } }, 'after its end the next one may');
});

t.test('the ranges of all nodes together go out at one pace', { skip }, async (t) => {
  const { world, tenant, elsewhere, sendAll } = await givenUp(t, 1_000);
  const { receiver } = tenant;
  const before = receiver.requests.length;
  const sent = (): number => receiver.requests.length - before;
  t.match(await sendAll(), { body: { redelivered: 1_000 } });
  for (let index = 0; index < 1_000; index += 1) await receiver.next();
  await world.idle();
  const all = { json: { status: 'delivered' } };
  t.match(await elsewhere.post(`${tenant.path}/webhooks/deliveries/redeliver`, all), { status: 202 });
  await world.idle();
  t.ok(sent() <= 1_060, `${sent() - 1_000} more at once: the pace goes on`);
  world.clock.advance(10_000);
  for (let index = 1_000; index < 2_000; index += 1) await receiver.next();
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
