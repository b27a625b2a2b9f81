import { Writable } from 'node:stream';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { checkMessage } from '../contract/checked-messages.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { toldOf } from './told-faults.ts';

const deep = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;

t.test(
  'an unreadable message is reported on the errors topic, gets a PUBACK and is dropped; the connection stays',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const { deviceId, link } = await world.activatedDevice(tenant);
    const bad: [kind: string, payload: string | Buffer | object, fault: string, identity: object][] = [
      ['acks', '{"transactionId":', 'body json_invalid', {}],
      ['acks', '', 'body json_invalid', {}],
      ['acks', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'body json_invalid', {}],
      ['acks', '[]', 'body dict_type', {}],
      ['acks', { status: 'succeeded' }, 'body.transactionId missing', {}],
      ['acks', { transactionId: 'x', status: 'succeeded' }, 'body.transactionId int_type', {}],
      ['acks', { transactionId: 1, status: 'done' }, 'body.status enum', { transactionId: 1 }],
      ['acks', { transactionId: 77, status: 'succeeded' }, '', { transactionId: 77 }],
      ['status', '[0,0]', 'body dict_type', {}],
      ['events', { type: 'call.started' }, 'body.eventId missing', {}],
      ['events', { eventId: 'e-1', type: 'call.started' }, 'body.data missing', { eventId: 'e-1' }],
      ['requests', { requestId: 'r', type: 'x' }, 'body.data missing', { requestId: 'r' }],
      ['requests', { requestId: '', type: 'x', data: {} }, 'body.requestId string_too_short', {}],
    ];
    for (const [kind, payload, fault, identity] of bad) {
      const name = `${kind} ${JSON.stringify(payload)}`;
      const told = await toldOf(link, kind, payload);
      t.equal(told.topic, `devices/${deviceId}/${kind}`);
      t.ok(fault === '' || told.faults.includes(fault), `${name}: ${told.faults.join()}`);
      t.same(told.identity, identity, name);
    }
    t.ok(world.service.isConnected(deviceId));
  },
);

t.test('all faults of a message are named at once, in sentences', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  const { faults } = await toldOf(link, 'acks', { transactionId: 'x', status: 'done', progress: 101, more: true });
  t.same(faults.sort(), ['body.progress less_than_equal', 'body.status enum', 'body.transactionId int_type']);
  const { details } = await toldOf(link, 'events', { eventId: 'e', type: 'weather', data: {} });
  t.match(details.find(({ loc }) => loc.includes('type'))?.msg, /or call. or custom. and a name of letters/);
  const event = { eventId: 'e', type: 'custom.a', occurredAt: '2026-11-20 09:30', data: {} };
  t.match(
    (await toldOf(link, 'events', event)).details[0]?.msg,
    /ISO 8601 with an offset, as 2026-11-20T09:30:00.123Z/,
  );
  for (const { msg } of details) t.notMatch(msg, /[\^\\$]/, 'no regular expressions');
});

t.test('an ack settles its transaction, whatever else is in it', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const told = { reason: 'parts of the message were left out.' };
  const cases: [ack: object | string, faults: string[], record: object][] = [
    [{ status: 'succeeded', durationMs: 12 }, [], { status: 'succeeded', result: null }],
    [{ status: 'succeeded', progress: 101, result: { a: 1 } }, ['body.progress less_than_equal'], { result: { a: 1 } }],
    [{ status: 'succeeded', progress: 'all', result: [] }, ['body.progress int_type', 'body.result dict_type'], {}],
    [{ status: 'succeeded', result: { a: 'x'.repeat(65_536) } }, ['body.result less_than_equal'], { result: null }],
    [
      { status: 'succeeded', result: { a: '\u0001'.repeat(10_923) } },
      ['body.result less_than_equal'],
      { result: null },
    ],
    [{ status: 'succeeded', result: { a: 'x'.repeat(60_000) } }, [], { result: { a: 'x'.repeat(60_000) } }],
    [`"status":"succeeded","result":${deep}`, ['body.result less_than_equal'], { result: null }],
    [{ status: 'failed' }, [], { error: { code: 'INTERNAL', message: 'the device gave no reason.' } }],
    [
      { status: 'failed', error: 'broken' },
      ['body.error dict_type'],
      { error: { code: 'INTERNAL', message: 'the device gave no reason.' } },
    ],
    [
      { status: 'failed', error: { code: 'STORAGE_FULL', message: 7, at: { sector: 4 } } },
      ['body.error.message string_type'],
      { error: { code: 'STORAGE_FULL', message: 'the device gave no reason.' } },
    ],
    [
      { status: 'failed', error: { code: '', message: 'no room' } },
      ['body.error.code string_too_short'],
      { error: { code: 'INTERNAL', message: 'no room' } },
    ],
    [
      { status: 'succeeded', result: null, error: null },
      ['body.result dict_type', 'body.error dict_type'],
      { status: 'succeeded', result: null, error: null },
    ],
  ];
  for (const [ack, faults, record] of cases) {
    const transactionId = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
    link.puback((await link.command()).packet);
    const fields = typeof ack === 'string' ? ack : JSON.stringify(ack).slice(1, -1);
    const text = `{"transactionId":${transactionId},${fields}}`;
    const name = text.slice(0, 100);
    if (faults.length === 0) await link.ack(JSON.parse(text));
    else {
      const { details: _, topic: __, ...rest } = await toldOf(link, 'acks', text);
      t.same(rest, { ...told, faults, identity: { transactionId } }, name);
    }
    t.match((await tenant.event()).data.transaction, { transactionId, ...record }, name);
    const { body } = await tenant.api.get(`${path}/transactions/${transactionId}`);
    t.match(body, record, name);
    t.ok(body.completedAt, name);
  }
  t.same(link.pending('publish'), [], 'nothing else was told');
});

