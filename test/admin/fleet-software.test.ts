import t from 'tap';
import { readConfig } from '../../src/config.ts';
import { shownSetting } from '../../src/edge/admin/settings.ts';
import { CAMERA, startSoftware } from '../api/software-world.ts';
import { pagesOf } from '../pages.ts';
import type { RawDevice } from '../raw-device.ts';
import { deviceIdOf, startWorld, transactionIdOf } from '../world.ts';

const UTC_NOW = '2026-11-20T09:30:00.123456Z';

t.test('while the object store is away, versions are listed without the fields of their files', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_S3_ENDPOINT: 'http://127.0.0.1:9' } });
  const tenant = await world.createTenant();
  await tenant.api.post(`${tenant.path}/packages`, { json: { package: CAMERA } });
  for (const version of ['1.0.0', '1.1.0']) {
    await tenant.api.post(`${tenant.path}/packages/${CAMERA}/versions`, { json: { version } });
  }
  const { body } = await world.admin().get(`/admin/v1/packages/${CAMERA}/versions`);
  const unknown = { sizeBytes: null, sha256: null, foundPackage: null, foundVersion: null };
  t.match(body.versions, [
    { version: '1.1.0', binary: unknown },
    { version: '1.0.0', binary: unknown },
  ]);
});

t.test('applications, packages and installations of all developers', async (t) => {
  const software = await startSoftware(t, { env: { LAPEL_S3_REGION: 'eu-north-1' } });
  const { world, tenant, other, register, upload, versionPath, api } = software;
  const admin = world.admin();
  const rowsOf = async <Row>(path: string, key: string): Promise<Row[]> =>
    (await pagesOf<Row>(admin, `/admin/v1${path}`, key)).flat();

  t.test('applications: of all developers or one, without their secrets', async (t) => {
    const { body } = await admin.get(`/admin/v1/applications/${tenant.applicationId}`);
    t.same(body, {
      applicationId: tenant.applicationId,
      developerId: 'dev',
      name: 'dev',
      createdAt: UTC_NOW,
      activated: 0,
      keyReplacedAt: UTC_NOW,
      hasKey: true,
      authentication: 'secret',
      settings: {
        deviceEvent: tenant.receiver.url,
        callEvent: null,
        callFileSendEvent: null,
        callRecGetMultiPresignedUrl: null,
        fileUploadEvent: null,
        fileUploadGetUrl: null,
      },
    });
    const all = ['dev-app', 'dev-second', 'other-app'];
    for (const [query, wanted] of [
      ['', all],
      ['limit=1', all],
      ['developerId=dev', all.slice(0, 2)],
      ['developerId=dev&limit=1', all.slice(0, 2)],
      ['developerId=nobody', []],
    ] as const) {
      const rows = await rowsOf<{ applicationId: string }>(`/applications?${query}`, 'applications');
      t.same(
        rows.map(({ applicationId }) => applicationId),
        wanted,
        query,
      );
      t.notMatch(JSON.stringify(rows), /whsec_/);
    }
    t.match((await admin.get('/admin/v1/applications/dev-second')).body, { hasKey: false, keyReplacedAt: null });
  });

  await register(CAMERA, '1.0.0', '1.1.0');
  await register('com.example.maps', '2.0.0');
  await admin.put('/admin/v1/system-packages/com.lapel.launcher/versions/3.0.0', {
    json: { displayName: 'Home 100%' },
  });
  await admin.put('/admin/v1/firmware/com.lapel.firmware/versions/9.2.0', { json: {} });
  await upload(CAMERA, '1.0.0', 'no apk');
  await api.post(`${versionPath(CAMERA, '1.0.0')}/distributions`);

  t.test('packages: those of developers, of the service, and firmware', async (t) => {
    t.same((await admin.get(`/admin/v1/packages/${CAMERA}`)).body, {
      line: 'software',
      package: CAMERA,
      developerId: 'dev',
      displayName: null,
      forAll: true,
      versions: 2,
      newest: '1.1.0',
      updatedAt: UTC_NOW,
    });
    t.match((await admin.get('/admin/v1/packages/com.lapel.firmware?line=firmware')).body, {
      line: 'firmware',
      developerId: null,
      versions: 1,
      newest: '9.2.0',
    });
    t.match(await admin.get(`/admin/v1/packages/${CAMERA}?line=firmware`), { status: 404 });
    const all = ['com.lapel.firmware', CAMERA, 'com.example.maps', 'com.lapel.launcher'];
    for (const [query, wanted] of [
      ['', all],
      ['limit=1', all],
      ['line=software', all.slice(1)],
      ['line=software&limit=2', all.slice(1)],
      ['line=firmware', all.slice(0, 1)],
      ['developerId=dev', all.slice(1, 3)],
      ['developerId=dev&limit=1', all.slice(1, 3)],
      ['developerId=other', []],
    ] as const) {
      const rows = await rowsOf<{ package: string }>(`/packages?${query}`, 'packages');
      t.same(
        rows.map((row) => row.package),
        wanted,
        query,
      );
    }
    t.match(await admin.get('/admin/v1/packages?after=x'), { status: 400 });
  });

  t.test('versions: newest first, with the facts about their files', async (t) => {
    const path = `/packages/${CAMERA}/versions`;
    await rowsOf(path, 'versions'); // a list of versions makes the service read uploaded files
    await world.idle();
    const rows = await rowsOf<Record<string, unknown>>(path, 'versions');
    t.same(rows[0], {
      version: '1.1.0',
      description: null,
      createdAt: UTC_NOW,
      updatedAt: UTC_NOW,
      distributing: false,
      distributionStartedAt: null,
      binary: null,
      warning: null,
      devices: { installed: 0, waiting: 0, failed: 0 },
    });
    t.match(rows[1], {
      version: '1.0.0',
      distributing: true,
      distributionStartedAt: UTC_NOW,
      binary: { sizeBytes: 6, sha256: /^[0-9a-f]{64}$/, foundPackage: null, foundVersion: null },
      warning: /cannot be read as an APK/,
    });
    const paged = await rowsOf<{ version: string }>(`${path}?limit=1`, 'versions');
    t.same(
      paged.map(({ version }) => version),
      ['1.1.0', '1.0.0'],
    );
  });

  t.test('the devices that have a version, wait for it, or failed at it', async (t) => {
    const devices = [];
    for (let count = 0; count < 4; count += 1) devices.push(await world.activatedDevice(tenant));
    const [has, waits, fails, both] = devices as [Device, Device, Device, Device];
    type Device = (typeof devices)[number];
    const install = async ({ path }: Device) =>
      transactionIdOf(await api.put(`${path}/apps`, { json: { package: CAMERA, version: '1.0.0' } }));
    const report = async (link: RawDevice): Promise<void> => {
      link.publish('status', {
        firmwareVersion: '9.2.0',
        software: [{ package: CAMERA, version: '1.0.0', versionCode: 1 }],
      });
      await link.next('puback');
    };
    const fail = async (device: Device, code: string): Promise<void> => {
      await install(device);
      const { transactionId } = await device.link.command();
      await device.link.ack({ transactionId, status: 'failed', error: { code, message: 'no' } });
      await tenant.event();
    };
    await report(has.link);
    await fail(fails, 'STORAGE_FULL');
    await fail(fails, 'DOWNLOAD_FAILED'); // the last failure counts
    await fail(both, 'STORAGE_FULL');
    await install(both); // it waits again, and that counts
    await install(both);
    await install(waits);
    await world.idle();
    world.clock.advance(11_000); // the counts are kept for ten seconds
    const path = `/admin/v1/packages/${CAMERA}/versions/1.0.0/installations`;
    const { body } = await admin.get(path);
    t.same(body, {
      installed: 1,
      waiting: 2,
      failed: 1,
      errors: [{ code: 'DOWNLOAD_FAILED', devices: 1 }],
      devices: [
        { deviceId: has.deviceId, state: 'installed', errorCode: null, since: UTC_NOW },
        { deviceId: waits.deviceId, state: 'waiting', errorCode: null, since: UTC_NOW },
        { deviceId: fails.deviceId, state: 'failed', errorCode: 'DOWNLOAD_FAILED', since: UTC_NOW },
        { deviceId: both.deviceId, state: 'waiting', errorCode: null, since: UTC_NOW },
      ],
    });
    const ids = async (query: string): Promise<string[]> =>
      (await pagesOf<{ deviceId: string }>(admin, `${path}?${query}`, 'devices'))
        .flat()
        .map(({ deviceId }) => deviceId);
    t.same(
      await ids('limit=1'),
      devices.map(({ deviceId }) => deviceId),
    );
    t.same(await ids('state=waiting&limit=1'), [waits.deviceId, both.deviceId]);
    t.same(await ids('state=failed'), [fails.deviceId]);
    const [, version] = await rowsOf<{ devices: object }>(`/packages/${CAMERA}/versions`, 'versions');
    t.same(version?.devices, { installed: 1, waiting: 2, failed: 1 });
    const firmware = '/admin/v1/packages/com.lapel.firmware/versions/9.2.0/installations?line=firmware';
    t.match((await admin.get(firmware)).body, {
      installed: 1,
      waiting: 0,
      failed: 0,
      devices: [{ deviceId: has.deviceId, state: 'installed', since: null }],
    });
    t.match(await admin.get(`/admin/v1/packages/${CAMERA}/versions/7.0.0/installations`), {
      status: 404,
      body: { reason: 'version not found.' },
    });
    const softwareOf = async (device: Device) =>
      (await admin.get(`/admin/v1/devices/${device.deviceId}/status`)).body.software;
    t.match(await softwareOf(fails), [
      { package: CAMERA, version: '1.0.0', state: 'failed', errorCode: 'DOWNLOAD_FAILED' },
    ]);
    t.match(await softwareOf(both), [{ package: CAMERA, version: '1.0.0', state: 'waiting', errorCode: null }]);
    t.equal((await softwareOf(both)).length, 1);
    t.match((await admin.get(`/admin/v1/applications/${tenant.applicationId}`)).body, { activated: 4 });
  });

  t.test('search: by identifiers, their beginnings, and names', async (t) => {
    const find = async (q: string) => (await admin.get(`/admin/v1/search?q=${encodeURIComponent(q)}`)).body.results;
    const [first] = (await admin.get('/admin/v1/devices?limit=1')).body.devices;
    const { transactions } = (await admin.get('/admin/v1/transactions?status=failed&limit=1')).body;
    const [{ transactionId, deviceId, deliveryId }] = transactions;
    t.same(await find(first.deviceId), [{ kind: 'device', id: first.deviceId, parent: 'dev' }]);
    t.match(await find(first.deviceId.slice(0, 13)), [{ kind: 'device' }]);
    t.match(await find(String(transactionId)), [{ kind: 'transaction', id: String(transactionId), parent: deviceId }]);
    t.same(await find(deliveryId), [{ kind: 'delivery', id: deliveryId, parent: tenant.applicationId }]);
    t.same(await find(` ${'msg_'.padEnd(36, '0')} `), []);
    t.same(await find('DEV-sec'), [{ kind: 'application', id: 'dev-second', parent: 'dev' }]);
    t.same(await find('othe'), [
      { kind: 'application', id: 'other-app', parent: 'other' },
      { kind: 'developer', id: 'other', parent: null },
    ]);
    t.same(await find('.maps'), [{ kind: 'package', id: 'com.example.maps', parent: 'software' }]);
    t.same(await find('100%'), [{ kind: 'package', id: 'com.lapel.launcher', parent: 'software' }], 'as it is');
    for (const nothing of ['%', '_', '!', "'", '999999999999', ' ', '\u202e']) {
      if (nothing !== '%') t.same(await find(nothing), [], nothing);
    }
    t.equal((await find('%')).length, 1, 'of a pattern only what it says');
    t.match(await admin.get('/admin/v1/search?q='), { status: 400 });
    t.match(await admin.get('/admin/v1/search'), { status: 400 });
    for (let index = 0; index < 25; index += 1) {
      await admin.post('/admin/v1/developers', { json: { developerId: `many-${index}`, name: 'x' } });
      await admin.post(`/admin/v1/developers/dev/devices`, { json: { deviceId: deviceIdOf(900_000 + index) } });
    }
    await admin.post('/admin/v1/developers/many-1/applications', { json: { applicationId: 'many', name: 'x' } });
    const many = await find('many');
    t.equal(many.length, 20);
    t.match(many[0], { kind: 'application' }, 'no kind takes the places of the others');
  });

  t.test('settings as in effect, without secrets', async (t) => {
    const { body } = await admin.get('/admin/v1/settings');
    const settings = new Map(body.settings.map((setting: { name: string }) => [setting.name, setting]));
    t.match(settings.get('LAPEL_S3_REGION'), {
      value: 'eu-north-1',
      isSet: true,
      secret: false,
      description: /Region/,
    });
    t.match(settings.get('LAPEL_RETENTION_DAYS'), { value: '90', isSet: false });
    t.match(settings.get('LAPEL_ADMIN_TOKEN'), { value: null, isSet: false, secret: true });
    t.notMatch(JSON.stringify(body), world.service.adminToken);

    const { given } = readConfig({
      env: {
        LAPEL_ADMIN_TOKEN: 'hidden '.repeat(6),
        LAPEL_DATABASE_URL: 'postgres://lapel:hid@den@db:5432/lapel?sslmode=require&sslpassword=hidden',
        LAPEL_LEGACY_ISSUER: 'issuer',
        LAPEL_LEGACY_JWKS_URL: 'https://user:hidden@issuer/keys?token=hidden',
        LAPEL_LEGACY_SCOPE_BASE: 'https://issuer',
      },
    });
    const shown = given.map(shownSetting);
    for (const { name, value } of shown) t.notMatch(value, /hid/, name);
    const values = new Map(shown.map(({ name, value }) => [name, value]));
    t.equal(values.get('LAPEL_ADMIN_TOKEN'), '••••');
    t.equal(values.get('LAPEL_DATABASE_URL'), 'postgres://lapel:••••@db:5432/lapel?sslmode=require&sslpassword=••••');
    t.equal(values.get('LAPEL_LEGACY_JWKS_URL'), 'https://user:••••@issuer/keys?••••');
    t.equal(values.get('LAPEL_LEGACY_SCOPE_BASE'), 'https://issuer');
  });

  t.test('a developer with only deleted applications can be deleted', async (t) => {
    const inUse = { status: 409, body: { message: 'developer still has applications, devices or packages.' } };
    const made = async (id: string) => admin.post('/admin/v1/developers', { json: { developerId: id, name: id } });
    const gone = async (id: string) => admin.delete(`/admin/v1/developers/${id}`);
    await made('brief');
    t.equal((await gone('brief')).status, 204);
    t.match(await gone('brief'), { status: 404 });
    t.equal((await made('brief')).status, 201, 'its name is free again');
    t.match(await gone('dev'), inUse);
    const deviceId = deviceIdOf(800_001);
    await admin.post('/admin/v1/developers/brief/devices', { json: { deviceId } });
    t.match(await gone('brief'), inUse);
    await admin.delete(`/admin/v1/devices/${deviceId}`);
    await admin.post('/admin/v1/developers/brief/applications', { json: { applicationId: 'brief-app', name: 'b' } });
    t.match(await gone('brief'), inUse);
    await admin.delete('/admin/v1/applications/brief-app');
    t.equal((await gone('brief')).status, 204);
    await made('brief');
    const again = { json: { applicationId: 'brief-app', name: 'b' } };
    t.match(await admin.post('/admin/v1/developers/brief/applications', again), { status: 409 }, 'its name is not');
    const { body } = await admin.get('/admin/v1/developers?limit=1000');
    t.equal(body.developers.length, body.total);
    t.notOk(body.developers.some((row: { developerId: string }) => row.developerId === ''));
    t.ok(other);
  });
});
