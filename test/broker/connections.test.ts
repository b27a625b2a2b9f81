import { connect } from 'node:net';
import mqttPacket from 'mqtt-packet';
import t from 'tap';
import { checkMessage } from '../contract/checked-messages.ts';
import type { RawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { startWorld, WIFI } from '../world.ts';

const byText = (one: string, other: string): number => (one < other ? -1 : 1);

/** The header of a packet that states a length. */
function header(cmd: number, length: number): Buffer {
  const bytes = [cmd];
  let rest = length;
  do {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Buffer.from(bytes);
}

t.test('a CONNECT that claims more than 4 KiB is cut off before a byte of it is read', async (t) => {
  const world = await startWorld(t);
  const link = await world.open({ deviceId: 'x' });
  link.socket.write(header(0x10, 256 * 1024 * 1024 - 1));
  await link.closed;
});

t.test('a message above 256 KiB is acknowledged and told with its id; above 4 MiB the connection ends', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link, path } = await world.activatedDevice(tenant, { level: 4 });
  link.publish('status', `{"lang":"${'x'.repeat(200 * 1024)}"}`);
  link.puback(await link.next('publish')); // the language is too long
  await link.next('puback');
  const { transactionId } = (await tenant.api.put(`${path}/settings/wifi`, { json: WIFI })).body;
  link.puback((await link.command()).packet);
  for (const size of [256 * 1024, 1024 * 1024, 4 * 1024 * 1024 - 200]) {
    const ack = `{"transactionId":${transactionId},"status":"succeeded","result":{"log":"${'x'.repeat(size)}"}}`;
    link.publish('acks', ack);
    const packet = await link.next('publish');
    const told = checkMessage(packet.topic, packet.payload);
    t.match(told, { reason: /the message of \d+ bytes is larger than 256 KiB/, transactionId, details: [] });
    link.puback(packet);
    await link.next('puback');
  }
  // The length of a packet is that of its payload, of its topic with two bytes before it, and of its number.
  const longest = 256 * 1024 - 2 - Buffer.byteLength(`devices/${deviceId}/status`) - 2;
  link.publish('status', '{"lang":"en"}'.padEnd(longest));
  await link.next('puback');
  t.match((await tenant.api.get(`${path}/status`)).body, { lang: 'en' }, 'one of exactly 256 KiB is read');
  link.publish('status', '{"lang":"ja"}');
  await link.next('puback');
  t.match((await tenant.api.get(`${path}/status`)).body, { lang: 'ja' }, 'the next message is read');
  const topic = `devices/${deviceId}/events`;
  const payload = `{"eventId":"e-2","text":"${'x'.repeat(300 * 1024)}"}`;
  link.send({ cmd: 'publish', topic, payload, qos: 2, messageId: 900, dup: false, retain: false });
  t.match(JSON.parse((await link.next('publish')).payload.toString()), { topic, eventId: 'e-2' }, 'at QoS 2 as well');
  await link.next('pubrec');
  link.send({ cmd: 'pubrel', messageId: 900 });
  await link.next('pubcomp');
  link.socket.write(header(0x32, 4 * 1024 * 1024 + 1));
  await link.closed;
  t.notOk(world.service.isConnected(deviceId));
  await world.idle();
  world.clock.advance(15_000_000); // entries of the connection log are stored together
  await world.idle();
  const { body } = await world.admin().get(`/admin/v1/devices/${deviceId}/story`);
  t.match(JSON.stringify(body), /packet of 4194305 bytes is larger than 4194304/, 'the story says so');
});

t.test('a long message that arrives in small pieces, with others around it, is passed in its place', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, deviceId } = await world.activatedDevice(tenant, { level: 4 });
  const publish = (messageId: number, payload: string): Buffer =>
    mqttPacket.generate({
      cmd: 'publish',
      topic: `devices/${deviceId}/events`,
      payload,
      qos: 1,
      messageId,
      dup: false,
      retain: false,
    });
  const event = (id: string, text: string): string =>
    JSON.stringify({ eventId: id, type: 'custom.a', occurredAt: '2026-11-20T09:30:00Z', data: { text } });
  const bytes = Buffer.concat([
    publish(501, event('a', 'x')),
    publish(502, event('b', 'x'.repeat(300 * 1024))),
    publish(503, event('c', 'y')),
    publish(504, event('d', 'x'.repeat(500 * 1024))),
    publish(505, event('e', 'z')),
  ]);
  const size = 7001;
  for (let at = 0; at < bytes.length; at += size) link.socket.write(bytes.subarray(at, at + size));
  for (const messageId of [501, 502, 503, 504, 505]) t.equal((await link.next('puback')).messageId, messageId);
  for (const eventId of ['b', 'd']) {
    const packet = await link.next('publish');
    t.match(JSON.parse(packet.payload.toString()), { eventId });
    link.puback(packet);
  }
  const events = [await tenant.event(), await tenant.event(), await tenant.event()];
  t.same(events.map(({ data }) => String((data as { eventId?: string }).eventId)).sort(byText), ['a', 'c', 'e']);
});

t.test('a second connection of a device replaces the first', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const second = await world.connect(device);
  await device.link.closed;
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  t.equal((await second.command()).operation, 'setWifi');
});

