import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import mqttPacket from 'mqtt-packet';
import t from 'tap';
import { connectBytes } from '../raw-device.ts';
import { until } from '../until.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';

const statusOf = (deviceId: string, messageId: number): Buffer =>
  mqttPacket.generate({
    cmd: 'publish',
    topic: `devices/${deviceId}/status`,
    payload: '{"lang":"en"}',
    qos: 1,
    messageId,
    dup: false,
    retain: false,
  });

/** The value of a metric. */
async function metric(world: World, name: string): Promise<number> {
  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

t.test('packets behind CONNECT are carried out after the CONNACK, in their order, however many', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  for (const clean of [true, false]) {
    const link = await world.open(device);
    const order: string[] = [];
    const publishes = Array.from({ length: 1000 }, (_, index) => statusOf(device.deviceId, index + 1));
    const pings = Array.from({ length: 100 }, () => mqttPacket.generate({ cmd: 'pingreq' }));
    link.socket.write(Buffer.concat([connectBytes(device, clean), ...publishes, ...pings]));
    t.equal((await link.next('connack')).returnCode, 0);
    for (let messageId = 1; messageId <= 1000; messageId += 1) {
      if ((await link.next('puback')).messageId !== messageId) order.push(String(messageId));
    }
    for (let count = 0; count < 100; count += 1) await link.next('pingresp');
    t.same(order, [], 'every PUBACK in the order of the publishes');
    await link.drop();
  }
});

t.test('a foreign topic cannot be subscribed to, not even right behind CONNECT', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const subscribe = mqttPacket.generate({
    cmd: 'subscribe',
    messageId: 7,
    subscriptions: [{ topic: '$session', qos: 1 }],
  } as Parameters<typeof mqttPacket.generate>[0]);
  for (let round = 0; round < 10; round += 1) {
    const link = await world.open(device);
    link.socket.write(Buffer.concat([connectBytes(device), subscribe]));
    t.same((await link.next('suback')).granted, [0x80]);
    await link.drop();
  }
});

t.test('a refused CONNECT gets its reason, even if more packets follow it', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.open(device);
  const many = Array.from({ length: 5000 }, (_, index) => statusOf(device.deviceId, index + 1));
  link.socket.write(Buffer.concat([connectBytes({ ...device, credential: 'wrong' }), ...many]));
  t.equal((await link.next('connack')).returnCode, 4);
  await link.closed;
});

t.test('packets before DISCONNECT are answered', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const publishes = Array.from({ length: 50 }, (_, index) => statusOf(device.deviceId, index + 1));
  link.socket.write(Buffer.concat([...publishes, mqttPacket.generate({ cmd: 'disconnect' })]));
  await link.closed;
  t.equal(link.pending('puback').length, 50);
});

t.test('connections that end while they log in leave nothing behind', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const topic = `devices/${device.deviceId}/commands`;
  const settled = await world.connect(device); // so that the persistent session has subscriptions to restore
  await settled.drop();
  for (const clean of [false, true]) {
    for (const reset of [true, false]) {
      const ghosts: number[] = [];
      for (let round = 0; round < 40; round += 1) {
        const link = await world.open(device);
        link.socket.write(connectBytes(device, clean));
        for (let turns = 0; turns < round; turns += 1) await turn();
        if (reset) (link.socket as Socket).resetAndDestroy();
        else link.socket.end();
        await link.closed;
        await until(async () => (await metric(world, 'lapel_mqtt_connections')) === 0);
        await world.idle();
        if (world.service.isConnected(device.deviceId)) ghosts.push(round);
      }
      t.same(ghosts, [], `clean ${clean}, reset ${reset}`);
      t.equal(await metric(world, 'lapel_devices_connected'), 0);
    }
  }
  const link = await world.open(device);
  t.equal((await link.login()).returnCode, 0, 'and the device itself is let in');
  t.same(await link.subscribe(topic), [1]);
});

t.test('a PUBACK without a message changes nothing, in a clean session too', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant, { clean: true });
  const ids = [];
  for (let count = 0; count < 2; count += 1) {
    ids.push(transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })));
  }
  const [, second] = [await device.link.command(), await device.link.command()];
  device.link.puback({ messageId: 60_000 });
  device.link.puback(second.packet);
  device.link.send({ cmd: 'pingreq' });
  await device.link.next('pingresp');
  await world.idle();
  const statuses = [];
  for (const id of ids) statuses.push((await tenant.api.get(`${device.path}/transactions/${id}`)).body.status);
  t.same(statuses, ['queued', 'delivered']);
});

t.test('PUBREC and PUBCOMP do not count as the PUBACK of a command', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  for (const cmd of ['pubrec', 'pubcomp']) {
    const link = await world.connect(device);
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const { packet } = await link.command();
    link.send({ cmd, messageId: packet.messageId });
    await link.closed;
  }
  const { body } = await tenant.api.get(`${device.path}/transactions?limit=2`);
  t.same(
    (body.transactions as { status: string }[]).map(({ status }) => status),
    ['queued', 'queued'],
  );
});
