import { setImmediate as turn } from 'node:timers/promises';
import mqttPacket from 'mqtt-packet';
import t, { type Test } from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

// The answer to bytes, as hexadecimal digits; `closed`: the connection is closed without an answer; `open`: no answer.
type Answer = string;
type Row = [clause: string, bytes: string, answer: Answer];

/**
 * Bytes from a notation: hexadecimal digits, 'text', s'text' with its length before it, i12 as two bytes. `|` stands
 * for the remaining length.
 */
function bytesOf(text: string): Buffer {
  const [head = '', ...body] = text.split('|');
  const parts = (part: string): Buffer =>
    Buffer.concat(
      [...part.matchAll(/(s?)'([^']*)'|i(\d+)|([0-9A-Fa-f]{2})/g)].map(([, counted, word, number, hex]) => {
        if (hex !== undefined) return Buffer.from(hex, 'hex');
        if (number !== undefined) return Buffer.from([Number(number) >> 8, Number(number) & 255]);
        const bytes = Buffer.from(word ?? '');
        return counted ? Buffer.concat([Buffer.from([0, bytes.length]), bytes]) : bytes;
      }),
    );
  if (body.length === 0) return parts(head);
  const rest = parts(body.join(''));
  const length = rest.length < 128 ? [rest.length] : [(rest.length & 127) | 128, rest.length >> 7];
  return Buffer.concat([parts(head), Buffer.from(length), rest]);
}

/** Collects the bytes that arrive on a connection, as hexadecimal digits. */
function listen(link: RawDevice): { text(): string } {
  const chunks: Buffer[] = [];
  link.socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { text: () => Buffer.concat(chunks).toString('hex') };
}

const MQTT = "s'MQTT'";
const BEFORE_LOGIN: Row[] = [
  ['3.1.0-1', "30|s'topic' 'x'", 'closed'],
  ['3.1.0-1', 'C0 00', 'closed'],
  ['3.1.0-1', 'E0 00', 'closed'],
  ['2.2.2-2', `11|${MQTT} 04 02 000A s'p'`, 'closed'],
  ['2.2.2-2', `14|${MQTT} 04 02 000A s'p'`, 'closed'],
  ['3.1.2-1', "10|s'MQT' 04 02 000A s'p'", 'closed'],
  ['3.1.2-1', "10|s'' 04 02 000A s'p'", 'closed'],
  ['3.1.2-1', "10|s'MQTTT' 04 02 000A s'p'", 'closed'],
  ['3.1.2-2', `10|${MQTT} 02 02 000A s'p'`, '20020001'],
  ['3.1.2-2', `10|${MQTT} 03 02 000A s'p'`, '20020001'],
  ['3.1.2-2', `10|${MQTT} 05 02 000A 00 s'p'`, '2003008400'],
  ['3.1.2-2', `10|${MQTT} 06 02 000A s'p'`, '20020001'],
  ['3.1.2-2', `10|${MQTT} 84 02 000A s'p'`, '20020001'],
  ['3.1.2-2', "10|s'MQIsdp' 04 02 000A s'p'", '20020001'],
  ['3.1.2-2', "10|s'MQIsdp' 02 02 000A s'p'", '20020001'],
  ['3.1.2-2', "10|s'MQIsdp' 05 02 000A s'p'", '20020001'],
  ['3.1.2-3', `10|${MQTT} 04 01 000A s'p'`, 'closed'],
  ['3.1.2-13', `10|${MQTT} 04 0A 000A s'p'`, 'closed'],
  ['3.1.2-15', `10|${MQTT} 04 22 000A s'p'`, 'closed'],
  ['3.1.2-14', `10|${MQTT} 04 1E 000A s'p' s't' s'm'`, 'closed'],
  ['3.1.2-9', `10|${MQTT} 04 06 000A s'p'`, 'closed'],
  ['3.1.2-9', `10|${MQTT} 04 06 000A s'p' s't'`, 'closed'],
  ['3.1.2-19', `10|${MQTT} 04 82 000A s'p'`, 'closed'],
  ['3.1.2-21', `10|${MQTT} 04 C2 000A s'p' s'u'`, 'closed'],
  ['3.1.2-22', `10|${MQTT} 04 42 000A s'p' s'w'`, 'closed'],
  ['3.1.3-1', `10|${MQTT} 04 02 000A s'p' s'more'`, 'closed'],
  ['3.1.3-1', `10|${MQTT} 04 02 000A`, 'closed'],
  ['3.1.3-3', `10|${MQTT} 04 02 00`, 'closed'],
  ['1.5.3-1', `10|${MQTT} 04 02 000A 0003 EDA080`, 'closed'],
  ['1.5.3-2', `10|${MQTT} 04 02 000A 0003 700070`, 'closed'],
  ['1.5.3', `10|${MQTT} 04 02 000A 0003 701F70`, 'closed'],
  ['1.5.3', `10|${MQTT} 04 02 000A 0003 C29F70`, 'closed'],
  ['1.5.3-1', `10|${MQTT} 04 06 000A s'p' 0003 EDBFBF s'm'`, 'closed'],
  ['1.5.3-2', `10|${MQTT} 04 82 000A s'p' 0003 750000`, 'closed'],
  ['2.2.3', '10 FFFFFFFF7F', 'closed'],
  ['3.1.3-8', `10|${MQTT} 04 00 000A s''`, '20020002'],
  ['3.1.3-9', `10|${MQTT} 04 02 000A s''`, '20020002'],
  ['3.1.3-5', `10|${MQTT} 04 02 000A s'nobody'`, '20020002'],
  ['3.1.3-5', "10|s'MQIsdp' 03 02 000A s'nobody'", '20020002'],
  ['3.1.2-19', `10|${MQTT} 04 82 000A s'350000000000012' s''`, '20020002'],
];

