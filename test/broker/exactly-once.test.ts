import mqttPacket from 'mqtt-packet';
import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { startWorld, type World } from '../world.ts';

/** An event that the service refuses with a message on `errors`, each time that it handles it. */
const eventOf = (deviceId: string, messageId: number, size = 0): Buffer =>
  mqttPacket.generate({
    cmd: 'publish',
    topic: `devices/${deviceId}/events`,
    payload: JSON.stringify({ padding: 'x'.repeat(size) }),
    qos: 2,
    messageId,
    dup: false,
    retain: false,
  });

async function answersOf(world: World, link: RawDevice): Promise<number> {
  await world.idle();
  link.send({ cmd: 'pingreq' });
  await link.next('pingresp');
  return link.pending('publish').length;
}

t.test(
  'a message of QoS 2 that is repeated before its PUBREL is carried out once, whether repeated at once or later',
  async (t) => {
    const world = await startWorld(t);
    await world.createTenant();
    const device = await world.registerDevice();
    const link = await world.connect(device);
    link.socket.write(Buffer.concat([1, 2, 1, 1, 2].map((id) => eventOf(device.deviceId, id))));
    for (let count = 0; count < 5; count += 1) await link.next('pubrec');
    t.equal(await answersOf(world, link), 2);
    await link.drop();
    // A client that only knows the device's name cannot make the service forget its messages.
    const guess = await world.open({ ...device, credential: 'guessed', clean: true });
    t.equal((await guess.login()).returnCode, 4);
    await guess.closed;
    await world.idle();

    const again = await world.connect(device);
    again.socket.write(Buffer.concat([1, 2].map((id) => eventOf(device.deviceId, id))));
    for (let count = 0; count < 2; count += 1) await again.next('pubrec');
    t.equal(await answersOf(world, again), 0, 'nor on the next connection');
    for (const messageId of [1, 2]) {
      again.send({ cmd: 'pubrel', messageId });
      await again.next('pubcomp');
    }
    again.socket.write(eventOf(device.deviceId, 1));
    await again.next('pubrec');
    t.equal(await answersOf(world, again), 1, 'after PUBREL it is another message');
  },
);

t.test('a PUBREL that comes together with its message releases it', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const release = mqttPacket.generate({ cmd: 'pubrel', messageId: 1 });
  for (let round = 1; round <= 3; round += 1) {
    link.socket.write(Buffer.concat([eventOf(device.deviceId, 1), release]));
    await link.next('pubrec');
    await link.next('pubcomp');
    t.equal(await answersOf(world, link), round, 'each time it is another message');
  }
  link.socket.write(Buffer.concat([1, 2, 3].map((id) => eventOf(device.deviceId, id))));
  for (let count = 0; count < 3; count += 1) await link.next('pubrec');
  link.socket.write(Buffer.concat([1, 2, 3].map((messageId) => mqttPacket.generate({ cmd: 'pubrel', messageId }))));
  for (let count = 0; count < 3; count += 1) await link.next('pubcomp');
  t.equal(await answersOf(world, link), 6);
});

t.test(
  'a device may leave a hundred messages of QoS 2 unreleased, over all its connections, and they use few bytes',
  async (t) => {
    const world = await startWorld(t);
    await world.createTenant();
    const device = await world.registerDevice();
    for (let round = 0; round < 3; round += 1) {
      const link = await world.connect(device);
      const ids = Array.from({ length: 120 }, (_, index) => round * 200 + index + 1);
      link.socket.write(Buffer.concat(ids.map((id) => eventOf(device.deviceId, id, 20_000))));
      await link.closed;
      t.equal(link.pending('pubrec').length, round === 0 ? 100 : 0);
    }
    await world.idle();
    const kept = 'SELECT count(*) AS kept, COALESCE(sum(length(payload)), 0) AS bytes FROM incoming_packets';
    const [row] = await (await world.raw()).all(kept);
    t.same(row, { kept: 100, bytes: 0 });
    const link = await world.connect(device);
    link.send({ cmd: 'pubrel', messageId: 7 });
    await link.next('pubcomp');
    link.socket.write(eventOf(device.deviceId, 1000));
    t.equal((await link.next('pubrec')).messageId, 1000, 'what is released makes room');
    link.send({ cmd: 'pubrel', messageId: 8 });
    await link.next('pubcomp');
    link.socket.write(Buffer.concat([1001, 1002].map((id) => eventOf(device.deviceId, id))));
    await link.closed;
    t.same(
      link.pending('pubrec').map(({ messageId }) => messageId),
      [1001],
      'for one of two that come together',
    );
    t.equal(link.pending('publish').length, 2, 'the other one is not carried out');
    await world.idle();
    t.match(await (await world.raw()).all(kept), [{ kept: 100 }]);
  },
);

t.test('an identifier that a PUBREL releases may be used by the message behind it', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  link.socket.write(eventOf(device.deviceId, 1));
  await link.next('pubrec');
  t.equal(await answersOf(world, link), 1);
  const pubrel = mqttPacket.generate({ cmd: 'pubrel', messageId: 1 });
  for (let round = 2; round < 6; round += 1) {
    link.socket.write(Buffer.concat([pubrel, eventOf(device.deviceId, 1)]));
    await link.next('pubcomp');
    await link.next('pubrec');
    t.equal(await answersOf(world, link), round);
  }
});

t.test('PUBRECs come in the order of the messages, also when some of them are repeated', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  link.socket.write(eventOf(device.deviceId, 1));
  await link.next('pubrec');
  const ids = [2, 1, 3, 3, 4, 2, 5];
  link.socket.write(Buffer.concat(ids.map((id) => eventOf(device.deviceId, id))));
  const order = [];
  for (const _ of ids) order.push((await link.next('pubrec')).messageId);
  t.same(order, ids);
  t.equal(await answersOf(world, link), 5);
});
