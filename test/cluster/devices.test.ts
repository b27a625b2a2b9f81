import { createRandom } from '@lapel/device-sim/random';
import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { QUICK } from './members.ts';
import { carryOut, put, twoNodes } from './nodes-world.ts';

t.test(
  'a device gets the commands that another node accepted for it, in order, and its cancels',
  { skip },
  async (t) => {
    const { world, tenant, device, elsewhere } = await twoNodes(t);
    const { link, path } = device;
    const first = await put(elsewhere, path);
    await carryOut(t, link, tenant, [first]);
    const ids: number[] = [];
    for (const api of [tenant.api, elsewhere, elsewhere, tenant.api, elsewhere]) ids.push(await put(api, path));
    await carryOut(t, link, tenant, ids);

    const published = await put(tenant.api, path);
    const command = await link.command();
    t.equal((await elsewhere.delete(`${path}/transactions/${published}`)).status, 204);
    const cancel = await link.command();
    t.match(cancel, { operation: 'cancel', transactionId: published });
    link.puback(command.packet);
    link.puback(cancel.packet);
    t.match((await tenant.event()).data.transaction, { transactionId: published, status: 'cancelled' });

    t.match((await elsewhere.get(`${path}/status`)).body, { connected: true }, 'all nodes know that it is connected');
    await link.drop();
    await world.idle();
    t.match((await elsewhere.get(`${path}/status`)).body, { connected: false }, 'and that it is not');
  },
);

t.test(
  'a login at another node takes over the device: its former connection is closed, and writes nothing more',
  { skip },
  async (t) => {
    const { world, tenant, device, elsewhere } = await twoNodes(t, { loses: ({ kind }) => kind === 'close' });
    const { link, path } = device;
    const waiting = await put(tenant.api, path);
    const command = await link.command();
    const next = await world.connect({ ...device, node: 1 });
    const again = await next.command();
    t.match(again, { transactionId: waiting, attempt: 2 }, 'it has what is unfinished once more');
    link.publish('acks', { transactionId: waiting, status: 'failed' });
    await link.closed;
    t.same(link.pending('puback'), [], 'nobody has told the former connection anything more');
    next.puback(again.packet);
    await next.ack({ transactionId: waiting, status: 'succeeded' });
    t.match((await tenant.event()).data.transaction, { transactionId: waiting, status: 'succeeded' });
    t.equal(command.attempt, 1);
    await carryOut(t, next, tenant, [await put(tenant.api, path), await put(elsewhere, path)]);
  },
);

t.test('messages of a former connection are refused, and change no state of the device', { skip }, async (t) => {
  const { world, tenant, device } = await twoNodes(t, { loses: ({ kind }) => kind === 'close' });
  const occurredAt = '2026-11-20T09:30:00.000000Z';
  const said: [what: string, say: (link: typeof device.link) => void][] = [
    ['a report', (link) => void link.publish('status', { lang: 'fr' })],
    ['an event', (link) => void link.publish('events', { eventId: 'e1', type: 'custom.sos', occurredAt, data: {} })],
    [
      'the end of a subscription',
      (link) =>
        link.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: [`devices/${device.deviceId}/commands`] }),
    ],
  ];
  let { link } = device;
  for (const [index, [what, say]] of said.entries()) {
    const former = link;
    link = await world.connect({ ...device, node: (index + 1) % 2 });
    say(former);
    await former.closed;
    t.same([...former.pending('puback'), ...former.pending('unsuback')], [], what);
  }
  t.match((await tenant.api.get(`${device.path}/status`)).body, { lang: null, connected: true });
  await link.drop();
  const again = await world.open({ ...device, node: 0 });
  t.match(await again.login(), { sessionPresent: true });
  await carryOut(t, again, tenant, [await put(tenant.api, device.path)]);
  t.equal(tenant.receiver.requests.length, 2, 'of no event');
});

t.test(
  'the former node learns of a login at another node, and carries out nothing that the connection left',
  { skip },
  async (t) => {
    const { world, tenant, device } = await twoNodes(t);
    const transactionId = await put(tenant.api, device.path);
    await device.link.drop();
    const will = {
      topic: `devices/${device.deviceId}/acks`,
      payload: Buffer.from(JSON.stringify({ transactionId, status: 'failed' })),
      qos: 1,
    };
    const former = await world.connect({ ...device, connect: { will } });
    const next = await world.connect({ ...device, node: 1 });
    await former.closed;
    t.match(
      (await tenant.event()).data.transaction,
      { transactionId, status: 'failed' },
      'its will is carried out, once',
    );
    const webhooks = tenant.receiver.requests.length;
    await next.drop();
    await world.idle();
    t.equal(tenant.receiver.requests.length, webhooks, 'and no second time');
  },
);

t.test('when a device loses its right to connect, its connection ends at every node', { skip }, async (t) => {
  const { world, tenant, device, elsewhere } = await twoNodes(t);
  const admin = world.admin({ node: 1 });
  t.equal((await elsewhere.get(tenant.path)).status, 200);
  await world.admin().post(`/admin/v1/applications/${tenant.applicationId}/secret`);
  // Its clock stands still, so only a hint can be the cause.
  while ((await elsewhere.get(tenant.path)).status === 200) await world.idle();
  await admin.patch(`/admin/v1/devices/${device.deviceId}`, { json: { blocked: true } });
  await device.link.closed;
  await admin.patch(`/admin/v1/devices/${device.deviceId}`, { json: { blocked: false } });

  const link = await world.connect(device);
  const { body } = await admin.post(`/admin/v1/devices/${device.deviceId}/credential`, { json: {} });
  await link.closed;
  const again = await world.connect({ ...device, credential: body.credential });
  await admin.delete(`/admin/v1/devices/${device.deviceId}?force=true`);
  await again.closed;
  const unknown = await world.open({ ...device, credential: body.credential });
  t.equal((await unknown.login()).returnCode, 4);
  t.equal((await tenant.event()).type, 'transaction.succeeded');
});

