import mqttPacket, { type Packet } from 'mqtt-packet';
import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { startWorld, type World } from '../world.ts';
import { createNeighbour } from './neighbour.ts';

const DEVICES = 60;
/** Messages of each device. A connection handles only a few of them at a time. */
const EACH = 32;
const RINGS = 2;
const SUBSCRIBES = 8;

/** The largest permitted number of topic filters for one SUBSCRIBE. The device may not subscribe to any of them. */
const subscriptionsOf = (deviceId: string) =>
  Array.from({ length: 256 }, (_, index) => ({ topic: `devices/${deviceId}/${index}`, qos: 1 }));

const bytesOf = (packet: Record<string, unknown>): Buffer => mqttPacket.generate(packet as unknown as Packet);

async function messagesOf(world: World): Promise<number> {
  const { values } = await world.service.metrics.mqttMessages.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

t.test('many devices of one developer, each within its rate, take the turns of one developer', async (t) => {
  // With a server a ring would wait for many messages to the database meanwhile; test/database/units-of-work.test.ts
  // shows its turns.
  const world = await startWorld(t, { database: 'sqlite' });
  const neighbour = await createNeighbour(t, world);
  await world.createTenant('attacker', { key: false, deviceEvent: false });
  const links: { deviceId: string; link: RawDevice }[] = [];
  for (let count = 0; count < DEVICES; count += 1) {
    const { deviceId, credential } = await world.registerDevice('attacker');
    const link = await world.open({ deviceId, credential, clean: true });
    t.equal((await link.login()).returnCode, 0);
    links.push({ deviceId, link });
  }
  const software = Array.from({ length: 150 }, (_, index) => ({ package: `com.example.a${index}`, version: '1.0.0' }));
  const payloads: Record<string, [kind: string, payload: string, qos: 1 | 2]> = {
    'wrong events': ['events', '{"eventId":"a b","type":"nope","occurredAt":"x","data":{}}', 1],
    'acks of foreign transactions': ['acks', '{"transactionId":1,"status":"succeeded"}', 1],
    'events of devices that are not activated': [
      'events',
      '{"eventId":"e","type":"custom.x","occurredAt":"2026-11-20T09:30:00Z","data":{}}',
      1,
    ],
    'statuses of 12 KB': ['status', JSON.stringify({ software }), 1],
    'QoS 2 without PUBREL': ['events', '{"eventId":"a b","type":"nope","occurredAt":"x","data":{}}', 2],
  };
  for (const [title, [kind, payload, qos]] of Object.entries(payloads)) {
    const before = await messagesOf(world);
    const each = kind === 'status' ? EACH / 4 : EACH; // a few large ones are as much work
    for (const { deviceId, link } of links) {
      const publish = { cmd: 'publish', topic: `devices/${deviceId}/${kind}`, payload, qos, dup: false, retain: false };
      const packets = Array.from({ length: each }, (_, index) => bytesOf({ ...publish, messageId: index + 1 }));
      link.socket.write(Buffer.concat(packets));
    }
    await until(async () => (await messagesOf(world)) !== before);
    const between: number[] = [];
    for (let ring = 0; ring < RINGS; ring += 1) {
      const began = await messagesOf(world);
      await neighbour.works(title, 1);
      between.push((await messagesOf(world)) - began);
    }
    const total = DEVICES * each;
    t.comment(`${title}: ${between.join(', ')} of ${total} messages between a call and its webhook`);
    const usual = between.reduce((sum, count) => sum + count, 0) / between.length;
    t.ok(usual < (total * 2) / 3, `${title}: few of them come before another developer’s command`);
    const answer = qos === 2 ? 'pubrec' : 'puback';
    for (const { link } of links) for (let index = 0; index < each; index += 1) await link.next(answer);
  }

  for (const { deviceId, link } of links) {
    const packet = bytesOf({ cmd: 'subscribe', messageId: 1, subscriptions: subscriptionsOf(deviceId) });
    link.socket.write(Buffer.concat(Array.from({ length: SUBSCRIBES }, () => packet)));
  }
  const answered = (): number => links.reduce((sum, { link }) => sum + link.pending('suback').length, 0);
  await until(() => answered() !== 0);
  const before = answered();
  await neighbour.works('SUBSCRIBE of 256 filters', 1);
  const between = answered() - before;
  t.comment(`SUBSCRIBE: ${between} of ${DEVICES * SUBSCRIBES} between a call and its webhook`);
  t.ok(between < (DEVICES * SUBSCRIBES) / 3, 'SUBSCRIBE of 256 filters');
  for (const { link } of links) for (let index = 0; index < SUBSCRIBES; index += 1) await link.next('suback');
});
