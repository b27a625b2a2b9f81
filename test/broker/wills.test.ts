import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const willOf = (topic: string, body: unknown, retain = false) => ({
  connect: { will: { topic, payload: Buffer.from(JSON.stringify(body)), qos: 1, retain } },
});

t.test('a will outside of the device’s own topics is refused at CONNECT with 5', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const other = await world.registerDevice();
  for (const topic of [
    `devices/${other.deviceId}/acks`,
    `devices/${device.deviceId}/commands`,
    '#',
    'devices/+/acks',
    '$SYS/x',
  ]) {
    const link = await world.open({ ...device, ...willOf(topic, {}) });
    t.equal((await link.login()).returnCode, 5, topic);
    await link.closed;
  }
});

t.test('a will is published when the connection breaks, and not after DISCONNECT', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const put = async () => transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const [kept, settled] = [await put(), await put()];
  const topic = `devices/${device.deviceId}/acks`;

  const polite = await world.connect({ ...device, ...willOf(topic, { transactionId: kept, status: 'failed' }) });
  polite.send({ cmd: 'disconnect' });
  await polite.closed;
  const broken = await world.connect({
    ...device,
    ...willOf(topic, { transactionId: settled, status: 'failed' }, true),
  });
  await broken.drop();
  t.match((await tenant.event()).data.transaction, { transactionId: settled, status: 'failed' });
  await world.idle();
  t.match((await tenant.api.get(`${device.path}/transactions/${kept}`)).body, { completedAt: null });
});

t.test('a stop of the service publishes no wills', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const will = willOf(`devices/${device.deviceId}/acks`, { transactionId, status: 'failed' });
  await world.connect({ ...device, ...will });
  await world.restart();
  await tenant.renew();
  t.match((await tenant.api.get(`${device.path}/transactions/${transactionId}`)).body, { completedAt: null });
});
