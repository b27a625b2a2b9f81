import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';

/** Makes writes of one kind fail in the service's own database, as a full disk would; the function returned mends it. */
function breakWrites(world: World, what: string): () => void {
  const connection = new Sqlite(join(world.dataDir, 'lapel.db'), { timeout: 5000 });
  connection.exec(`CREATE TRIGGER broken BEFORE ${what} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
  return () => {
    connection.exec('DROP TRIGGER broken');
    connection.close();
  };
}

t.test('an ack that cannot be stored gets no PUBACK; sent again, it settles once', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  device.link.puback((await device.link.command()).packet);
  await world.idle();
  const mend = breakWrites(world, 'UPDATE ON transactions');
  device.link.publish('acks', { transactionId, status: 'succeeded' });
  await device.link.closed;
  t.same(device.link.pending('puback'), []);
  mend();
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
  const mend = breakWrites(world, 'INSERT ON deliveries');
  device.link.publish('acks', { transactionId, status: 'succeeded' });
  await device.link.closed;
  mend();
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, { completedAt: null });
  t.match((await tenant.api.get(device.path)).body, { status: 'activated' }, 'nor is what follows from it');
});

t.test(
  'a submission that cannot be stored is answered 500, and its place on the connection is free again',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const mend = breakWrites(world, 'INSERT ON transactions');
    for (let i = 0; i < 20; i += 1) {
      const answer = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
      t.match(answer, { status: 500, body: { message: 'internal error.' } });
    }
    mend();
    const ids = [];
    for (let i = 0; i < 16; i += 1) {
      ids.push(transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })));
    }
    for (const transactionId of ids) t.equal((await device.link.command()).transactionId, transactionId);
  },
);

t.test('a login whose session cannot be stored is refused with 3 and works later', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const mend = breakWrites(world, 'INSERT ON sessions');
  const refused = await world.open(device);
  t.equal((await refused.login()).returnCode, 3);
  await refused.closed;
  mend();
  await world.connect(device);
});

t.test('a SUBSCRIBE that cannot be stored closes the connection, and nobody else’s', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const other = await world.activatedDevice(tenant);
  const device = await world.registerDevice();
  const link = await world.open(device);
  await link.login();
  const mend = breakWrites(world, 'INSERT ON subscriptions');
  await t.rejects(link.subscribe(`devices/${device.deviceId}/commands`), /ended/);
  mend();
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
  const mendInsert = breakWrites(world, 'INSERT ON wills');
  const refused = await world.open({ ...device, connect });
  await t.rejects(refused.login(), /ended/);
  mendInsert();
  const link = await world.connect({ ...device, connect });
  const mendDelete = breakWrites(world, 'DELETE ON wills');
  await link.drop();
  while (world.service.isConnected(device.deviceId)) await new Promise((resolve) => setImmediate(resolve));
  await world.idle();
  mendDelete();
  t.ok(world.service.isConnected(other.deviceId));
  await world.connect(device);
});
