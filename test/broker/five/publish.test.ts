import t from 'tap';
import type { RawDevice } from '../../raw-device.ts';
import { bytesOf, endOf, openFive, startFive } from './world.ts';

const hexOf = (text: string): string =>
  `${(text.length + 0x1_0000).toString(16).slice(1)} ${Buffer.from(text).toString('hex')}`;

/** A packet from its first byte and what follows the length, as hexadecimal digits. */
function packet(first: string, body: string): Buffer {
  const bytes = Buffer.from(body.replaceAll(' ', ''), 'hex');
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from(first, 'hex'), Buffer.from(length), bytes]);
}

/** The reason of the next PUBACK or PUBREC: its code, and what it says. */
async function reasonOf(link: RawDevice, cmd: 'puback' | 'pubrec') {
  const { reasonCode, properties, messageId } = await link.next(cmd);
  return { messageId, code: reasonCode, text: properties?.reasonString ?? '' };
}

t.test('a PUBLISH that breaks the protocol ends the connection with a DISCONNECT that says why', async (t) => {
  const { world } = await startFive(t);
  const T = hexOf('devices/x/status');
  const rows: [title: string, bytes: Buffer, code: number][] = [
    ['[MQTT-3.3.1-2] DUP with QoS 0', packet('38', `${T} 00`), 0x81],
    ['[MQTT-3.3.1-4] QoS 3', packet('36', `${T} 0007 00`), 0x81],
    ['[MQTT-3.3.2-1] no topic', packet('30', '0010 61'), 0x81],
    ['[MQTT-3.3.2-1] a topic that is not UTF-8', packet('30', '0003 eda080 00'), 0x81],
    ['[MQTT-1.5.4-2] a topic with a null character', packet('30', '0003 610061 00'), 0x81],
    ['[MQTT-3.3.2-2] a topic with +', packet('30', `${hexOf('a/+')} 00`), 0x90],
    ['[MQTT-3.3.2-2] a topic with #', packet('30', `${hexOf('a/#')} 00`), 0x90],
    ['[MQTT-4.7.3-1] an empty topic without an alias', packet('30', '0000 00'), 0x82],
    ['[MQTT-2.2.1-3] packet identifier 0', packet('32', `${T} 0000 00`), 0x82],
    ['[MQTT-2.2.1-2] no packet identifier', packet('32', `${T} 00`), 0x81],
    ['[MQTT-3.3.2-8] topic alias 0', packet('30', `${T} 03 23 0000`), 0x94],
    ['[MQTT-3.3.2-9] a topic alias above the maximum', packet('30', `${T} 03 23 0001`), 0x94],
    ['[MQTT-3.3.2-13] a response topic that is not UTF-8', packet('30', `${T} 06 08 0003 eda080`), 0x81],
    ['[MQTT-3.3.2-14] a response topic with a wildcard', packet('30', `${T} 04 08 0001 23`), 0x82],
    ['[MQTT-3.3.2-19] a content type that is not UTF-8', packet('30', `${T} 06 03 0003 eda080`), 0x81],
    ['a payload format 2', packet('30', `${T} 02 01 02`), 0x82],
    ['[MQTT-3.3.4-6] a subscription identifier', packet('30', `${T} 02 0b 01`), 0x82],
    ['[MQTT-3.2.2-14] a message that is to be retained', packet('31', `${T} 00`), 0x9a],
    ['[MQTT-2.2.2-1] no property length', packet('30', T), 0x81],
    ['a property of another packet', packet('30', `${T} 05 11 00000001`), 0x82],
    ['a property twice', packet('30', `${T} 04 01 01 01 01`), 0x82],
    ['an unknown property', packet('30', `${T} 02 7e 00`), 0x81],
    ['[MQTT-1.5.7-1] a user property that is not UTF-8', packet('30', `${T} 08 26 0001 61 0002 c328`), 0x81],
    ['[MQTT-3.2.2-15] a packet that is too large', Buffer.from('30fdff0f', 'hex'), 0x95],
    ['a remaining length that does not end', Buffer.from('30ffffffff7f', 'hex'), 0x81],
    ['more properties than are read', packet('30', `${T} 814026`), 0x81],
    ['[MQTT-3.4.2-1] an unknown reason code in a PUBACK', packet('40', '0007 55 00'), 0x82],
    ['[MQTT-3.6.1-1] reserved flags of PUBREL', packet('60', '0007'), 0x81],
    ['[MQTT-3.6.2-1] an unknown reason code in a PUBREL', packet('62', '0007 10 00'), 0x82],
    ['bytes behind the properties of a PUBACK', packet('40', '0007 00 00 00'), 0x81],
    ['a PUBACK without a packet identifier', packet('40', '07'), 0x81],
  ];
  for (const [title, bytes, code] of rows) {
    const { link } = await openFive(world);
    t.equal(await endOf(link, bytes), code, title);
  }
  const large = bytesOf({
    cmd: 'publish',
    topic: 'a',
    payload: '',
    qos: 0,
    properties: { userProperties: { a: Array.from({ length: 10 }, () => 'x'.repeat(1000)) } },
  });
  const { link } = await openFive(world);
  t.equal(await endOf(link, large), 0x97, 'more properties than are read');
});