const AFTER_LOGIN: Row[] = [
  ['3.1.0-2', `10|${MQTT} 04 02 000A s'p'`, 'closed'],
  ['3.3.1-2', "38|s'topic' 'x'", 'closed'],
  ['3.3.1-4', "36|s'topic' 'x'", 'closed'],
  ['3.3.1-4', "36|s'topic' i7 'x'", 'closed'],
  ['2.3.1-1', "32|s'topic'", 'closed'],
  ['2.3.1-1', "32|s'topic' 01", 'closed'],
  ['2.3.1-1', "32|s'topic' i0 'x'", 'closed'],
  ['2.3.1-1', "34|s'topic' i0 'x'", 'closed'],
  ['4.7.3-1', "30|s'' 'x'", 'closed'],
  ['3.3.2-2', "30|s'+opic' 'x'", 'closed'],
  ['3.3.2-2', "30|s'to/#' 'x'", 'closed'],
  ['3.3.2-1', '30|00', 'closed'],
  ['3.3.2-1', '30|0010 61', 'closed'],
  ['1.5.3-1', "32|0005 746FEDA080 i7 'x'", 'closed'],
  ['1.5.3-2', "32|0005 746F700000 i7 'x'", 'closed'],
  ['1.5.3', "32|0005 746F700170 i7 'x'", 'closed'],
  ['1.5.3', "32|0005 746F707F70 i7 'x'", 'closed'],
  ['2.2.2-2', "80|i7 s'p' 00", 'closed'],
  ['2.2.2-2', "83|i7 s'p' 00", 'closed'],
  ['2.3.1-1', "82|i0 s'p' 00", 'closed'],
  ['3.8.3-3', '82|i7', 'closed'],
  ['3.8.3-1', '82|07', 'closed'],
  ['3.8.3-1', "82|i7 s'p'", 'closed'],
  ['3.8.3-1', "82|i7 s'p' 00 00", 'closed'],
  ['3.8.3-4', "82|i7 s'p' 03", 'closed'],
  ['3.8.3-4', "82|i7 s'p' 41", 'closed'],
  ['4.7.3-1', "82|i7 s'' 00", 'closed'],
  ['4.7.3-1', "82|i7 s'p' 00 s'' 00", 'closed'],
  ['4.7.1-3', "82|i7 s'ab/+e' 01", 'closed'],
  ['4.7.1-3', "82|i7 s'a+' 01", 'closed'],
  ['4.7.1-2', "82|i7 s'a/#/b' 01", 'closed'],
  ['4.7.1-2', "82|i7 s'a#' 01", 'closed'],
  ['1.5.3-1', '82|i7 0005 746FEDA080 01', 'closed'],
  ['1.5.3-2', '82|i7 0005 746F700000 01', 'closed'],
  ['2.2.2-2', "A0|i7 s'p'", 'closed'],
  ['2.3.1-1', "A2|i0 s'p'", 'closed'],
  ['3.10.3-2', 'A2|i7', 'closed'],
  ['3.10.3-1', 'A2|i7 0009 70', 'closed'],
  ['4.7.1-3', "A2|i7 s'ab/+e'", 'closed'],
  ['1.5.3-2', 'A2|i7 0003 700000', 'closed'],
  ...['40', '50', '62', '70'].flatMap((first): Row[] => [
    ['2.2.3', `${first} 00`, 'closed'],
    ['2.2.3', `${first} 01 07`, 'closed'],
    ['2.2.3', `${first}|i7 00`, 'closed'],
    ['2.3.1-1', `${first}|i0`, 'closed'],
  ]),
  ['2.2.2-2', '41|i7', 'closed'],
  ['2.2.2-2', '60|i7', 'closed'],
  ['2.2.2-2', 'C1 00', 'closed'],
  ['2.2.3', 'C0 01 00', 'closed'],
  ['2.2.2-2', 'E2 00', 'closed'],
  ['2.2.3', 'E0 01 00', 'closed'],
  ...['00', '20', '90', 'B0', 'D0', 'F0'].map((first): Row => ['2.2.1', `${first}|i7`, 'closed']),
  ['2.2.3', '30 FFFFFFFF7F', 'closed'],
  // Unusual packets that are valid.
  ['3.12.4-1', 'C0 00', 'd000'],
  ['3.8.4-4', "82|i7 s'+/+/x' 01 s'/' 00 s'#' 02", '90050007808080'],
  ['3.8.4-5', "82|i7 s'p' 01 s'q' 00 s'p' 00", '90050007808080'],
  ['3.10.4-5', "A2|i7 s'none' s'none'", 'b0020007'],
  ['4.3.3-1', '62|i7', '70020007'],
  ['4.3.3-1', '50|i7', '62020007'],
  ['4.3.2', '40|i7', 'open'],
  ['4.3.3', '70|i7', 'open'],
];

