import t from 'tap';
import { createTestCollector } from '../../tracing/test-collector.ts';
import { createTestReceiver } from '../../webhooks/test-receiver.ts';
import { WIFI } from '../../world.ts';
import { startFive } from './world.ts';

const KEPT = { sessionExpiryInterval: 60 };

t.test('a command says what it is, and how long it is wanted', async (t) => {
  const { world, tenant } = await startFive(t);
  const device = await world.activatedDevice(tenant, { level: 5, connect: { properties: KEPT } });
  const put = (query = '') => tenant.api.put(`${device.path}/settings/wifi${query}`, { json: WIFI });
  await put();
  const plain = await device.link.command();
  t.same({ ...plain.packet.properties }, { payloadFormatIndicator: true, contentType: 'application/json' });
  device.link.puback(plain.packet);

  await t.test('[MQTT-3.3.2-6] the message expiry is what is left of expireIn', async (t) => {
    await put('?expireIn=60');
    t.equal((await device.link.command()).packet.properties?.messageExpiryInterval, 60);
    world.clock.advance(25_500);
    await device.link.drop();
    const again = await world.connect({ ...device, level: 5, connect: { properties: KEPT } });
    await again.command(); // the first one has its PUBACK, and no answer
    const { packet, transactionId } = await again.command();
    t.equal(packet.properties?.messageExpiryInterval, 35);
    again.puback(packet);
    again.send({ cmd: 'pingreq' });
    await again.next('pingresp');
    await again.drop();
    const third = await world.connect({ ...device, level: 5, connect: { properties: KEPT } });
    await third.command();
    const delivered = await third.command();
    t.equal(delivered.transactionId, transactionId);
    t.equal(delivered.packet.properties?.messageExpiryInterval, undefined, 'a delivered command does not expire');
  });
});

t.test('a command belongs to the trace of its caller', async (t) => {
  const { endpoint } = await createTestCollector(t);
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const { world, tenant } = await startFive(t, { env: tracing });
  const device = await world.activatedDevice(tenant, { level: 5, connect: { properties: KEPT } });
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01` };
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI, headers });
  const { packet } = await device.link.command();
  t.match(packet.properties?.userProperties, { traceparent: new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`) });
});

t.test('[MQTT-3.3.4-9] no more messages are under way than the device takes, and others are not held up', async (t) => {
  const { world, tenant } = await startFive(t);
  const connect = { properties: { ...KEPT, receiveMaximum: 2 } };
  const { link, path } = await world.activatedDevice(tenant, { level: 5, connect });
  const sent: number[] = [];
  for (let number = 0; number < 6; number += 1)
    sent.push((await tenant.api.put(`${path}/settings/wifi`, { json: WIFI })).body.transactionId);
  const first = [await link.command(), await link.command()];
  link.publish('events', 'no JSON'); // its error is a message with QoS 1 as well
  t.equal((await link.next('puback')).reasonCode, 0x99);
  link.send({ cmd: 'pingreq' });
  await link.next('pingresp');
  await world.idle();
  t.same(link.pending('publish'), [], '[MQTT-3.3.4-10] only PUBLISHes wait');
  const got = first.map(({ transactionId }) => transactionId);
  let errors = 0;
  let unanswered = first.map(({ packet }) => packet);
  while (got.length < sent.length || errors === 0) {
    const packet = unanswered.shift();
    if (packet) link.puback(packet);
    const next = await link.next('publish');
    unanswered = [...unanswered, next];
    t.ok(unanswered.length <= 2);
    if (next.topic.endsWith('/errors')) errors += 1;
    else got.push((JSON.parse(next.payload.toString()) as { transactionId: number }).transactionId);
  }
  t.same(got, sent, 'in their order');
});

t.test('a device that takes many messages gets more than the usual number of commands', async (t) => {
  const { world, tenant } = await startFive(t);
  const connect = { properties: { ...KEPT, receiveMaximum: 30 } };
  const { link, path } = await world.activatedDevice(tenant, { level: 5, connect });
  for (let number = 0; number < 35; number += 1) await tenant.api.put(`${path}/settings/wifi`, { json: WIFI });
  for (let number = 0; number < 30; number += 1) await link.command();
  await world.idle();
  t.same(link.pending('publish'), []);
});