t.test('[MQTT-4.13.1-1] earlier packets are answered before a fault ends the connection', async (t) => {
  const { world } = await startFive(t);
  const { link, deviceId } = await openFive(world);
  const status = (messageId: number): Buffer =>
    bytesOf({ cmd: 'publish', topic: `devices/${deviceId}/status`, payload: '{}', qos: 1, messageId });
  const many = Array.from({ length: 20 }, (_, index) => status(index + 1));
  t.equal(await endOf(link, Buffer.concat([...many, packet('30', '0000 00'), status(99)])), 0x82);
  t.same(
    link.pending('puback').map((puback) => (puback as { messageId?: number }).messageId),
    many.map((_, index) => index + 1),
  );
});

t.test(
  '[MQTT-3.3.4-1] each message is answered as its QoS asks, with the verdict that the errors topic tells',
  async (t) => {
    const { world, tenant } = await startFive(t);
    const { link } = await world.activatedDevice(tenant, { level: 5 });
    link.publish('status', { lang: 'de' });
    t.same(await reasonOf(link, 'puback'), { messageId: 3, code: 0, text: '' });

    for (const qos of [1, 2]) {
      const cmd = qos === 1 ? 'puback' : 'pubrec';
      const told = async () => {
        const publish = await link.next('publish');
        link.puback(publish);
        return (JSON.parse(publish.payload.toString()) as { reason: string }).reason;
      };
      link.publish('events', 'no JSON', { qos });
      const rejected = await reasonOf(link, cmd);
      t.match(rejected, { code: 0x99, text: /^invalid request\..*JSON/ });
      t.ok(rejected.text.startsWith(await told()));

      link.publish('acks', { transactionId: 9_999, status: 'succeeded' }, { qos });
      t.match(await reasonOf(link, cmd), { code: 0x83, text: 'transaction not found.' });
      await told();

      link.publish('devices/490154203237518/status', '{}', { qos });
      t.match(await reasonOf(link, cmd), { code: 0x87, text: /may not publish/ });
      await told();

      const id = link.publish('status', '{"lang":"fr",}', { qos });
      t.match(await reasonOf(link, cmd), { code: 0, text: /the message was repaired/ });
      await told();
      if (qos === 1) continue;
      link.send({ cmd: 'pubrel', messageId: id });
      t.match(await link.next('pubcomp'), { messageId: id, reasonCode: 0 });
    }
  },
);

