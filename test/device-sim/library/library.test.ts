import { makeApk } from '@lapel/device-sim/files/make-apk';
import { device, fleet, receiver, type SimulatedDevice } from 'lapel/sim';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { createKeyPair, sha256Of, signatureOf } from '../../software/signing.ts';
import { startWorld } from '../../world.ts';

type Four = readonly [SimulatedDevice, SimulatedDevice, SimulatedDevice, SimulatedDevice];

t.test('devices, fleets and receivers of the library at the real service', async (t) => {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock });
  const { admin, http: api, mqtt } = world.service.addresses;
  const service = { mqtt, api, admin, adminToken: world.service.adminToken };
  const devicesOf = async (developer: string): Promise<unknown[]> =>
    (await world.admin().get(`/admin/v1/developers/${developer}/devices`)).body.devices ?? [];

  const cameras = await fleet({ service, count: 4, developer: 'lib', behaviour: { latency: '1ms-5ms' } });
  t.teardown(() => cameras.close());
  const [first, second, third, fourth] = cameras.devices as Four;
  const setLanguage = (deviceId: string, lang = 'de') =>
    cameras.request('setLanguage', { deviceId, body: { lang } }).then((answer) => Number(answer['transactionId']));

  await t.test('a fleet is registered, connected and activated', async (t) => {
    t.match(cameras.counts(), { devices: 4, connected: 4, outstanding: 0, commands: 4, violations: 0 });
    for (const { state, online } of cameras.devices)
      t.match({ state, online }, { state: { activation: { applicationId: String } }, online: true });
    t.equal(first.state.activation?.applicationId, cameras.application?.applicationId);
    for (const one of cameras.devices) {
      await one.command('activate');
      await cameras.receiver.webhook({ deviceId: one.deviceId, operation: 'activate' });
    }
    t.equal((await devicesOf('lib')).length, 4);
  });

  await t.test('a device does what it usually does, unless a handler decides', async (t) => {
    const id = await setLanguage(first.deviceId, 'fr');
    t.match(await first.command('setLanguage'), { transactionId: id, parameters: { lang: 'fr' }, attempt: 1 });
    t.match(await cameras.receiver.webhook({ transactionId: id }), { type: 'transaction.succeeded' });
    t.equal(first.state.lang, 'fr');

    const seen: number[] = [];
    const end = first.on('setLanguage', async ({ transactionId }, camera) => {
      t.equal(camera, first);
      seen.push(transactionId);
      await Promise.resolve();
      return { fail: 'STORAGE_FULL' };
    });
    const failed = await setLanguage(first.deviceId, 'it');
    const { type, data } = await cameras.receiver.webhook({ transactionId: failed });
    t.equal(type, 'transaction.failed');
    t.match(data.transaction, { operation: 'setLanguage', error: { code: 'STORAGE_FULL' } });
    t.equal(first.state.lang, 'fr', 'its state is as before');
    t.strictSame(seen, [failed]);
    end();
    const again = await setLanguage(first.deviceId, 'nl');
    t.match(await cameras.receiver.webhook({ transactionId: again }), { type: 'transaction.succeeded' });
    t.equal(first.state.lang, 'nl');
  });

  await t.test('a handler can give the result, and can leave a command without an answer', async (t) => {
    const { promise: decision, resolve: decide } = Promise.withResolvers<void>();
    const end = cameras.on('getConnectivityState', async () => {
      await decision;
      return { result: { type: 'bluetooth', enabled: true } };
    });
    const { transactionId } = await cameras.request('readConnectivity', {
      deviceId: second.deviceId,
      query: { type: 'bluetooth' },
    });
    await second.command('getConnectivityState');
    const later = await setLanguage(second.deviceId, 'es');
    await second.command('setLanguage');
    t.not(second.state.lang, 'es', 'a later command waits for the handler');
    decide();
    const { data } = await cameras.receiver.webhook({ transactionId });
    t.match(data.transaction, { status: 'succeeded', result: { type: 'bluetooth', enabled: true } });
    t.equal(second.state.bluetooth.enabled, false, 'its state is as before');
    await cameras.receiver.webhook({ transactionId: later });
    t.equal(second.state.lang, 'es');
    end();

    const undo = second.on('setLanguage', () => 'never');
    const open = await setLanguage(second.deviceId, 'pt');
    await second.command('setLanguage');
    await second.idle();
    await world.idle();
    t.equal(second.state.lang, 'es');
    undo();
    await second.drop();
    await second.connect();
    const next = await setLanguage(second.deviceId, 'ro');
    await cameras.receiver.webhook({ transactionId: next });
    t.equal(second.state.lang, 'ro', 'the next command is carried out');
    await world.idle(); // so the time of the PUBACK before it is stored
    const { status, attempts } = await cameras.request('readTransaction', {
      deviceId: second.deviceId,
      transactionId: open,
    });
    t.match({ status, attempts }, { status: 'delivered', attempts: 2 }, 'the repetition has no answer either');
  });

  await t.test('events arrive at the receiver', async (t) => {
    const { eventId } = await third.event('custom.docked', { bay: 3 });
    t.match(await cameras.receiver.webhook('custom.docked'), { data: { deviceId: third.deviceId, eventId } });
    await third.pressButton();
    t.match(await cameras.receiver.webhook('custom.sos'), { data: { deviceId: third.deviceId } });
    const callId = third.call({ milliseconds: 0, recorded: true });
    t.throws(() => third.call(), /is in another call/);
    const fileId = third.uploadFile();
    await third.idle();
    t.match(await cameras.receiver.webhook('recording.saved'), { data: { callId } });
    t.match(await cameras.receiver.webhook((webhook) => webhook.data['fileId'] === fileId), {
      type: 'fileUpload.succeeded',
    });
    t.equal(cameras.receiver.files.count, 3);
    t.ok(cameras.receiver.files.bytes > 100_000);
  });

  await t.test('a device that is offline gets its commands afterwards', async (t) => {
    await fourth.disconnect();
    t.equal(fourth.online, false);
    await setLanguage(fourth.deviceId, 'sv');
    const told = fourth.event('custom.later');
    await fourth.connect();
    t.match(await fourth.command('setLanguage'), { parameters: { lang: 'sv' } });
    t.match(await told, { type: 'custom.later' });
    await cameras.idle();
    t.equal(fourth.state.lang, 'sv');
  });

  await t.test('a wait that is in vain says what came instead', async (t) => {
    await t.rejects(first.command('setApn', { within: 1 }), {
      message: new RegExp(
        `^no setApn arrived at device ${first.deviceId} \\(online\\) within 1 ms; so far: activate, setLanguage`,
      ),
    });
    await t.rejects(
      cameras.receiver.webhook({ deviceId: 'x' }, { within: 1 }),
      /^no webhook { deviceId: 'x' } arrived within 1 ms; so far: .*custom\.sos/,
    );
  });

  await t.test('a device of an application of its own, with handlers for waiting commands', async (t) => {
    const tenant = await world.createTenant();
    const { deviceId, credential } = await world.registerDevice();
    await t.rejects(device({ mqtt, deviceId, credential: 'wrong' }), /cannot connect to mqtt:.*: /);
    const path = `${tenant.path}/devices/${deviceId}`;
    await tenant.api.post(path, { json: {} });
    const camera = await device({ mqtt, deviceId, credential, on: { activate: () => ({ fail: 'INTERNAL' }) } });
    t.match(await tenant.event(), {
      type: 'transaction.failed',
      data: { transaction: { error: { code: 'INTERNAL' } } },
    });
    t.equal(camera.state.activation, null);
    await t.rejects(camera.event('custom.x'), /is not activated/);
    const waiting = camera.command('setApn');
    await camera.close();
    await t.rejects(waiting, /is closed/);
    t.equal(camera.online, false);

    const { applicationId, secret } = tenant;
    const before = (await tenant.api.get(tenant.path)).body;
    const hooks = await receiver({ api, application: { applicationId, secret } });
    await using again = await device({ mqtt, deviceId, credential });
    await tenant.api.post(path, { json: {} });
    t.match(await hooks.webhook('transaction.succeeded'), { data: { deviceId } });
    t.equal(again.state.activation?.applicationId, applicationId);
    hooks.play('fail');
    await again.pressButton();
    await world.idle();
    hooks.play();
    clock.advance(10_000);
    t.match(await hooks.webhook(), { type: 'custom.sos' });
    t.equal(hooks.webhooks.length, 2);
    await hooks.close();
    const { authenticationKey: _, ...after } = (await tenant.api.get(tenant.path)).body;
    t.match(before, after, 'the URLs are as before');
  });

  await t.test('a device with a trusted key installs only what the key has signed', async (t) => {
    const key = createKeyPair();
    const admin = world.admin();
    await using some = await fleet({ service, count: 1, developer: 'careful', trustedKeys: [key.publicKey] });
    const [camera] = some.devices;
    const { deviceId } = camera;
    await camera.command('activate');
    const { applicationId, secret } = some.application!;
    const { publicKey } = key;
    await admin.post('/admin/v1/developers/careful/software-keys', { json: { name: 'release', publicKey } });
    const own = await world.clientOf(applicationId, secret);
    const path = `/v1/applications/${applicationId}`;
    const put = async (url: string, body: Uint8Array<ArrayBuffer>) => void (await fetch(url, { method: 'PUT', body }));
    const install = async (name: string, version: string) => {
      await some.request('installSoftware', { deviceId, body: { package: name, version } });
      const { data } = await some.receiver.webhook({ operation: 'installSoftware' });
      return data.transaction?.error?.code ?? data.transaction?.status;
    };
    for (const version of ['1.0.0', '1.1.0']) {
      const name = { package: 'com.example.careful', version };
      const attributes = [
        { name: 'package', value: name.package },
        { name: 'versionName', value: version },
        { name: 'versionCode', value: version === '1.0.0' ? 1 : 2 },
      ];
      const file = new Uint8Array(makeApk({ attributes }));
      const { body } = await own.post(`${path}/apps`, { json: { ...name, fileSize: file.length } });
      await put(body.urlList[0].uploadUrl, file);
      const at = `${path}/packages/${name.package}/versions/${version}`;
      if (version === '1.1.0') await own.put(`${at}/signature`, { json: signatureOf(key, name, sha256Of(file)) });
      t.equal((await own.post(`${at}/distributions`)).status, 201);
    }
    t.equal(await install('com.example.careful', '1.0.0'), 'SIGNATURE_REJECTED');
    t.equal(await install('com.example.careful', '1.1.0'), 'succeeded');
    const system = '/admin/v1/system-packages/com.lapel.launcher/versions/1.0.0';
    await admin.put(system, { json: {} });
    await put((await admin.post(`${system}/binaries`)).body.urlList[0].uploadUrl, new Uint8Array([1]));
    t.equal(await install('com.lapel.launcher', '1.0.0'), 'SIGNATURE_REJECTED', 'a system package is not signed');
    t.match(camera.state.software, { 'com.example.careful': { version: '1.1.0' } });
  });

  await t.test('an error of a handler fails its command, and is thrown at the end', async (t) => {
    const some = await fleet({ service, count: 1, developer: 'lib' });
    const [camera] = some.devices;
    camera.on('setLanguage', () => {
      throw new Error('expected another language');
    });
    // @ts-expect-error: a JavaScript program may return anything
    some.on('setApn', () => ({ failed: 'X' }));
    const { deviceId } = camera;
    await some.request('setLanguage', { deviceId, body: { lang: 'de' } });
    const { data } = await some.receiver.webhook('transaction.failed');
    t.match(data.transaction, { error: { code: 'INTERNAL', message: 'expected another language' } });
    await some.request('setApn', { deviceId, body: [{ name: 'a', apn: 'b' }] });
    await some.receiver.webhook('transaction.failed');
    await t.rejects(some.close(), {
      errors: [{ message: /another language/ }, { message: /^on\(setApn\): .*failed: 'X'/ }],
    });
  });

  await t.test('the end of a fleet removes all that it has registered', async (t) => {
    t.equal((await devicesOf('lib')).length, 4);
    await cameras.close();
    t.strictSame(await devicesOf('lib'), []);
    t.strictSame((await world.admin().get('/admin/v1/developers/lib/applications')).body.applications, []);
    t.strictSame(cameras.troubles, []);
  });
});