t.test('[MQTT-3.1.2-24] [MQTT-3.1.2-25] a packet that is too large for the device is not sent', async (t) => {
  const { world, tenant } = await startFive(t);
  const connect = { properties: { ...KEPT, maximumPacketSize: 1024 } };
  const { link, path } = await world.activatedDevice(tenant, { level: 5, connect });
  const many = Array.from({ length: 10 }, (_, index) => ({
    ...WIFI[0],
    ssid: `${index}${'x'.repeat(30)}`,
    password: 'y'.repeat(60),
  }));
  const large = await tenant.api.put(`${path}/settings/wifi`, { json: many });
  t.equal(large.status, 201);
  const small = await tenant.api.put(`${path}/settings/wifi`, { json: WIFI });
  t.equal((await link.command()).transactionId, small.body.transactionId, 'the next one is not held up');
  t.match((await tenant.event()).data.transaction, {
    transactionId: large.body.transactionId,
    status: 'failed',
    error: { code: 'PACKET_TOO_LARGE', message: /1024 bytes/ },
  });
});

t.test(
  '[MQTT-4.4.0-2] a command that the device refuses with its PUBACK has failed, and does not come again',
  async (t) => {
    const { world, tenant } = await startFive(t);
    const device = await world.activatedDevice(tenant, { level: 5, connect: { properties: KEPT } });
    const { transactionId } = (await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).body;
    const { packet } = await device.link.command();
    const properties = { reasonString: 'no room' };
    device.link.send({ cmd: 'puback', messageId: packet.messageId, reasonCode: 0x97, properties });
    t.match((await tenant.event()).data.transaction, {
      transactionId,
      status: 'failed',
      error: { code: 'NOT_ACCEPTED', message: 'the device refused it with 0x97: no room' },
    });
    await device.link.drop();
    const again = await world.connect({ ...device, level: 5, connect: { properties: KEPT } });
    await world.idle();
    again.send({ cmd: 'pingreq' });
    await again.next('pingresp');
    t.same(again.pending('publish'), []);
  },
);

t.test('requests', async (t) => {
  const { world, tenant } = await startFive(t);
  const customer = await createTestReceiver(t);
  await tenant.api.patch(tenant.path, { json: { fileUploadGetUrl: customer.url, fileUploadEvent: customer.url } });
  customer.answer(() => ({
    headers: { 'content-type': 'application/json' },
    body: '{"uploadUrl":"https://store.example/1"}',
  }));
  const { link, deviceId } = await world.activatedDevice(tenant, { level: 5, connect: { properties: KEPT } });
  const ask = (requestId: string, properties: Record<string, unknown>): number =>
    link.publish(
      'requests',
      {
        requestId,
        type: 'fileUploadUrl',
        data: { fileId: requestId, name: `${requestId}.jpg`, size: 3, contentType: 'image/jpeg' },
      },
      { properties },
    );
  const response = async () => {
    const packet = await link.next('publish');
    link.puback(packet);
    return packet;
  };

  await t.test('[MQTT-3.3.2-16] a response has the correlation data of its request', async (t) => {
    const data = { a: Buffer.from([0, 1, 255]), b: Buffer.from('b') };
    ask('a', { correlationData: data.a });
    ask('b', { correlationData: data.b, responseTopic: `devices/${deviceId}/responses` });
    ask('c', {});
    for (let count = 0; count < 3; count += 1) {
      const packet = await response();
      const { requestId } = JSON.parse(packet.payload.toString()) as { requestId: string };
      t.equal(packet.topic, `devices/${deviceId}/responses`);
      t.same(packet.properties?.correlationData, data[requestId as 'a']);
    }
  });
  await t.test('another response topic is refused', async (t) => {
    for (let count = 0; count < 3; count += 1) await link.next('puback');
    ask('d', { responseTopic: `devices/${deviceId}/errors` });
    t.match(await link.next('puback'), {
      reasonCode: 0x90,
      properties: { reasonString: /on devices\/\d+\/responses only/ },
    });
    await world.idle();
    t.same(link.pending('publish'), []);
  });
});
