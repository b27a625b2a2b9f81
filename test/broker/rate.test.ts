import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

t.test('a device above its rate is cut off, and the messages that it repeats later are accepted', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '5' } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const neighbour = await world.activatedDevice(tenant);
  const { link } = device;
  const event = (number: number) => ({
    eventId: `event ${number}`,
    type: 'bluetooth.connected',
    occurredAt: '2026-11-20T09:30:00Z',
    data: { macAddress: 'AA:BB:CC:DD:EE:FF', name: null },
  });

  world.clock.advance(1000); // its subscriptions counted as well
  for (let number = 0; number < 15; number += 1) link.publish('events', event(number));
  await link.closed;
  t.equal(link.pending('puback').length, 10, 'twice the rate at once is acknowledged, and no more');
  const told = new Set<unknown>();
  while (told.size < 10) told.add((await tenant.event()).data['eventId' as never]);
  t.same(told, new Set(Array.from({ length: 10 }, (_, number) => `event ${number}`)));

  neighbour.link.publish('events', event(100));
  await neighbour.link.next('puback');
  t.equal((await tenant.event()).data.deviceId, neighbour.deviceId, 'another device is not affected');

  world.clock.advance(1000);
  const again = await world.connect(device);
  for (let number = 10; number < 15; number += 1) {
    again.publish('events', event(number));
    await again.next('puback');
    t.equal((await tenant.event()).data['eventId' as never], `event ${number}`);
  }

  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  t.match(text, /lapel_mqtt_refused_total\{reason="rate"\} [1-9]/);
});

t.test('acks count, and a device that only answers its commands is never cut off', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '400' } });
  // Acknowledgements that it may have kept while offline, and those that it may send at once.
  const KEPT = 2_048 + 2 * 400 - 1;
  const tenant = await world.createTenant();
  const { link, path, deviceId, credential } = await world.activatedDevice(tenant);
  const repeated = { transactionId: 1, status: 'succeeded' };
  for (let number = 0; number < KEPT; number += 1) link.publish('acks', repeated);
  for (let number = 0; number < KEPT; number += 1) await link.next('puback');

  for (let number = 0; number < 12; number += 1) {
    await tenant.api.put(`${path}/settings/lang`, { json: { lang: 'ja' } });
    const { packet, transactionId } = await link.command();
    link.puback(packet);
    for (const progress of [10, 50, 90]) link.publish('acks', { transactionId, status: 'processing', progress });
    link.publish('acks', { transactionId, status: 'succeeded' });
    for (let count = 0; count < 4; count += 1) await link.next('puback');
    t.equal((await tenant.event()).type, 'transaction.succeeded');
  }

  for (let number = 0; number < 50; number += 1) link.publish('acks', repeated);
  await link.closed;
  t.ok(link.pending('puback').length < 50, 'those that answer nothing have the rate of messages');
  world.clock.advance(5000);
  const again = await world.connect({ deviceId, credential });
  await again.ack(repeated);
});

t.test('SUBSCRIBE and UNSUBSCRIBE count as messages', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '5' } });
  const tenant = await world.createTenant('dev', { key: false, deviceEvent: false });
  const device = await world.registerDevice(tenant.developerId);
  const topic = `devices/${device.deviceId}/commands`;
  const packets = {
    suback: { cmd: 'subscribe', subscriptions: [{ topic, qos: 1 }] },
    unsuback: { cmd: 'unsubscribe', unsubscriptions: [topic] },
  } as const;
  for (const [answer, packet] of Object.entries(packets)) {
    world.clock.advance(10_000);
    const link = await world.connect({ ...device, clean: true });
    for (let messageId = 101; messageId <= 120; messageId += 1) link.send({ ...packet, messageId });
    await link.closed;
    const answered = link.pending(answer).length;
    t.ok(answered >= 9 && answered < 20, `${answered} of 20 ${answer}`);
  }
  world.clock.advance(10_000);
  const link = await world.connect({ ...device, clean: true });
  link.publish('status', { lang: 'en', unknown: 'x'.repeat(250_000) });
  await link.next('puback');
  t.pass('one that counts for more than a device may send at once is taken all the same');
});

