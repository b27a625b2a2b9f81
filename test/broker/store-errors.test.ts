import t from 'tap';
import { until } from '../until.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('an ack that cannot be stored gets no PUBACK; sent again, it settles once', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  device.link.puback((await device.link.command()).packet);
  await world.idle();
  const mend = await (await world.raw()).breakWrites('UPDATE ON transactions');
  device.link.publish('acks', { transactionId, status: 'succeeded' });
  await device.link.closed;
  t.same(device.link.pending('puback'), []);
  await mend();
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, { completedAt: null });
  const link = await world.connect(device);
  t.match(await link.command(), { transactionId, attempt: 2 });
  await link.ack({ transactionId, status: 'succeeded' });
  t.match((await tenant.event()).data.transaction, { transactionId, status: 'succeeded' });
  await world.idle();
  t.equal(tenant.receiver.requests.length, 2, 'activation and one result');
});

t.test('a result whose event cannot be stored is not stored either', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.delete(device.path));
  await device.link.command();
  const mend = await (await world.raw()).breakWrites('INSERT ON deliveries');
  device.link.publish('acks', { transactionId, status: 'succeeded' });
  await device.link.closed;
  await mend();
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, { completedAt: null });
  t.match((await tenant.api.get(device.path)).body, { status: 'activated' }, 'nor is what follows from it');
});

t.test(
  'a submission that cannot be stored is answered 500, and its place on the connection is free again',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const mend = await (await world.raw()).breakWrites('INSERT ON transactions');
    for (let i = 0; i < 20; i += 1) {
      const answer = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
      t.match(answer, { status: 500, body: { message: 'internal error.' } });
    }
    await mend();
    const ids = [];
    for (let i = 0; i < 16; i += 1) {
      ids.push(transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })));
    }
    for (const transactionId of ids) t.equal((await device.link.command()).transactionId, transactionId);
  },
);

t.test('a login whose session cannot be stored is refused with 3, and succeeds later', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const mend = await (await world.raw()).breakWrites('INSERT ON sessions');
  const refused = await world.open(device);
  t.equal((await refused.login()).returnCode, 3);
  await refused.closed;
  await mend();
  await world.connect(device);
});

t.test('a SUBSCRIBE that cannot be stored closes only its own connection', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const other = await world.activatedDevice(tenant);
  const device = await world.registerDevice();
  const link = await world.open(device);
  await link.login();
  const mend = await (await world.raw()).breakWrites('INSERT ON subscriptions');
  await t.rejects(link.subscribe(`devices/${device.deviceId}/commands`), /ended/);
  await mend();
  t.ok(world.service.isConnected(other.deviceId));
  await world.connect({ ...device, clean: true });
});

t.test('a will that cannot be stored or deleted ends its own connection only', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const other = await world.activatedDevice(tenant);
  const device = await world.registerDevice();
  const topic = `devices/${device.deviceId}/status`;
  const connect = { will: { topic, payload: Buffer.from('{}'), qos: 1, retain: false } };
  const mendInsert = await (await world.raw()).breakWrites('INSERT ON wills');
  const refused = await world.open({ ...device, connect });
  await t.rejects(refused.login(), /ended/);
  await mendInsert();
  const link = await world.connect({ ...device, connect });
  const mendDelete = await (await world.raw()).breakWrites('DELETE ON wills');
  await link.drop();
  await until(() => !world.service.isConnected(device.deviceId));
  await world.idle();
  await mendDelete();
  t.ok(world.service.isConnected(other.deviceId));
  await world.connect(device);
});