t.test('messages of QoS 2', async (t) => {
  const { world } = await startFive(t);
  const send = (link: RawDevice, deviceId: string, messageId: number, body: string, dup = false): void => {
    link.send({
      cmd: 'publish',
      topic: `devices/${deviceId}/events`,
      payload: body,
      qos: 2,
      messageId,
      dup,
      retain: false,
    });
  };
  const taken = async (): Promise<number> => {
    await world.idle();
    return (await world.service.metrics.mqttRejected.get()).values.reduce((sum, { value }) => sum + value, 0);
  };

  await t.test('[MQTT-4.3.3-9] after a PUBREC that refuses, the identifier is that of another message', async (t) => {
    const { link, deviceId } = await openFive(world);
    const before = await taken();
    for (let round = 1; round <= 3; round += 1) {
      send(link, deviceId, 7, 'no JSON');
      t.equal((await link.next('pubrec')).reasonCode, 0x99);
      t.equal((await taken()) - before, round);
    }
    const raw = await world.raw();
    t.same(await raw.all('SELECT * FROM incoming_packets'), []);
  });

  await t.test(
    '[MQTT-4.3.3-10] [MQTT-4.3.3-12] until its PUBREL a message with the same identifier is a repetition',
    async (t) => {
      const device = await world.registerDevice();
      const open = async (level: 4 | 5) => {
        const connect = level === 5 ? { properties: { sessionExpiryInterval: 60 } } : {};
        return world.connect({ ...device, level, connect });
      };
      const first = await open(5);
      const event = JSON.stringify({ eventId: 'e', type: 'custom.a', occurredAt: '2026-11-20T09:30:00Z', data: {} });
      send(first, device.deviceId, 9, event);
      t.equal((await first.next('pubrec')).reasonCode, 0x83, 'the device is not activated');
      first.publish('status', '{}', { qos: 2, messageId: 11 });
      t.equal((await first.next('pubrec')).reasonCode, 0);
      await first.drop();
      const second = await open(4);
      second.publish('status', '{}', { qos: 2, messageId: 11, dup: true });
      t.equal((await second.next('pubrec')).messageId, 11, 'the session goes on with MQTT 3.1.1');
      await second.drop();
      const third = await open(5);
      third.publish('status', '{}', { qos: 2, messageId: 11, dup: true });
      await third.next('pubrec');
      third.send({ cmd: 'pubrel', messageId: 11 });
      t.match(await third.next('pubcomp'), { messageId: 11, reasonCode: 0 });
      const raw = await world.raw();
      t.same(await raw.all(`SELECT * FROM incoming_packets WHERE client_id = '${device.deviceId}'`), []);
    },
  );
});

t.test('[MQTT-3.3.4-7] more messages without an answer than the receive maximum end the connection', async (t) => {
  const { world } = await startFive(t);
  const { link, deviceId } = await openFive(world);
  const topic = `devices/${deviceId}/status`;
  const messages = (count: number, from: number): Buffer =>
    Buffer.concat(
      Array.from({ length: count }, (_, index) =>
        bytesOf({ cmd: 'publish', topic, payload: '{}', qos: 2, messageId: from + index }),
      ),
    );
  link.socket.write(messages(100, 1));
  for (let count = 0; count < 100; count += 1) await link.next('pubrec');
  link.send({ cmd: 'pubrel', messageId: 1 });
  await link.next('pubcomp');
  link.socket.write(messages(1, 200));
  await link.next('pubrec');
  t.equal(await endOf(link, messages(1, 300)), 0x93);
});

t.test('a device above its rate gets 0x97 for each message that is not carried out, and stays connected', async (t) => {
  const { world, tenant } = await startFive(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '5' } });
  const { link, deviceId } = await world.activatedDevice(tenant, { level: 5 });
  world.clock.advance(10_000);
  for (const qos of [1, 2]) {
    const cmd = qos === 1 ? 'puback' : 'pubrec';
    const codes: (number | undefined)[] = [];
    for (let sent = 0; sent < 12; sent += 1) {
      const messageId = link.publish('status', '{}', { qos });
      const { reasonCode } = await link.next(cmd);
      codes.push(reasonCode);
      if (qos === 1 || reasonCode !== 0) continue;
      link.send({ cmd: 'pubrel', messageId });
      await link.next('pubcomp');
    }
    t.same(codes, [...Array.from({ length: 10 }, () => 0), 0x97, 0x97]);
    world.clock.advance(1_000);
    link.publish('status', '{}', { qos });
    t.equal((await link.next(cmd)).reasonCode, 0, 'later it is heard again');
    world.clock.advance(10_000);
  }
  for (let sent = 0; sent < 11; sent += 1) link.publish('status', '{}', { qos: 0, messageId: undefined });
  t.equal((await link.next('disconnect')).reasonCode, 0x97, 'QoS 0 has no answer');
  await link.closed;
  t.notOk(world.service.isConnected(deviceId));
});

t.test('[MQTT-3.3.1-4] acknowledgements of unknown messages have no effect', async (t) => {
  const { world } = await startFive(t);
  const { link } = await openFive(world);
  link.send({ cmd: 'puback', messageId: 7, reasonCode: 0x97 });
  link.send({ cmd: 'pubrec', messageId: 7, reasonCode: 0x80 });
  link.send({ cmd: 'pubcomp', messageId: 7 });
  link.send({ cmd: 'pubrec', messageId: 8 });
  t.match(await link.next('pubrel'), { messageId: 8, reasonCode: 0x92 });
  link.send({ cmd: 'pubrel', messageId: 9, reasonCode: 0x92 });
  t.match(await link.next('pubcomp'), { messageId: 9 });
  link.send({ cmd: 'pingreq' });
  await link.next('pingresp');
});
