import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { faultsOf } from './operations.ts';

const NULLS = {
  lang: null,
  firmwareVersion: null,
  managementClientVersion: null,
  battery: null,
  storage: null,
  network: null,
  bluetooth: null,
  software: null,
};
// The fake clock's start, in the zone of the tests.
const NOW = '2026-11-20T18:30:00.123456';
const at = (seconds: string): string => NOW.replace(':00.', `:${seconds}.`);

const FULL = {
  lang: 'ja-JP',
  firmwareVersion: '9.001.0',
  managementClientVersion: '2.3.1',
  battery: { level: 80, charging: false },
  storage: { total: 64_000_000_000, free: 1 },
  network: { type: 'wifi', ssid: 'office', rssi: -60 },
  bluetooth: { enabled: true },
  software: [{ package: 'com.example.camera', version: '1.0.0', versionCode: 1 }],
};

t.test('ops 7, 8 and 9', async (t) => {
  const clock = createFakeClock();
  const world = await startWorld(t, { clock });
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const device = await world.activatedDevice(tenant);
  const status = async (of = device) => (await api.get(`${of.path}/status`)).body;
  const report = async (body: object) => {
    device.link.publish('status', body);
    await device.link.next('puback');
  };

  t.test(
    'op 7 shows the reported status, null for fields without a report, and the time of the last report',
    async (t) => {
      const { deviceId } = device;
      t.same(await status(), { deviceId, connected: true, lastSeenAt: NOW, ...NULLS, reportedAt: null });
      clock.advance(1000);
      await report({ lang: 'en', battery: { level: 3, charging: true } });
      const first = { ...NULLS, lang: 'en', battery: { level: 3, charging: true }, reportedAt: at('01') };
      t.same(await status(), { deviceId, connected: true, lastSeenAt: at('01'), ...first });
      clock.advance(1000);
      await report(FULL);
      t.same(await status(), { deviceId, connected: true, lastSeenAt: at('02'), ...FULL, reportedAt: at('02') });
      clock.advance(1000);
      await report({});
      t.match(await status(), { lang: 'ja-JP', reportedAt: at('03') }, 'a report of nothing is a report');
      await report({ network: { type: 'mobile', ssid: null, rssi: null }, software: [] });
      t.match(await status(), { network: { type: 'mobile', ssid: null, rssi: null }, software: [] });
    },
  );

  t.test('op 8 lists the activated devices of the application by deviceId, in pages', async (t) => {
    const list = `${path}/devices/status`;
    t.same((await api.get(list)).body, { devices: [await status()], total: 1 });
    const offline = await world.activatedDevice(tenant);
    await offline.link.drop();
    const waiting = await world.registerDevice();
    t.equal((await api.post(`${path}/devices/${waiting.deviceId}`)).status, 201);
    await world.registerDevice();
    const { body } = await api.get(list);
    t.same(body, { devices: [await status(), await status(offline)], total: 2 });
    t.match(body.devices, [{ connected: true }, { connected: false, lang: null, reportedAt: null }]);

    const first = await api.get(`${list}?limit=1`);
    t.same(first.body, { devices: [body.devices[0]], total: 2 });
    const next = /^<(.+)>; rel="next"$/.exec(String(first.headers['link']))?.[1] ?? '';
    t.equal(next, `${world.service.addresses.http}${list}?limit=1&after=${device.deviceId}`);
    const second = await api.get(next.slice(world.service.addresses.http.length));
    t.same(second.body, { devices: [body.devices[1]], total: 2 });
    t.equal(second.headers['link'], undefined);
    t.same((await api.get(`${list}?offset=1&limit=1`)).body, second.body, 'offset is good for every page, too');
    t.match((await api.get(`${list}?offset=0&limit=1`)).headers['link'], `${list}?limit=1&after=`);
    for (const query of ['offset=2', `after=${offline.deviceId}`, `after=${device.deviceId}&offset=1`]) {
      const answer = await api.get(`${list}?${query}`);
      t.same([answer.body, answer.headers['link']], [{ devices: [], total: 2 }, undefined], query);
    }

    const other = await world.createTenant('other');
    t.same((await other.api.get(`${other.path}/devices/status`)).body, { devices: [], total: 0 });
    await api.delete(offline.path);
    const again = await world.connect(offline);
    await again.ack({ transactionId: (await again.command()).transactionId, status: 'succeeded' });
    t.same((await api.get(list)).body, { devices: [body.devices[0]], total: 1 }, 'without a deactivated one');
    t.match(await api.get(`${offline.path}/status`), { status: 403, body: { message: 'device is not activated.' } });
  });

  t.test('op 8 names the faults of its query', async (t) => {
    for (const [query, fault] of [
      ['limit=0', 'query.limit greater_than_equal'],
      ['limit=1001', 'query.limit less_than_equal'],
      ['offset=-1', 'query.offset greater_than_equal'],
      ['offset=x', 'query.offset int_type'],
      ['after=1', 'query.after string_pattern_mismatch'],
    ] as const) {
      const answer = await api.get(`${path}/devices/status?${query}`);
      t.equal(answer.status, 400);
      t.same(faultsOf(answer), [fault]);
    }
  });

  t.test('on the path of op 8 every other method treats `status` as a deviceId, which is invalid', async (t) => {
    const target = `${path}/devices/status`;
    for (const method of ['POST', 'DELETE']) {
      const answer = await api.request(method, target, { json: {} });
      t.match(answer, { status: 404, body: { reason: 'invalid path parameter.' } }, method);
      t.same(faultsOf(answer), ['pathParameters.deviceId string_pattern_mismatch']);
    }
    for (const method of ['PUT', 'PATCH', 'HEAD']) {
      t.match(await api.request(method, target), { status: 405, headers: { allow: 'GET, POST, DELETE' } }, method);
    }
    for (const below of ['status', 'apps', 'transactions/1', 'connectivity/state']) {
      const method = below === 'apps' ? 'PUT' : 'GET';
      t.equal((await api.request(method, `${target}/${below}`)).status, 404, below);
    }
    t.match(await api.get(`${target}/none`), { status: 403, body: { message: 'wrong url.' } });
  });

  t.test('op 9 shows the entries of administration; null, or no field, where there is none', async (t) => {
    const admin = world.admin();
    const { deviceId } = await world.registerDevice();
    const read = async () => (await api.get(`/v1/devices/${deviceId}/hardware-properties`)).body;
    const enter = (hardwareProperties: unknown) =>
      admin.patch(`/admin/v1/devices/${deviceId}`, { json: { hardwareProperties } });
    t.same(await read(), { deviceId, model: null, camera: null });
    const properties = {
      model: { name: 'Lens', identifier: 'L-1', description: 'A camera', shape: 'glasses' },
      camera: [
        { direction: 'front', mountedPosition: 'left', resolution: { maxWidth: 3840, maxHeight: 2160 } },
        { direction: 'back' },
      ],
      macAddressWifi: '00:1b:63:84:45:E6',
      macAddressBluetooth: 'AA:BB:CC:DD:EE:FF',
    };
    t.equal((await enter(properties)).status, 200);
    t.same(await read(), { deviceId, ...properties });
    await enter({ model: null, macAddressWifi: '00:1b:63:84:45:e6' });
    t.same(await read(), { deviceId, model: null, camera: null, macAddressWifi: '00:1b:63:84:45:e6' });
    await admin.patch(`/admin/v1/devices/${deviceId}`, { json: {} });
    t.match(await read(), { macAddressWifi: '00:1b:63:84:45:e6' }, 'what is left out stays');
    await enter(null);
    t.same(await read(), { deviceId, model: null, camera: null });
  });

  t.test('administration takes a MAC address as colon-separated pairs only, and no field of any length', async (t) => {
    const enter = (hardwareProperties: unknown) =>
      world.admin().patch(`/admin/v1/devices/${device.deviceId}`, { json: { hardwareProperties } });
    for (const mac of [
      'AA:BB:CC:DD:EE',
      'AA-BB-CC-DD-EE-FF',
      'AABBCCDDEEFF',
      'AA:BB:CC:DD:EE:FG',
      'AA:BB:CC:DD:EE:FF ',
      '',
    ]) {
      const answer = await enter({ macAddressWifi: mac, macAddressBluetooth: mac });
      t.equal(answer.status, 400);
      t.same(faultsOf(answer), [
        'body.hardwareProperties.macAddressBluetooth string_pattern_mismatch',
        'body.hardwareProperties.macAddressWifi string_pattern_mismatch',
      ]);
    }
    const answer = await enter({
      model: { name: 'x'.repeat(256), colour: 'red' },
      camera: [{ resolution: { maxWidth: -1 } }],
    });
    t.same(faultsOf(answer), [
      'body.hardwareProperties.camera.0.resolution.maxHeight missing',
      'body.hardwareProperties.camera.0.resolution.maxWidth greater_than_equal',
      'body.hardwareProperties.model.colour extra_forbidden',
      'body.hardwareProperties.model.name string_too_long',
    ]);
  });

  t.test('op 9 is for the developer of the device, activated or not', async (t) => {
    const foreign = await world.registerDevice('other');
    const refused = { status: 403, body: { message: 'device information unavailable.' } };
    t.match(await api.get(`/v1/devices/${foreign.deviceId}/hardware-properties`), refused);
    t.match(await api.get(`/v1/devices/${deviceIdOf(4711)}/hardware-properties`), refused, 'not registered');
    t.equal((await api.get(`/v1/devices/${device.deviceId}/hardware-properties`)).status, 200);
    const made = await world.admin().post('/admin/v1/developers/dev/applications', { json: { name: 'second' } });
    const second = await world.clientOf(made.body.applicationId, made.body.secret);
    t.equal((await second.get(`/v1/devices/${device.deviceId}/hardware-properties`)).status, 200);
  });

  t.test('op 9: another method than GET is answered 405 with Allow, also without a token', async (t) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      for (const client of [api, world.anonymous()]) {
        const answer = await client.request(method, `/v1/devices/${device.deviceId}/hardware-properties`);
        t.match(answer, { status: 405, headers: { allow: 'GET' } }, method);
      }
    }
    t.equal((await api.get('/v1/devices/1/hardware-properties')).status, 404);
    t.match(await api.get('/v1/devices/1'), { status: 403, body: { message: 'wrong url.' } });
  });
});