t.test('the valid parts of a status are stored', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const app = { package: 'com.example.a', version: '1', versionCode: 1 };
  await link.ack({ transactionId: 1, status: 'succeeded' });
  link.publish('status', {
    lang: 'ja',
    steps: 7,
    battery: { level: 80, charging: true, health: 'good' },
    software: [{ ...app, size: 3 }],
  });
  await link.next('puback');
  t.same(link.pending('publish'), [], 'what nobody knows is ignored, at every level');
  const reported = async () => (await tenant.api.get(`${path}/status`)).body;
  t.match(await reported(), { lang: 'ja', battery: { level: 80, charging: true }, software: [app] });
  const { faults } = await toldOf(link, 'status', {
    lang: 5,
    firmwareVersion: '9.1',
    battery: { level: 'full', charging: false },
    storage: { total: 2, free: 1 },
    software: [app, { ...app, versionCode: 1.5 }],
    network: { type: 'wifi', ssid: null },
  });
  t.same(faults.sort(), [
    'body.battery.level int_type',
    'body.lang string_type',
    'body.network.rssi missing',
    'body.software.1.versionCode int_type',
  ]);
  t.match(await reported(), {
    lang: 'ja',
    firmwareVersion: '9.1',
    battery: { level: 80, charging: true },
    storage: { total: 2, free: 1 },
    software: [app],
    network: { type: 'wifi', ssid: null, rssi: null },
  });
  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  t.match(text, /lapel_mqtt_unknown_members_total\{topic="status"\} 3/);
  t.match(text, /lapel_mqtt_partly_taken_messages_total\{topic="status"\} 1/);
});

t.test('unknown members of events and requests are ignored', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link } = await world.activatedDevice(tenant);
  const data = { macAddress: 'AA:BB:CC:DD:EE:FF', name: null };
  const event = { eventId: 'e', type: 'bluetooth.connected', occurredAt: '2026-11-20T09:30:00Z', more: { a: 1 } };
  link.publish('events', { ...event, data: { ...data, rssi: -60 } });
  await link.next('puback');
  t.same((await tenant.event()).data, {
    ...data,
    eventId: 'e',
    applicationId: tenant.applicationId,
    deviceId,
  } as never);
  const asked = { transactionId: 99, reason: 'expired' };
  link.publish('requests', { requestId: 'r', type: 'softwareDownloadUrl', data: asked, priority: 'high' });
  const packet = await link.next('publish');
  t.match(checkMessage(packet.topic, packet.payload), {
    requestId: 'r',
    error: { code: 'INVALID_PARAMETERS', message: 'transaction not found.' },
  });
  const { values } = await world.service.metrics.mqttUnknownMembers.get();
  const counts = values.map(({ labels, value }) => [labels.topic, value]);
  t.same(counts, [
    ['events', 2],
    ['requests', 2],
  ]);
});

t.test('the report on a message is bounded, and lengths of lists are checked before their items', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  const many = await toldOf(link, 'status', `{"software":[${'0,'.repeat(120_000)}0]}`);
  t.same(many.faults, ['body.software less_than_equal']);
  const bad = { package: 'p'.repeat(200), versionCode: 'x' };
  const full = await toldOf(link, 'status', { software: Array.from({ length: 1000 }, () => bad) });
  t.equal(full.details.length, 101);
  t.equal(full.details.at(-1)?.msg, '...and more');
});

