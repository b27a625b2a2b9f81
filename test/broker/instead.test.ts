import t from 'tap';
import { startWorld } from '../world.ts';
import { toldOf } from './told-faults.ts';

const connection = (connectionId: string) => ({ connectionId, movieFile: `${connectionId}.mp4` });

t.test('one wrong member does not cost an event, where another value can take its place', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  for (const setting of ['deviceEvent', 'callFileSendEvent', 'fileUploadEvent'])
    await tenant.api.patch(tenant.path, { json: { [setting]: tenant.receiver.url } });
  const NO_REASON = { code: 'INTERNAL', message: 'the device gave no reason.' };
  const macAddress = '00:11:22:33:44:55';
  const cases: [type: string, data: unknown, fault: string, told: object][] = [
    ['custom.sos', undefined, 'body.data missing', {}],
    ['custom.sos', 'pressed', 'body.data dict_type', {}],
    ['custom.sos', JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`), 'body.data less_than_equal', {}],
    ['custom.sos', { text: 'x'.repeat(40_000) }, 'body.data less_than_equal', {}],
    ['bluetooth.connected', { macAddress, name: 7 }, 'body.data.name string_type', { macAddress, name: null }],
    ['bluetooth.connected', { macAddress }, 'body.data.name missing', { macAddress, name: null }],
    ['recording.failed', { callId: 'c' }, 'body.data.error missing', { callId: 'c', error: NO_REASON }],
    ['recording.failed', { callId: 'c', error: 'full' }, 'body.data.error dict_type', { error: NO_REASON }],
    [
      'recording.failed',
      { callId: 'c', error: { code: 'STORAGE_FULL', message: 'x'.repeat(1001) } },
      'body.data.error.message string_too_long',
      { error: { code: 'STORAGE_FULL', message: NO_REASON.message } },
    ],
    [
      'fileUpload.failed',
      { fileId: 'f', name: 'n', error: { message: 'broken' } },
      'body.data.error.code missing',
      { error: { code: 'INTERNAL', message: 'broken' } },
    ],
  ];
  for (const [index, [type, data, fault, wanted]] of cases.entries()) {
    const eventId = `e-${index}`;
    const { reason, faults, identity } = await toldOf(link, 'events', {
      eventId,
      type,
      occurredAt: '2026-11-20T09:30:00Z',
      data,
    });
    t.same([reason, identity], ['parts of the message were left out.', { eventId }], fault);
    t.ok(faults.includes(fault), `${fault}: ${faults.join()}`);
    t.match(await tenant.event(), { type, data: { eventId, ...wanted } });
  }
  const both = [connection('a'), { connectionId: 'b' }, 'c', connection('d')];
  const { faults } = await toldOf(link, 'events', {
    eventId: 'saved',
    type: 'recording.saved',
    occurredAt: '2026-11-20T09:30:00Z',
    data: { callId: 'c', connections: both },
  });
  t.same(faults.sort(), ['body.data.connections.1.movieFile missing', 'body.data.connections.2 dict_type']);
  const saved = (await tenant.event()) as unknown as { data: { connections: object[] } };
  t.match(saved.data.connections, [{ connectionId: 'a' }, { connectionId: 'd' }], 'a bad item costs no other item');
  t.equal(saved.data.connections.length, 2);
  const refused: [type: string, data: unknown, fault: string][] = [
    ['call.started', {}, 'body.data.callId missing'],
    ['bluetooth.connected', { name: 'n' }, 'body.data.macAddress missing'],
    ['recording.failed', { error: NO_REASON }, 'body.data.callId missing'],
    [
      'recording.saved',
      { callId: 'c', connections: [{ movieFile: 7 }] },
      'body.data.connections.0.movieFile string_type',
    ],
    ['recording.saved', { callId: 'c', connections: [] }, 'body.data.connections greater_than_equal'],
    ['fileUpload.succeeded', { fileId: 'f', name: 'n', size: 'large' }, 'body.data.size int_type'],
  ];
  for (const [type, data, fault] of refused) {
    const told = await toldOf(link, 'events', { eventId: 'r', type, occurredAt: '2026-11-20T09:30:00Z', data });
    t.equal(told.reason, 'invalid request.');
    t.ok(told.faults.includes(fault), `${fault}: ${told.faults.join()}`);
  }
});

t.test('a wrong part of the network of a status costs no other part', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const { faults } = await toldOf(link, 'status', { lang: 'ja', network: { type: 'wifi', ssid: 7, rssi: -50.5 } });
  t.same(faults.sort(), ['body.network.rssi int_type', 'body.network.ssid string_type']);
  const { body } = await tenant.api.get(`${path}/status`);
  t.match(body, { lang: 'ja', network: { type: 'wifi', ssid: null, rssi: null } });
});

t.test('a wrong item of a list costs no other item, and each keeps its own numbers', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { link, path } = await world.activatedDevice(tenant);
  const item = (name: string, code: string) => `{"package":"com.example.${name}","version":"1","versionCode":${code}}`;
  const [first, last] = [item('a', '12345678901234567890'), item('d', '12345678901234567893')];
  const software = [first, item('b', '"2"'), 'null', item('c', '-12345678901234567892'), last];
  const { reason, faults } = await toldOf(link, 'status', `{"lang":"ja","software":[${software.join()}]}`);
  t.equal(reason, 'parts of the message were left out.');
  t.same(faults.sort(), [
    'body.software.1.versionCode int_type',
    'body.software.2 dict_type',
    'body.software.3.versionCode greater_than_equal',
  ]);
  const text = (await tenant.api.get(`${path}/status`, { responseType: 'text' } as object)).body as unknown;
  t.match(text, { lang: 'ja', software: [{ package: 'com.example.a' }, { package: 'com.example.d' }] });
  const [row] = await (await world.raw()).all<{ reported: string }>('SELECT reported FROM device_status');
  t.match(row?.reported, `[${first},${last}]`);

  const none = await toldOf(link, 'status', { software: [7] });
  t.same(none.faults, ['body.software.0 dict_type']);
  t.match((await tenant.api.get(`${path}/status`)).body, { software: [] });
});