t.test('lost hints, and a listener that is cut off, delay work only until the next search', { skip }, async (t) => {
  let lost = true;
  const { world, tenant, device, elsewhere, wires } = await twoNodes(t, {
    loses: ({ kind }) => lost && (kind === 'wake' || kind === 'cancel'),
  });
  const { link, path } = device;
  const first = await put(elsewhere, path);
  await world.idle();
  t.same(link.pending('publish'), [], 'nobody told the first node');
  world.clock.advance(5_000);
  await carryOut(t, link, tenant, [first]);
  const second = await put(tenant.api, path);
  await link.command();
  await elsewhere.delete(`${path}/transactions/${second}`);
  await world.idle();
  world.clock.advance(5_000);
  t.match(await link.command(), { operation: 'cancel', transactionId: second });
  await tenant.event();

  lost = false;
  wires[0]?.cut('lapel hints', true);
  const third = await put(elsewhere, path);
  await world.idle();
  wires[0]?.mend('lapel hints');
  await carryOut(t, link, tenant, [third]);
});

t.test('a search looks for new commands, and once a minute at everything', { skip }, async (t) => {
  let lost = false;
  const { world, tenant, device, elsewhere } = await twoNodes(t, {
    loses: ({ kind }) => lost && (kind === 'wake' || kind === 'cancel'),
  });
  const { link, path } = device;
  async function pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 5) {
      world.clock.advance(5_000);
      await world.idle();
      link.send({ cmd: 'pingreq' });
      await link.next('pingresp');
    }
  }
  await pass(60);
  const first = await put(elsewhere, path);
  await carryOut(t, link, tenant, [first]);
  lost = true;
  const second = await put(elsewhere, path);
  await pass(5);
  await carryOut(t, link, tenant, [second]);
  const third = await put(tenant.api, path);
  await link.command();
  await pass(30);
  await elsewhere.delete(`${path}/transactions/${third}`);
  await pass(5);
  t.same(link.pending('publish'), [], 'the command is not new');
  await pass(60);
  t.match(await link.command(), { operation: 'cancel', transactionId: third });
  await tenant.event();
});

t.test('a node that could not send its hints, or is gone, makes the others search at once', { skip }, async (t) => {
  let lost = false;
  const { world, tenant, device, elsewhere, wires } = await twoNodes(t, {
    loses: ({ kind }) => lost && kind === 'wake',
  });
  const { link, path } = device;
  wires[1]?.cut('lapel hints', true);
  const first = await put(elsewhere, path);
  await world.idle();
  t.same(link.pending('publish'), [], 'the hint was dropped');
  wires[1]?.mend('lapel hints');
  await carryOut(t, link, tenant, [first]);
  lost = true;
  const second = await put(elsewhere, path);
  await world.idle();
  t.same(link.pending('publish'), [], 'nobody has told the first node');
  await world.nodes[1]?.[Symbol.asyncDispose]();
  await carryOut(t, link, tenant, [second]);
});

t.test(
  'a node that loses its lease closes the connections of its devices, which continue at other nodes',
  { skip },
  async (t) => {
    const { world, tenant, device, elsewhere, wires } = await twoNodes(t, { lease: QUICK });
    const { link, path } = device;
    const waiting = await put(elsewhere, path);
    await link.command();
    wires[0]?.cut('lapel lease', true);
    await link.closed;
    t.equal((await world.anonymousAdmin().get('/readyz')).status, 503);
    const refused = await world.open(device);
    t.equal((await refused.login()).returnCode, 3, 'nobody can log in there');
    const next = await world.connect({ ...device, node: 1 });
    await carryOut(t, next, tenant, [waiting]);
    await carryOut(t, next, tenant, [await put(tenant.api, path)]);
    t.match(
      (await tenant.api.get(`${path}/status`)).body,
      { connected: true },
      'requests are served there all the same',
    );
  },
);

t.test(
  'with half of all hints lost every command is carried out in order, and every result arrives',
  { skip },
  async (t) => {
    const random = createRandom(12);
    let losing = false; // before, time stands still, and no node searches
    const { world, tenant, device, elsewhere } = await twoNodes(t, { loses: () => losing && random() < 0.5 });
    losing = true;
    const time = setInterval(() => world.clock.advance(1_000), 10);
    t.teardown(() => clearInterval(time));
    for (let round = 0; round < 4; round += 1) {
      const ids: number[] = [];
      for (const api of [elsewhere, tenant.api, elsewhere]) ids.push(await put(api, device.path));
      await carryOut(t, device.link, tenant, ids);
    }
    t.equal(new Set(tenant.receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 13);
  },
);

t.test('a device that went while the lease of its node was late is not shown as connected', { skip }, async (t) => {
  const { world, device, elsewhere, wires } = await twoNodes(t, { lease: { renewMs: 100, validMs: 6_000 } });
  const { link, path } = device;
  const isReady = async (): Promise<boolean> => (await world.nodes[0]!.vitals.problems()).length === 0;
  async function search(): Promise<void> {
    world.clock.advance(4_000);
    await world.idle();
  }
  await search(); // the first one looks at everything
  wires[0]!.cut('lapel lease', true);
  await until(async () => !(await isReady()));
  await link.drop();
  wires[0]!.mend('lapel lease');
  await until(isReady);
  await search();
  t.match((await elsewhere.get(`${path}/status`)).body, { connected: false });
});
