import t from 'tap';
import { deviceIdOf, startWorld } from '../world.ts';

t.test('a wrong credential, a foreign user name and an unknown device are refused with 4', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const other = await world.registerDevice();
  const attempts = [
    { deviceId: device.deviceId, credential: other.credential },
    { deviceId: device.deviceId },
    { deviceId: deviceIdOf(9999), credential: device.credential },
    { ...device, connect: { username: other.deviceId } },
  ];
  for (const attempt of attempts) {
    const link = await world.open(attempt);
    t.equal((await link.login()).returnCode, 4);
    await link.closed;
  }
  t.notOk(world.service.isConnected(device.deviceId));
});

t.test('a client identifier that is no deviceId is refused with 2', async (t) => {
  const world = await startWorld(t);
  for (const [clientId, clean] of [
    ['not-a-device', true],
    ['', true],
    ['490154203237519', true],
  ] as const) {
    const link = await world.open({ deviceId: 'x', credential: 'y', clean, connect: { clientId } });
    t.equal((await link.login()).returnCode, 2, JSON.stringify(clientId));
    await link.closed;
  }
});

t.test('a protocol version that is not spoken is refused with 1, and MQTT 5 with its own code', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_5: 'false' } });
  await world.createTenant();
  const device = await world.registerDevice();
  const older = await world.open({ ...device, level: 4 });
  older.socket.write(Buffer.from('100d00044d5154540202000a000170', 'hex'));
  t.equal((await older.next('connack')).returnCode, 1);
  const newer = await world.open({ ...device, level: 5 });
  t.match(await newer.login(), { reasonCode: 0x84, sessionPresent: false });
  await newer.closed;
});

t.test('a device subscribes to its own three topics and to nothing else', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const other = await world.registerDevice();
  const link = await world.connect(device);
  const refused = [
    '#',
    '+/+/+',
    '$SYS/#',
    '$session',
    `devices/${device.deviceId}/#`,
    `devices/${device.deviceId}/+`,
    `devices/${device.deviceId}/acks`,
    `devices/${device.deviceId}/commands/x`,
    `devices//${device.deviceId}/commands`,
    `devices/${other.deviceId}/commands`,
    'devices/+/commands',
  ];
  t.same(
    await link.subscribe(...refused),
    refused.map(() => 0x80),
  );
});

t.test('the refused part of a mixed SUBSCRIBE has no effect, now or at the next connection', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const victim = await world.activatedDevice(tenant);
  const device = await world.registerDevice();
  const link = await world.open(device);
  await link.login();
  const foreign = `devices/${victim.deviceId}/commands`;
  t.same(await link.subscribe(`devices/${device.deviceId}/commands`, foreign, '#'), [1, 0x80, 0x80]);
  await link.drop();
  const again = await world.open(device);
  t.equal((await again.login()).sessionPresent, true);
  await victim.link.drop();
  await tenant.api.delete(victim.path);
  const back = await world.connect(victim);
  t.equal((await back.command()).operation, 'deactivate');
  await world.idle();
  t.same(again.pending('publish'), []);
});

t.test('an ack for a transaction of another device is answered on the errors topic', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const victim = await world.activatedDevice(tenant);
  const { transactionId } = (await tenant.api.delete(victim.path)).body;
  const link = await world.connect(await world.registerDevice());
  link.publish('acks', { transactionId, status: 'succeeded' });
  const fault = JSON.parse((await link.next('publish')).payload.toString());
  t.match(fault, { reason: 'transaction not found.', details: [] });
  await link.next('puback');
  t.match((await tenant.api.get(`${victim.path}/transactions/${transactionId}`)).body, { completedAt: null });
});

t.test('a new credential stops the old one at once and closes its connection', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const answer = await world.admin().post(`/admin/v1/devices/${device.deviceId}/credential`, { json: {} });
  await link.closed;
  const old = await world.open(device);
  t.equal((await old.login()).returnCode, 4);
  await world.connect({ ...device, credential: answer.body.credential });
});

t.test('a removed device is cut off and its session is gone', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  t.equal((await world.admin().delete(`/admin/v1/devices/${device.deviceId}`)).status, 204);
  await link.closed;
  const again = await world.open(device);
  t.equal((await again.login()).returnCode, 4);
  await world.admin().post('/admin/v1/developers/dev/devices', { json: device });
  const back = await world.open(device);
  t.match(await back.login(), { returnCode: 0, sessionPresent: false });
});