t.test('each packet is answered as MQTT 3.1.1 says', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_5: 'false' } });
  await world.createTenant();
  const device = await world.registerDevice();

  async function expect(t: Test, link: RawDevice, [clause, text, answer]: Row): Promise<void> {
    const came = listen(link);
    link.socket.write(bytesOf(text));
    const title = `[MQTT-${clause}] ${text}`;
    if (answer === 'closed' || answer.startsWith('20')) {
      await link.closed;
      t.equal(came.text(), answer === 'closed' ? '' : answer, title);
    } else {
      link.send({ cmd: 'pingreq' });
      const all = answer === 'open' ? 'd000' : answer === 'd000' ? 'd000d000' : `${answer}d000`;
      await until(() => came.text().length >= all.length);
      t.ok(came.text() === all || came.text() === `d000${answer}`, `${title}: ${came.text()}`);
      link.socket.destroy();
      await link.closed;
    }
  }

  t.test('before login', async (t) => {
    for (const row of BEFORE_LOGIN) {
      await expect(t, await world.open({ deviceId: 'x' }), row);
      world.clock.advance(1000); // fast refusals are delayed
    }
  });

  t.test('after login', async (t) => {
    for (const row of AFTER_LOGIN) {
      const link = await world.open(device);
      t.equal((await link.login()).returnCode, 0);
      await expect(t, link, row);
    }
  });

  t.test('a packet in pieces is the same packet', async (t) => {
    const link = await world.open(device);
    const whole = Buffer.concat([
      mqttPacket.generate({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: 4,
        clientId: device.deviceId,
        username: device.deviceId,
        password: Buffer.from(device.credential),
        clean: true,
        keepalive: 0,
      }),
      bytesOf(`82|i7 s'devices/${device.deviceId}/commands' 01`),
      bytesOf(`32|s'devices/${device.deviceId}/status' i8 '{}'`),
      bytesOf('C0 00'),
    ]);
    for (const byte of whole) {
      link.socket.write(Buffer.from([byte]));
      await turn();
    }
    t.equal((await link.next('connack')).returnCode, 0);
    t.same((await link.next('suback')).granted, [1]);
    t.equal((await link.next('puback')).messageId, 8);
    await link.next('pingresp');
  });

  t.test('packets of all kinds that come together are carried out and acknowledged in their order', async (t) => {
    const link = await world.open({ ...device, clean: true });
    await link.login();
    await link.subscribe(`devices/${device.deviceId}/errors`);
    // Events without a type: the errors topic tells which event it was, and so the order in which they were read.
    const event = (id: number, first: string, messageId: string): string =>
      `${first}|s'devices/${device.deviceId}/events' ${messageId} '{"eventId":"event-${id}"}'`;
    const topic = `a${'/a'.repeat(150)}`;
    const run = Buffer.concat([
      ...[
        event(1, '32', 'i11'),
        '40|i999',
        event(2, '30', ''),
        'C0 00',
        event(3, '34', 'i12'),
        event(4, '3B', 'i13'),
        "82|i14 s'foreign' 00",
        '62|i12',
        event(5, '32', 'i15'),
        event(6, '31', ''),
        '70|i998',
        event(7, '32', 'i16'),
      ].map(bytesOf),
      mqttPacket.generate({ cmd: 'publish', topic, payload: '', qos: 0, dup: false, retain: false }),
      bytesOf(event(8, '32', 'i17')),
    ]);
    const inBytes = Array.from(run, (byte) => Buffer.from([byte]));
    for (const chunks of [[run], inBytes]) {
      for (const chunk of chunks) {
        link.socket.write(chunk);
        if (chunks.length > 1) await turn();
      }
      const told: unknown[] = [];
      while (told.length < 9) {
        const packet = await link.next('publish');
        link.puback(packet);
        const message = JSON.parse(packet.payload.toString()) as { eventId?: string; topic: string };
        told.push(message.eventId ?? message.topic.split('/').length);
      }
      t.ok(told.includes('event-3'), 'the one of QoS 2 is looked up in the database first');
      const ids = [1, 2, 4, 5, 6, 7].map((id) => `event-${id}`);
      t.same(
        told.filter((id) => id !== 'event-3'),
        [...ids, 100, 'event-8'],
        'the topic with too many levels is told shortened',
      );
      for (const messageId of [11, 13, 15, 16, 17]) t.equal((await link.next('puback')).messageId, messageId);
      t.equal((await link.next('pubrec')).messageId, 12);
      t.equal((await link.next('pubcomp')).messageId, 12);
      t.match(await link.next('suback'), { messageId: 14, granted: [0x80] });
      await link.next('pingresp');
    }
  });

  t.test('the same filter twice has two codes, and the last one counts', async (t) => {
    const link = await world.open({ ...device, clean: true });
    await link.login();
    const topic = `devices/${device.deviceId}/errors`;
    t.same(await link.subscribe({ topic, qos: 1 }, 'foreign', { topic, qos: 0 }, 'foreign'), [1, 0x80, 0, 0x80]);
    link.publish('acks', 'no');
    t.equal((await link.next('publish')).qos, 0);
  });

  t.test('a SUBSCRIBE that repeats a filter is answered before an illegal packet ends the connection', async (t) => {
    for (let round = 0; round < 10; round += 1) {
      const link = await world.open({ ...device, clean: round % 2 === 0 });
      await link.login();
      const topic = `devices/${device.deviceId}/errors`;
      const subscriptions = [1, 0].map((qos) => ({ topic, qos }));
      const subscribe = { cmd: 'subscribe', messageId: 5, subscriptions } as Parameters<typeof mqttPacket.generate>[0];
      link.socket.write(Buffer.concat([mqttPacket.generate(subscribe), Buffer.from('f000', 'hex')]));
      t.same((await link.next('suback')).granted, [1, 0]);
      await link.closed;
    }
  });

  t.test('what stands behind a DISCONNECT is not carried out', async (t) => {
    const taken = async () =>
      (await world.service.metrics.mqttMessages.get()).values.find(({ labels }) => labels.topic === 'status')?.value ??
      0;
    for (let round = 0; round < 10; round += 1) {
      const link = await world.open(device);
      await link.login();
      const before = await taken();
      const publish = mqttPacket.generate({
        cmd: 'publish',
        topic: `devices/${device.deviceId}/status`,
        payload: '{}',
        qos: 0,
        dup: false,
        retain: false,
      });
      link.socket.write(Buffer.concat([publish, Buffer.from('e000', 'hex'), publish, publish]));
      await link.closed;
      await world.idle();
      t.equal((await taken()) - before, 1);
    }
  });

  t.test('too many filters end the connection', async (t) => {
    const link = await world.open(device);
    await link.login();
    const filters = Array.from({ length: 257 }, (_, number) => `filter ${number}`);
    t.equal((await link.subscribe(...filters.slice(1))).length, 256);
    await t.rejects(link.subscribe(...filters), /ended/);
  });

  t.test('a topic with more levels than the broker supports is a foreign topic', async (t) => {
    const link = await world.open(device);
    await link.login();
    link.publish(`a${'/a'.repeat(150)}`, '{}', { qos: 0 });
    link.send({ cmd: 'pingreq' });
    await Promise.race([link.next('pingresp'), link.closed]);
    t.pass();
  });
});