t.test('of many CONNECTs of one device at once exactly one stays, and it gets the commands', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  for (let round = 0; round < 20; round += 1) {
    const links = await Promise.all(Array.from({ length: 4 }, () => world.open(device)));
    const ended = new Set<number>();
    links.forEach((link, index) => {
      void link.closed.then(() => ended.add(index));
    });
    await Promise.allSettled(links.map((link) => link.login()));
    await world.idle();
    while (ended.size < 3) await Promise.race(links.filter((_, index) => !ended.has(index)).map((link) => link.closed));
    const [last] = links.filter((_, index) => !ended.has(index));
    const { transactionId } = (await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).body;
    const command = await last!.command();
    t.equal(command.transactionId, transactionId, 'one live connection, and it is the one that is served');
    last!.puback(command.packet);
    await last!.ack({ transactionId, status: 'succeeded' });
    await tenant.event();
  }
});

t.test('of many waiting CONNECTs of one device only the last is served, and the others hold no places', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const links = await Promise.all(Array.from({ length: 50 }, () => world.open(device)));
  const answers = await Promise.allSettled(links.map((link) => link.login()));
  const served = answers.filter(({ status }) => status === 'fulfilled').length;
  t.ok(served >= 1 && served <= 40, `${served} of 50 were let in, one after another`);
  await world.idle();
  t.ok(world.service.isConnected(device.deviceId));
});

t.test(
  'a session is present only with the subscription to commands; a device that subscribes then is served',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const device = await world.registerDevice();
    const seen: boolean[] = [];
    const login = async (clean = false) => {
      const link = await world.open({ ...device, clean });
      seen.push((await link.login()).sessionPresent);
      return link;
    };
    await (await login()).drop(); // cut off before its SUBSCRIBE
    const partly = await login();
    await partly.subscribe(`devices/${device.deviceId}/errors`);
    await partly.drop();
    const link = await login();
    t.match(
      (await world.admin().get(`/admin/v1/devices/${device.deviceId}/connection`)).body.session.subscriptions,
      [],
    );
    await link.subscribe(`devices/${device.deviceId}/commands`);
    t.equal((await tenant.api.post(`${tenant.path}/devices/${device.deviceId}`, { json: {} })).status, 201);
    t.equal((await link.command()).operation, 'activate');
    await link.drop();
    await (await login()).drop();
    await (await login(true)).drop();
    await (await login()).drop();
    t.same(seen, [false, false, false, true, false, false]);
  },
);

t.test('a device that stops reading delays no other', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const stuck = await world.activatedDevice(tenant);
  const other = await world.activatedDevice(tenant);
  stuck.link.socket.pause();
  const big = Array.from({ length: 32 }, (_, i) => ({ name: `n${i}`, apn: 'a'.repeat(60), server: 's'.repeat(200) }));
  for (let i = 0; i < 12; i += 1) {
    await tenant.api.put(`${stuck.path}/settings/apn`, { json: big });
    await tenant.api.put(`${other.path}/settings/wifi`, { json: WIFI });
    const command = await other.link.command();
    t.equal(command.operation, 'setWifi');
    other.link.puback(command.packet);
  }
});

t.test('each packet of a device begins its keep-alive interval anew', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const logIn = async () => world.connect({ ...(await world.registerDevice()), connect: { keepalive: 1 } });
  const talks: ((link: RawDevice) => void)[] = [
    (link) => link.publish('status', {}),
    (link) => link.publish('status', {}, { qos: 0 }),
    (link) => link.puback({ messageId: 7 }),
    (link) => link.send({ cmd: 'pingreq' }),
  ];
  const talkers = await Promise.all(talks.map(logIn));
  const silent = await logIn();
  const talk = setInterval(() => {
    for (const [index, say] of talks.entries()) say(talkers[index]!);
  }, 200);
  t.teardown(() => clearInterval(talk));
  await silent.closed; // after one and a half intervals [MQTT-3.1.2-24]
  for (const [index, talker] of talkers.entries()) {
    talker.send({ cmd: 'pingreq' });
    t.ok(await talker.next('pingresp'), `${index}`);
  }
});

t.test('connections above the bound are closed at once, and a free place can be used again', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_MAX_CONNECTIONS: '2' } });
  await world.createTenant();
  const [a, b, c] = [await world.registerDevice(), await world.registerDevice(), await world.registerDevice()];
  const first = await world.connect(a);
  await world.connect(b);
  const third = await world.open(c);
  await t.rejects(third.login(), /ended/);
  await first.drop();
  await until(() => !world.service.isConnected(a.deviceId));
  await world.connect(c);
});

t.test('a socket that never sends CONNECT does not keep the service from stopping', async (t) => {
  const world = await startWorld(t);
  const { hostname, port } = new URL(world.service.addresses.mqtt);
  const socket = connect({ host: hostname, port: Number(port) });
  t.teardown(() => socket.destroy());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  await world.restart();
  await closed;
});

t.test('bytes that are not MQTT end their connection only', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId } = await world.activatedDevice(tenant);
  for (const bytes of [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.alloc(64, 0xff),
    mqttPacket.generate({ cmd: 'pingreq' }),
  ]) {
    const link = await world.open({ deviceId: 'x' });
    link.socket.write(bytes);
    await link.closed;
  }
  t.ok(world.service.isConnected(deviceId));
});
