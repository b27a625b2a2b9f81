import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('a REST call reaches an online device and comes back as a signed webhook', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link, path } = await world.activatedDevice(tenant);

  const answer = await tenant.api.put(`${path}/settings/wifi`, { json: WIFI });
  t.equal(answer.status, 201);
  const transactionId = transactionIdOf(answer);
  t.equal(answer.headers['location'], `${world.service.addresses.http}${path}/transactions/${transactionId}`);

  const command = await link.command();
  t.match(command, { transactionId, operation: 'setWifi', parameters: { networks: WIFI }, attempt: 1 });
  t.equal(command.issuedAt, '2026-11-20T09:30:00.123456Z');
  link.puback(command.packet);
  await link.ack({ transactionId, status: 'succeeded', result: { joined: 'office' } });

  const event = await tenant.event();
  t.equal(event.type, 'transaction.succeeded');
  t.match(event.data, {
    applicationId: tenant.applicationId,
    deviceId,
    transaction: { transactionId, status: 'succeeded' },
  });
  t.ok(event.headers['webhook-signature']);
  const record = await tenant.api.get(`${path}/transactions/${transactionId}`);
  t.match(record.body, { status: 'succeeded', attempts: 1, result: { joined: 'office' }, error: null });
});

t.test('a command for an offline device is delivered when the device connects', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  const first = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const second = transactionIdOf(
    await tenant.api.put(`${device.path}/settings/apn`, { json: [{ name: 'a', apn: 'b' }] }),
  );
  await world.idle();
  t.match((await tenant.api.get(`${device.path}/transactions/${first}`)).body, { status: 'queued', attempts: 0 });

  const link = await world.connect(device);
  t.match(await link.command(), { transactionId: first, operation: 'setWifi', attempt: 1 });
  t.match(await link.command(), { transactionId: second, operation: 'setApn', attempt: 1 });
});

t.test('commands queued before a restart are delivered after it, and the session still exists', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  await world.restart();

  const link = await world.open(device);
  t.equal((await link.login()).sessionPresent, true);
  t.match(await link.command(), { transactionId, attempt: 1 });
  await link.ack({ transactionId, status: 'succeeded' });
  t.match((await tenant.event()).data, { transaction: { transactionId, status: 'succeeded' } });
});

t.test('on every connection the device gets its unfinished commands again with a higher attempt', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const first = await device.link.command();
  t.equal(first.attempt, 1);
  device.link.puback(first.packet);
  await device.link.ack({ transactionId, status: 'processing', progress: 10 });
  await device.link.drop();
  for (const attempt of [2, 3]) {
    const link = await world.connect(device);
    t.match(await link.command(), { transactionId, attempt });
    await link.drop();
  }
  await world.restart();
  await tenant.renew();
  const link = await world.connect(device);
  t.match(await link.command(), { transactionId, attempt: 4 }, 'also over a restart of the service');
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, {
    status: 'processing',
    progress: 10,
    attempts: 4,
  });
});

t.test('a command that is never answered delays no later one', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  for (let i = 0; i < 40; i += 1) {
    const transactionId = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
    const command = await link.command();
    t.equal(command.transactionId, transactionId);
    link.puback(command.packet); // and no ack, as an old firmware does
  }
});

t.test(
  'a bounded number of commands is in flight without PUBACK; a PUBACK releases the next one, in order',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    await device.link.drop();
    const ids: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      ids.push(transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })));
    }
    const link = await world.connect(device);
    const got = [];
    for (let i = 0; i < 16; i += 1) got.push(await link.command());
    ids.push(transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })));
    await world.idle();
    t.equal(link.pending('publish').length, 0, 'sixteen and no more');
    for (let i = 0; got.length < ids.length; i += 1) {
      link.puback(got[i]!.packet);
      got.push(await link.command());
    }
    t.same(
      got.map(({ transactionId }) => transactionId),
      ids,
    );
  },
);