t.test('the will of a device that was cut off for its rate is published', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '5' } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  for (const [qos, lang] of ['ja', 'fr', 'de'].entries()) {
    const topic = `devices/${device.deviceId}/status`;
    const will = { topic, payload: Buffer.from(JSON.stringify({ lang })), qos, retain: false };
    const link = await world.connect({ ...device, connect: { will } });
    for (let number = 0; number < 15; number += 1) link.publish('status', { lang: 'en' });
    await link.closed;
    const metrics = async () => (await world.anonymousAdmin().get('/metrics')).body as string;
    await until(async () => /^lapel_mqtt_connections 0$/m.test(await metrics()));
    await world.idle();
    t.equal((await tenant.api.get(`${device.path}/status`)).body.lang, lang, `QoS ${qos}`);
  }
});

t.test(
  'a thousand kept messages, sent at once at each connection, are all accepted after a few connections',
  async (t) => {
    const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '100' } });
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    await device.link.drop();
    const kept = new Set(Array.from({ length: 1000 }, (_, number) => number + 1));
    let connections = 0;
    while (kept.size > 0 && connections < 20) {
      connections += 1;
      world.clock.advance(1000);
      const link = await world.connect(device);
      for (const messageId of kept) link.publish('status', { lang: 'en' }, { messageId, dup: connections > 1 });
      let acknowledged = 0;
      const rest = kept.size;
      while (acknowledged < rest) {
        const packet = await link.next('puback').catch(() => undefined);
        if (!packet) break;
        acknowledged += 1;
        kept.delete(packet.messageId ?? 0);
      }
      await link.drop();
    }
    t.equal(kept.size, 0);
    t.ok(connections <= 10, `${connections} connections`);
  },
);

t.test('a connection that sends packets of any kind faster than its rate is read later, and loses none', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '10' } });
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  const pings = 300; // 50 a second, 100 at once
  for (let count = 0; count < pings; count += 1) link.send({ cmd: 'pingreq' });
  const before: number[] = [];
  for (let seconds = 0; seconds < 6; seconds += 1) {
    await link.next('pingresp');
    // A packet behind the pings of this second is answered only after the clock moves on.
    for (let turns = 0; turns < 20; turns += 1) await turn();
    before.push(link.pending('pingresp').length);
    for (let step = 0; step < 20; step += 1) {
      world.clock.advance(50);
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
  }
  t.ok((before[0] ?? pings) < 120, `${before[0]} at once`);
  await until(() => link.pending('pingresp').length >= pings - 6);
  t.pass('all of them are answered in the end');
});

t.test('an expensive packet counts as many', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_DEVICE_RATE_LIMIT: '10' } }); // packets: 50 a second, 100 at once
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const topics = Array.from({ length: 250 }, (_, index) => `filter ${index}`);
  const filters = topics.map((topic) => ({ topic, qos: 1 as const }));
  type Link = Awaited<ReturnType<typeof world.connect>>;
  const large = { transactionId: 1, status: 'succeeded', unknown: 'x'.repeat(100_000) };
  for (const [answer, send] of [
    ['suback', (link: Link, messageId: number) => link.send({ cmd: 'subscribe', messageId, subscriptions: filters })],
    [
      'unsuback',
      (link: Link, messageId: number) => link.send({ cmd: 'unsubscribe', messageId, unsubscriptions: topics }),
    ],
    ['puback', (link: Link) => link.publish('acks', large)],
  ] as const) {
    const link = await world.connect(device);
    for (let messageId = 101; messageId <= 110; messageId += 1) send(link, messageId);
    await link.next(answer);
    for (let turns = 0; turns < 100; turns += 1) await turn();
    t.ok(link.pending(answer).length < 3, `${answer}: ${link.pending(answer).length} more at once`);
    while (link.pending(answer).length < 9) {
      world.clock.advance(50);
      await turn();
    }
  }
});
