import t from 'tap';
import { checkMessage } from '../contract/checked-messages.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test(
  'a message that is wrong is answered on the errors topic, acknowledged and dropped; the connection stays',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const { deviceId, link } = await world.activatedDevice(tenant);
    const bad: [string, string | Buffer | object, string, string[]][] = [
      ['acks', '{"transactionId":', 'json_invalid', ['body']],
      ['acks', '', 'json_invalid', ['body']],
      ['acks', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'json_invalid', ['body']],
      ['acks', '[]', 'dict_type', ['body']],
      ['acks', { status: 'succeeded' }, 'missing', ['body', 'transactionId']],
      ['acks', { transactionId: 'x', status: 'succeeded' }, 'int_type', ['body', 'transactionId']],
      ['acks', { transactionId: 1, status: 'done' }, 'enum', ['body', 'status']],
      ['acks', { transactionId: 1, status: 'processing', progress: 101 }, 'less_than_equal', ['body', 'progress']],
      ['acks', { transactionId: 1, status: 'succeeded', extra: 1 }, 'extra_forbidden', ['body', 'extra']],
      [
        'acks',
        `{"transactionId":1,"status":"succeeded","result":${'{"a":'.repeat(9000)}1${'}'.repeat(9001)}`,
        'less_than_equal',
        ['body', 'result'],
      ],
      ['status', { battery: { level: 'full', charging: true } }, 'int_type', ['body', 'battery', 'level']],
      ['events', { type: 'call.started' }, 'missing', ['body', 'eventId']],
      ['requests', { requestId: 'r', type: 'x' }, 'missing', ['body', 'data']],
    ];
    for (const [kind, payload, type, loc] of bad) {
      link.publish(kind, payload);
      const packet = await link.next('publish');
      t.equal(packet.topic, `devices/${deviceId}/errors`);
      const fault = checkMessage(packet.topic, packet.payload) as {
        topic: string;
        details: { type: string; loc: string[] }[];
      };
      t.equal(fault.topic, `devices/${deviceId}/${kind}`);
      t.ok(
        fault.details.some((detail) => detail.type === type && detail.loc.join() === loc.join()),
        `${kind} ${JSON.stringify(payload).slice(0, 200)}: ${JSON.stringify(fault.details)}`,
      );
      link.puback(packet);
      await link.next('puback');
    }
    t.ok(world.service.isConnected(deviceId));
  },
);

t.test('all faults of a message are named at once', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  link.publish('acks', { transactionId: 'x', status: 'done', more: true });
  const fault = JSON.parse((await link.next('publish')).payload.toString()) as { details: { type: string }[] };
  t.same(fault.details.map(({ type }) => type).sort(), ['enum', 'extra_forbidden', 'int_type']);
});

t.test('a request that is not served is answered on the responses topic', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link } = await world.activatedDevice(tenant);
  link.publish('requests', { requestId: 'r-1', type: 'weather', data: {} });
  const packet = await link.next('publish');
  t.equal(packet.topic, `devices/${deviceId}/responses`);
  t.match(checkMessage(packet.topic, packet.payload), { requestId: 'r-1', error: { code: 'UNSUPPORTED' } });
});

t.test('an ack of QoS 0 and one of QoS 2 settle as well, and a repeated QoS 2 packet settles once', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const first = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
  link.publish('acks', { transactionId: first, status: 'succeeded' }, { qos: 0 });
  t.match((await tenant.event()).data.transaction, { transactionId: first, status: 'succeeded' });
  const second = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
  const messageId = link.publish('acks', { transactionId: second, status: 'succeeded' }, { qos: 2, messageId: 77 });
  t.ok(messageId);
  await link.next('pubrec');
  link.publish('acks', { transactionId: second, status: 'succeeded' }, { qos: 2, messageId: 77, dup: true });
  await link.next('pubrec');
  link.send({ cmd: 'pubrel', messageId: 77 });
  await link.next('pubcomp');
  t.match((await tenant.event()).data.transaction, { transactionId: second, status: 'succeeded' });
  await world.idle();
  t.equal(tenant.receiver.requests.length, 3, 'activation and two results');
});

t.test('devices cannot retain', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link } = await world.activatedDevice(tenant);
  link.publish('status', {}, { retain: true });
  await link.next('puback');
  await link.subscribe(`devices/${deviceId}/commands`);
  await world.idle();
  t.same(link.pending('publish'), []);
});

t.test('a packet identifier of 0 closes the connection', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link } = await world.activatedDevice(tenant);
  const topic = Buffer.from(`devices/${deviceId}/status`);
  const body = Buffer.concat([Buffer.from([0, topic.length]), topic, Buffer.from([0, 0]), Buffer.from('{}')]);
  link.socket.write(Buffer.concat([Buffer.from([0x32, body.length]), body]));
  await link.closed;
  t.same(link.pending('puback'), []);
});

t.test('devices that leave the answers on the errors topic unacknowledged get a bounded number of them', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  for (let i = 0; i < 80; i += 1) {
    link.publish('acks', 'no');
    await link.next('puback');
  }
  await world.idle();
  t.equal(link.pending('publish').length, 64);
});