t.test('a device that answers its commands and never sends PUBACK gets all of them on one connection', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const ids: number[] = [];
  for (let i = 0; i < 40; i += 1) {
    ids.push(transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })));
  }
  for (const transactionId of ids) {
    const command = await device.link.command();
    t.equal(command.transactionId, transactionId);
    await device.link.ack({ transactionId, status: 'succeeded' });
    if (transactionId === ids[10]) device.link.puback(command.packet); // a late PUBACK frees no second place
  }
  await world.idle();
  for (let i = 0; i < 20; i += 1) await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  await world.idle();
  device.link.send({ cmd: 'pingreq' });
  await device.link.next('pingresp');
  t.equal(device.link.pending('publish').length, 16, 'and the window is what it was');
});

t.test('a PUBACK makes a transaction delivered', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const command = await device.link.command();
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, {
    status: 'queued',
    deliveredAt: null,
  });
  device.link.puback(command.packet);
  device.link.publish('status', {});
  await device.link.next('puback'); // so the service has read the PUBACK before it
  await world.idle();
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, {
    status: 'delivered',
    deliveredAt: '2026-11-20T18:30:00.123456',
  });
});

t.test('an answer without a PUBACK shows that the command was delivered', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  for (const first of ['processing', 'succeeded', 'failed'] as const) {
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const { transactionId } = await device.link.command();
    const read = async () => (await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body;
    t.equal((await read()).deliveredAt, null);
    world.clock.advance(1_000);
    const error = { code: 'BUSY', message: 'x' };
    await device.link.ack({ transactionId, status: first, ...(first === 'failed' && { error }) });
    const answered = await read();
    t.match(answered, { status: first, deliveredAt: answered.updatedAt });
    world.clock.advance(1_000);
    await device.link.ack({ transactionId, status: 'succeeded' });
    t.equal((await read()).deliveredAt, answered.deliveredAt, 'the first answer counts');
  }
});

t.test('a command that comes again keeps the time of its first delivery', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const ends = {
    'is answered': (transactionId: number) => device.link.ack({ transactionId, status: 'succeeded' }),
    'is in work': (transactionId: number) => device.link.ack({ transactionId, status: 'processing' }),
    'is cancelled': (transactionId: number) => tenant.api.delete(`${device.path}/transactions/${transactionId}`),
  };
  for (const [name, end] of Object.entries(ends)) {
    const answer = await tenant.api.put(`${device.path}/settings/wifi?answerWithin=600`, { json: WIFI });
    const transactionId = transactionIdOf(answer);
    const read = async () => (await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body;
    const first = await device.link.command();
    device.link.puback(first.packet);
    device.link.publish('status', {});
    await device.link.next('puback');
    await world.idle();
    const { deliveredAt, answerBy } = await read();
    t.match(deliveredAt, /^2026/);
    await device.link.drop();
    world.clock.advance(60_000);
    device.link = await world.connect(device);
    const again = await device.link.command();
    t.match(again, { transactionId, attempt: 2 });
    device.link.puback(again.packet); // the end follows at once, so it finds the PUBACK in memory
    await end(transactionId);
    t.match(await read(), { deliveredAt, answerBy }, name);
    if (name === 'is cancelled') device.link.puback((await device.link.command()).packet);
    else if (name === 'is in work') await device.link.ack({ transactionId, status: 'succeeded' });
  }
});

t.test('a clean session gets commands, answers them, and is forgotten at its end', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant, { clean: true });
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const command = await device.link.command();
  device.link.puback(command.packet);
  await device.link.ack({ transactionId, status: 'succeeded' });
  t.match((await tenant.event()).data, { transaction: { transactionId, status: 'succeeded' } });
  await device.link.drop();
  const again = await world.open({ ...device, clean: false });
  t.equal((await again.login()).sessionPresent, false);
});

t.test('acks of one device are settled and acknowledged in the order sent', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const ids: number[] = [];
  for (let i = 0; i < 5; i += 1)
    ids.push(transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI })));
  link.socket.cork(); // both packets in one TCP segment
  const sent = ids.toReversed().map((transactionId) => link.publish('acks', { transactionId, status: 'succeeded' }));
  link.socket.uncork();
  const pubacks: (number | undefined)[] = [];
  for (const _ of ids) pubacks.push((await link.next('puback')).messageId);
  t.same(pubacks, sent);
  const results = [];
  for (const _ of ids) results.push((await tenant.event()).data.transaction['transactionId']);
  t.same(new Set(results), new Set(ids));
});