t.test('NUL and lone surrogates in texts of devices become U+FFFD, at any depth', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link, path } = await world.activatedDevice(tenant);
  const texts = String.raw`"lang":"a\u0000b","firmwareVersion":"\ud800x\udc00","managementClientVersion":"\ud83d\ude00 \\u0000 \u00e9"`;
  link.publish('status', `{${texts}}`);
  await link.next('puback');
  const expected = { lang: 'a\ufffdb', firmwareVersion: '\ufffdx\ufffd', managementClientVersion: '😀 \\u0000 é' };
  t.match((await tenant.api.get(`${path}/status`)).body, expected);
  const transactionId = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
  const result = String.raw`{"a":[{"\ud800":"\u0000"}]}`;
  link.publish('acks', `{"transactionId":${transactionId},"status":"succeeded","result":${result}}`);
  t.match((await tenant.event()).data.transaction, { result: { a: [{ '\ufffd': '\ufffd' }] } });
  const event = String.raw`"eventId":"\udfff","type":"custom.sos","occurredAt":"2026-11-20T09:30:00Z","data":{"note":"\u0000"}`;
  link.publish('events', `{${event}}`);
  const { data } = await tenant.event();
  t.same(data, { note: '\ufffd', eventId: '\ufffd', applicationId: tenant.applicationId, deviceId } as never);
});

t.test('a publish to a foreign topic gets a PUBACK, is dropped, reported and counted', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const world = await startWorld(t, { log: createLog({ level: 'info', destination }) });
  const tenant = await world.createTenant();
  const victim = await world.activatedDevice(tenant);
  const { transactionId } = (await tenant.api.delete(victim.path)).body;
  victim.link.puback((await victim.link.command()).packet);
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const forged = { transactionId, status: 'succeeded' };
  const topics = [
    `devices/${victim.deviceId}/acks`,
    `devices/${victim.deviceId}/commands`,
    `devices/${victim.deviceId}/errors`,
    `devices/${device.deviceId}/commands`,
    `devices/${device.deviceId}/acks/x`,
    `devices//${device.deviceId}/acks`,
    `/devices/${device.deviceId}/acks`,
    '$SYS/broker',
    'else',
    'x'.repeat(10_000),
  ];
  for (const topic of topics) {
    const { topic: told, reason, details } = await toldOf(link, topic.includes('/') ? topic : `${topic}/`, forged);
    t.same([reason, details], ['a device may not publish to this topic.', []], topic.slice(0, 60));
    t.ok(told.length <= 256 && topic.startsWith(told.slice(0, 4)));
  }
  link.publish(`devices/${victim.deviceId}/commands`, forged, { qos: 2 });
  link.puback(await link.next('publish'));
  link.send({ cmd: 'pubrel', messageId: (await link.next('pubrec')).messageId });
  await link.next('pubcomp');
  link.publish(`devices/${victim.deviceId}/commands`, forged, { qos: 0 });
  await link.next('publish');
  await world.idle();
  t.same(victim.link.pending('publish'), [], 'nobody gets it');
  t.ok(world.service.isConnected(device.deviceId), 'the connection stays');
  t.match((await tenant.api.get(`${victim.path}/transactions/${transactionId}`)).body, { completedAt: null });
  const told = () => lines.filter(({ level, deviceId }) => level === 40 && deviceId === device.deviceId);
  t.equal(told().length, 1, 'one line a minute');
  world.clock.advance(60_000);
  link.publish('else/', forged);
  await link.next('puback');
  t.match(told()[1], { topic: 'else/', leftOut: topics.length + 1 });
  const text = (await world.anonymousAdmin().get('/metrics')).body as string;
  t.match(text, new RegExp(`lapel_mqtt_refused_total\\{reason="publish"\\} ${topics.length + 3}`));
});

t.test('responses, which are kept until their PUBACK, are not granted with QoS 0', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const topics = ['commands', 'responses', 'errors'].map((kind) => ({
    topic: `devices/${device.deviceId}/${kind}`,
    qos: 0,
  }));
  const link = await world.open(device);
  await link.login();
  t.same(await link.subscribe(...topics), [0, 0x80, 0]);
  await link.drop();
  // A session of an earlier release may hold it: its device subscribes anew, and then hears of it.
  const raw = await world.raw();
  await raw.exec(`UPDATE subscriptions SET topic = '${topics[1]!.topic}' WHERE topic = '${topics[2]!.topic}'`);
  t.match(await (await world.open(device)).login(), { returnCode: 0, sessionPresent: false });
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
  const { deviceId, link } = await world.activatedDevice(tenant, { level: 4 });
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

t.test('messages on the errors topic wait for the PUBACKs of earlier ones, up to a bound of bytes', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  for (let i = 0; i < 80; i += 1) {
    link.publish('acks', 'no');
    await link.next('puback');
  }
  await world.idle();
  t.equal(link.pending('publish').length, 64);
  for (let count = 0; count < 80; count += 1) link.puback(await link.next('publish'));
  for (let i = 0; i < 1000; i += 1) {
    link.publish('acks', 'no');
    await link.next('puback');
  }
  await world.idle();
  let taken = 0;
  for (link.send({ cmd: 'pingreq' }); link.pending('publish').length > 0; taken += 1) {
    link.puback(await link.next('publish'));
    await world.idle();
    link.send({ cmd: 'pingreq' });
    await link.next('pingresp');
  }
  t.ok(taken > 64 && taken < 1000, 'and what is more is dropped');
});
