import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { startWorld, type Tenant, transactionIdOf, WIFI } from '../world.ts';

t.test('the cancel of a transaction', async (t) => {
  const world = await startWorld(t);
  let tenants = 0;

  /** A separate tenant with an activated device, so that its receiver gets the webhooks of one test only. */
  async function setUp() {
    tenants += 1;
    const tenant = await world.createTenant(`dev${tenants}`);
    const device = await world.activatedDevice(tenant);
    const put = async () => transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    const cancel = (id: number) => tenant.api.delete(`${device.path}/transactions/${id}`);
    const read = async (id: number) => (await tenant.api.get(`${device.path}/transactions/${id}`)).body;
    return { tenant, ...device, put, cancel, read };
  }

  /** Takes the next command, sends its PUBACK, and waits until that is stored. */
  async function take(link: RawDevice) {
    const command = await link.command();
    link.puback(command.packet);
    link.publish('status', {});
    await link.next('puback'); // so the service has read the PUBACK before it
    await world.idle();
    return command;
  }

  /** All events of one transaction that the tenant has received so far. */
  async function eventsOf(tenant: Tenant, transactionId: number): Promise<string[]> {
    await world.idle();
    return tenant.receiver.requests
      .map(({ body }) => JSON.parse(body.toString()))
      .filter(({ data }) => data.transaction.transactionId === transactionId)
      .map(({ type }) => type);
  }

  t.test('while the device is offline: it is never delivered, and the developer gets one event', async (t) => {
    const { tenant, link, put, cancel, read, ...device } = await setUp();
    await link.drop();
    const id = await put();
    t.match(await cancel(id), { status: 204, body: undefined });
    const at = '2026-11-20T18:30:00.123456';
    t.match(await read(id), { status: 'cancelled', attempts: 0, completedAt: at, updatedAt: at, deliveredAt: null });
    const { type, data } = await tenant.event();
    t.equal(type, 'transaction.cancelled');
    t.match(data.transaction, { transactionId: id, status: 'cancelled', attempts: 0 });
    const after = await put();
    const again = await world.connect(device);
    t.match(await take(again), { transactionId: after, operation: 'setWifi', attempt: 1 }, 'the next one comes first');
    t.equal(again.pending('publish').length, 0);
    t.same(await eventsOf(tenant, id), ['transaction.cancelled']);
  });

  t.test('while it waits behind 16 unacknowledged commands: it is never delivered', async (t) => {
    const { link, put, cancel, read } = await setUp();
    const ids = [];
    for (let index = 0; index < 18; index += 1) ids.push(await put());
    const held = ids[16]!;
    t.match(await read(held), { status: 'queued', attempts: 0 });
    await cancel(held);
    for (const id of ids.filter((one) => one !== held)) t.equal((await take(link)).transactionId, id);
    t.equal(link.pending('publish').length, 0);
    t.match(await read(held), { status: 'cancelled', attempts: 0 });
  });

  t.test('after delivery: the device gets the cancel until its PUBACK, and then never again', async (t) => {
    const { tenant, link, put, cancel, read, ...device } = await setUp();
    const id = await put();
    const { issuedAt } = await take(link);
    t.match(await read(id), { status: 'delivered', attempts: 1 });
    world.clock.advance(1500);
    t.match(await cancel(id), { status: 204 });
    const command = await take(link);
    t.match(command, { transactionId: id, operation: 'cancel', parameters: {}, attempt: 2 });
    t.equal(command.issuedAt, issuedAt, 'it names the command by both of its names');
    t.match(await read(id), { status: 'cancelled', attempts: 2, deliveredAt: /^2026/, result: null, error: null });
    await link.drop();
    const again = await world.connect(device);
    const after = await put();
    t.match(await take(again), { transactionId: after, operation: 'setWifi' });
    t.same(await eventsOf(tenant, id), ['transaction.cancelled']);
  });

  t.test('with its command sent but not acknowledged: the device gets the cancel, too', async (t) => {
    const { link, put, cancel, read } = await setUp();
    const id = await put();
    const command = await link.command();
    t.match(await cancel(id), { status: 204 });
    t.match(await link.command(), { transactionId: id, operation: 'cancel' });
    link.puback(command.packet);
    t.match(await read(id), { status: 'cancelled', deliveredAt: null });
  });

  t.test(
    'while 16 commands are unacknowledged the cancel waits, and then goes before the waiting commands',
    async (t) => {
      const { link, put, cancel, read } = await setUp();
      const ids = [];
      for (let index = 0; index < 17; index += 1) ids.push(await put());
      const written = [];
      for (let index = 0; index < 16; index += 1) written.push(await link.command());
      await Promise.all([cancel(ids[3]!), cancel(ids[2]!)]);
      await world.idle();
      t.equal(link.pending('publish').length, 0, 'the device has as much as it may have');
      t.match(await read(ids[2]!), { status: 'cancelled', attempts: 1 });
      ids.push(await put());
      link.puback(written[0]!.packet);
      const first = await link.command();
      t.match(first, { transactionId: ids[2], operation: 'cancel', attempt: 2 });
      await world.idle();
      t.equal(link.pending('publish').length, 0, 'one place, one cancel');
      for (const { packet } of [...written.slice(1), first]) link.puback(packet);
      const rest = [await take(link), await take(link), await take(link)];
      t.same(
        rest.map(({ transactionId, operation }) => [transactionId, operation]),
        [
          [ids[3], 'cancel'],
          [ids[16], 'setWifi'],
          [ids[17], 'setWifi'],
        ],
      );
      t.equal(link.pending('publish').length, 0, 'nothing comes twice');
    },
  );

  t.test('of many at once, by a deactivation: each once, in order, 16 at a time', async (t) => {
    const { tenant, link, put, ...device } = await setUp();
    const ids: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      ids.push(await put());
      await take(link);
    }
    await tenant.api.delete(device.path);
    const { transactionId } = await take(link);
    await link.ack({ transactionId, status: 'succeeded' });
    await world.idle();
    const first = [];
    for (let index = 0; index < 16; index += 1) first.push(await link.command());
    await world.idle();
    t.equal(link.pending('publish').length, 0);
    for (const { packet } of first) link.puback(packet);
    const all = [...first];
    for (let index = 0; index < 4; index += 1) all.push(await take(link));
    t.same(
      all.map((command) => [command.transactionId, command.operation, command.attempt]),
      ids.map((id) => [id, 'cancel', 2]),
    );
    t.equal(link.pending('publish').length, 0);
  });

  t.test('a cancel that was not acknowledged comes again at the next connection, with a higher attempt', async (t) => {
    const { link, put, cancel, ...device } = await setUp();
    const id = await put();
    await take(link);
    await cancel(id);
    t.match(await link.command(), { operation: 'cancel', attempt: 2 });
    await link.drop();
    const second = await world.connect(device);
    t.match(await second.command(), { transactionId: id, operation: 'cancel', parameters: {}, attempt: 3 });
    await second.drop();
    const third = await world.connect(device);
    t.match(await take(third), { transactionId: id, operation: 'cancel', attempt: 4 });
    await third.drop();
    const after = await put();
    t.match(await take(await world.connect(device)), { transactionId: after }, 'acknowledged: no more');
  });

  t.test(
    'of a delivered command while the device is offline: the device gets the cancel, and not the command',
    async (t) => {
      const { tenant, link, put, cancel, read, ...device } = await setUp();
      const id = await put();
      await take(link);
      await link.drop();
      t.match(await cancel(id), { status: 204 });
      t.match(await read(id), { status: 'cancelled', attempts: 1 });
      const after = await put();
      const again = await world.connect(device);
      t.match(await take(again), { transactionId: id, operation: 'cancel', parameters: {}, attempt: 2 });
      t.match(await take(again), { transactionId: after, operation: 'setWifi', attempt: 1 });
      t.equal(again.pending('publish').length, 0);
      t.same(await eventsOf(tenant, id), ['transaction.cancelled']);
    },
  );

  t.test('a later answer is kept beside the transaction, which it does not change, and makes no event', async (t) => {
    const { tenant, link, put, cancel, read } = await setUp();
    const id = await put();
    await take(link);
    await link.ack({ transactionId: id, status: 'processing', progress: 30 });
    await cancel(id);
    await take(link);
    const before = await read(id);
    t.match(before, { status: 'cancelled', progress: 30 });
    world.clock.advance(1000);
    for (const ack of [
      { status: 'processing', progress: 60 },
      { status: 'succeeded', result: { joined: 'office' } },
      { status: 'failed', error: { code: 'INTERNAL', message: 'no' } },
    ]) {
      await link.ack({ transactionId: id, ...ack });
    }
    await world.idle();
    const { late, ...after } = await read(id);
    t.same(after, before);
    t.match(late, { status: 'succeeded', result: { joined: 'office' } }, 'the first result that came later');
    t.equal(link.pending('publish').length, 0, 'nothing on the errors topic');
    t.same(await eventsOf(tenant, id), ['transaction.cancelled']);
  });

  t.test('of a finished transaction is answered 409, whatever its result was, and changes nothing', async (t) => {
    const { tenant, link, put, cancel, read } = await setUp();
    const message = 'transaction is already finished.';
    for (const status of ['succeeded', 'failed'] as const) {
      const id = await put();
      await take(link);
      await link.ack({ transactionId: id, status });
      t.match(await cancel(id), { status: 409, body: { message } }, status);
      t.match(await read(id), { status });
      t.same(await eventsOf(tenant, id), [`transaction.${status}`]);
    }
    const id = await put();
    await cancel(id);
    t.match(await cancel(id), { status: 409, body: { message } }, 'cancelled');
  });

  t.test('asked for ten times at once is done once', async (t) => {
    const { tenant, link, put, cancel } = await setUp();
    const id = await put();
    await take(link);
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(id)));
    t.same(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [204, ...Array<number>(9).fill(409)],
    );
    t.same(await eventsOf(tenant, id), ['transaction.cancelled']);
    t.match(await take(link), { operation: 'cancel', transactionId: id });
    t.equal(link.pending('publish').length, 0);
  });

  t.test('at the same time as the device’s answer: one of them wins, and the only event says which', async (t) => {
    const { tenant, link, put, cancel, read } = await setUp();
    for (let round = 0; round < 10; round += 1) {
      const id = await put();
      await take(link);
      const [answer] = await Promise.all([cancel(id), link.ack({ transactionId: id, status: 'succeeded' })]);
      const { status } = await read(id);
      t.equal(answer.status, status === 'cancelled' ? 204 : 409);
      t.same(await eventsOf(tenant, id), [`transaction.${status}`]);
      if (status === 'cancelled') t.match(await take(link), { transactionId: id, operation: 'cancel' });
    }
  });

  t.test('of another application or another device is not found, and nothing happens', async (t) => {
    const [one, two] = [await setUp(), await setUp()];
    const neighbour = await world.registerDevice(one.tenant.developerId);
    const id = await one.put();
    const unknown = { status: 404, body: { reason: 'transaction not found.', details: [] } };
    t.match(await two.cancel(id), unknown, 'another application');
    t.match(
      await one.tenant.api.delete(`${one.tenant.path}/devices/${neighbour.deviceId}/transactions/${id}`),
      unknown,
    );
    t.match(await one.cancel(id + 1000), unknown, 'no transaction at all');
    t.match(await one.read(id), { status: 'queued' });
  });

  t.test('of an activation in progress is sent to the device, and a late success activates nothing', async (t) => {
    const { tenant } = await setUp();
    const device = await world.registerDevice(tenant.developerId);
    const link = await world.connect(device);
    const path = `${tenant.path}/devices/${device.deviceId}`;
    const id = transactionIdOf(await tenant.api.post(path, { json: { clientId: 'mine' } }));
    await take(link);
    t.match(await tenant.api.delete(`${path}/transactions/${id}`), { status: 204 });
    t.match(await take(link), { transactionId: id, operation: 'cancel' });
    await link.ack({ transactionId: id, status: 'succeeded' });
    t.match((await tenant.api.get(path)).body, { status: 'deactivated' });
    t.match(await tenant.api.post(path, { json: { clientId: 'mine' } }), { status: 201 });
  });

  t.test('is durable: after a restart the device gets the cancel, and the developer no second event', async (t) => {
    const { tenant, link, put, cancel, read: _, ...device } = await setUp();
    const id = await put();
    await take(link);
    await link.drop();
    await cancel(id);
    t.equal((await tenant.event()).type, 'transaction.cancelled');
    await world.restart();
    const again = await world.connect(device);
    t.match(await take(again), { transactionId: id, operation: 'cancel', attempt: 2 });
    t.same(await eventsOf(tenant, id), ['transaction.cancelled']);
  });
});
