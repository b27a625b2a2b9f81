import t from 'tap';
import { deviceIdOf, startWorld, transactionIdOf } from '../world.ts';

t.test('administration of developers, applications and devices', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const admin = world.admin();

  t.test(
    'developers: created, read, changed in parts, listed by pages; a contract begins, changes and ends',
    async (t) => {
      const made = await admin.post('/admin/v1/developers', { json: { developerId: 'acme.1_x-y', name: 'Ä "Acme"' } });
      const developer = {
        developerId: 'acme.1_x-y',
        name: 'Ä "Acme"',
        deviceLimit: null,
        softwareSignatures: 'optional',
        certificateChange: 'warn',
        removalId: null,
      };
      t.match(made, { status: 201 });
      t.same(made.body, developer);
      const own = '/admin/v1/developers/acme.1_x-y';
      t.match((await admin.get(own)).body, developer);
      const steps: [patch: object, after: object][] = [
        [{}, {}],
        [{ deviceLimit: 5 }, { deviceLimit: 5 }],
        [{ name: 'New' }, { name: 'New' }],
        [{ deviceLimit: null }, { deviceLimit: null }],
        [
          { softwareSignatures: 'required', certificateChange: 'refuse' },
          { softwareSignatures: 'required', certificateChange: 'refuse' },
        ],
        [
          { deviceLimit: 0, name: 'Newer' },
          { deviceLimit: 0, name: 'Newer' },
        ],
      ];
      let expected = developer;
      for (const [patch, after] of steps) {
        expected = { ...expected, ...after };
        const answer = await admin.patch(own, { json: patch });
        t.equal(answer.status, 200);
        t.same(answer.body, expected);
        t.match((await admin.get(own)).body, { ...expected, usage: { packages: 0, versions: 0, storedBytes: 0 } });
      }
      const again = await admin.post('/admin/v1/developers', { json: { developerId: 'acme.1_x-y', name: 'x' } });
      t.match(again, { status: 409, body: { message: 'developer already exists.' } });
      const racers = await Promise.all(
        Array.from({ length: 10 }, () =>
          admin.post('/admin/v1/developers', { json: { developerId: 'race', name: 'r' } }),
        ),
      );
      t.equal(racers.filter(({ status }) => status === 201).length, 1);
      const { body } = await admin.post('/admin/v1/developers', { json: { name: 'x', deviceLimit: null } });
      t.match(body, { developerId: /^dev_[0-9a-f]+$/, deviceLimit: null });
    },
  );

  t.test('lists have pages, links and totals', async (t) => {
    await admin.post('/admin/v1/developers', { json: { developerId: 'lists', name: 'l' } });
    const ids = { applications: [] as string[], devices: [] as string[] };
    for (let index = 0; index < 5; index += 1) {
      const applicationId = `list-${index}`;
      await admin.post('/admin/v1/developers/lists/applications', { json: { applicationId, name: 'x' } });
      ids.applications.push(applicationId);
      const deviceId = deviceIdOf(5000 + index);
      await admin.post('/admin/v1/developers/lists/devices', { json: { deviceId } });
      ids.devices.push(deviceId);
    }
    for (const [path, kind, key, wanted] of [
      ['/admin/v1/developers/lists/applications', 'applications', 'applicationId', ids.applications],
      ['/admin/v1/developers/lists/devices', 'devices', 'deviceId', ids.devices],
      ['/admin/v1/developers', 'developers', 'developerId', undefined],
    ] as const) {
      const all = (await admin.get(path)).body;
      const everyId = all[kind].map((row: Record<string, string>) => row[key]);
      t.equal(all.total, everyId.length);
      if (wanted) t.same(everyId, wanted);
      const seen: string[] = [];
      for (let target: string | undefined = `${path}?limit=2`; target !== undefined; ) {
        const { body, headers } = await admin.get(target);
        t.equal(body.total, everyId.length);
        t.ok(body[kind].length <= 2 && body[kind].length > 0);
        seen.push(...body[kind].map((row: Record<string, string>) => row[key]));
        const next = /^<([^>]+)>; rel="next"$/.exec(String(headers['link']))?.[1];
        if (next !== undefined)
          t.ok(next.startsWith(`${world.service.addresses.admin}${path}?`), 'on its own listener');
        target = next?.slice(world.service.addresses.admin.length);
      }
      t.same(seen, everyId, 'no row twice, none left out');
      t.same((await admin.get(`${path}?offset=1000`)).body[kind], []);
      for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'offset=x', 'limit=']) {
        t.match(await admin.get(`${path}?${query}`), {
          status: 400,
          body: { details: [{ loc: ['query', query.split('=')[0]] }] },
        });
      }
    }
  });

  t.test('applications: the secret is shown once, here and when it is replaced', async (t) => {
    const made = await admin.post('/admin/v1/developers/dev/applications', { json: { name: 'shown once' } });
    t.same(Object.keys(made.body).sort(), ['applicationId', 'name', 'secret']);
    const { applicationId, secret } = made.body;
    t.equal(Buffer.from(secret, 'base64url').length, 32);
    const list = JSON.stringify((await admin.get('/admin/v1/developers/dev/applications')).body);
    t.match(list, applicationId);
    t.notMatch(list, secret);
    const replaced = await admin.post(`/admin/v1/applications/${applicationId}/secret`);
    t.match(replaced, { status: 201 });
    t.same(Object.keys(replaced.body), ['secret']);
    const taken = { json: { applicationId, name: 'x' } };
    t.match(await admin.post('/admin/v1/developers/dev/applications', taken), {
      status: 409,
      body: { message: 'application already exists.' },
    });
  });

  t.test('the deletion of an application ends its access, and keeps its id', async (t) => {
    const doomed = await world.createTenant('doomed');
    const own = `/admin/v1/applications/${doomed.applicationId}`;
    const device = await world.activatedDevice(doomed);
    const inUse = { status: 409, body: { message: 'application still has activated devices.' } };
    t.match(await admin.delete(own), inUse, 'not while a device is activated');
    await doomed.api.delete(device.path);
    await device.link.ack({ transactionId: (await device.link.command()).transactionId, status: 'succeeded' });
    await doomed.event();
    const activation = transactionIdOf(await doomed.api.post(device.path));
    t.match(await admin.delete(own), inUse, 'nor while one is activating');
    doomed.receiver.answer({ status: 500 });
    await doomed.api.delete(`${device.path}/transactions/${activation}`);
    await doomed.event();
    t.match(await admin.delete(own), { status: 204, body: undefined });

    t.match(await admin.delete(own), { status: 404, body: { reason: 'application not found.' } });
    t.match(await admin.post(`${own}/secret`), { status: 404 });
    t.match((await admin.get('/admin/v1/developers/doomed/applications')).body, { total: 0, applications: [] });
    const basic = Buffer.from(`${doomed.applicationId}:${doomed.secret}`).toString('base64');
    const grant = await world.anonymous().post('/api/v1/authenticate', {
      headers: { authorization: `Basic ${basic}` },
      form: { grant_type: 'client_credentials', scope: 'svc:device:read' },
    });
    t.match(grant, { status: 401, body: { error: 'invalid_client' } });
    t.match(await doomed.api.get(doomed.path), { status: 403, body: { message: 'application is not registered.' } });
    const again = { json: { applicationId: doomed.applicationId, name: 'x' } };
    t.match(
      await admin.post('/admin/v1/developers/doomed/applications', again),
      { status: 409 },
      'its id is never given again',
    );
    t.match(
      await admin.post('/admin/v1/developers/dev/applications', again),
      { status: 409 },
      'nor to another developer',
    );
    t.match((await admin.get(`/admin/v1/devices/${device.deviceId}`)).body, {
      developerId: 'doomed',
      activation: 'deactivated',
    });

    await world.idle();
    doomed.receiver.answer({ status: 200 });
    world.clock.advance(6_000);
    const event = await doomed.event();
    t.match(
      event.data.transaction,
      { transactionId: activation, status: 'cancelled' },
      'its last webhook still arrives',
    );
  });

  t.test('devices: registered with and without credential, read, changed, moved, removed', async (t) => {
    await admin.post('/admin/v1/developers', { json: { developerId: 'new-owner', name: 'x' } });
    const hardwareProperties = {
      model: { name: 'Cam', identifier: 'C-1', description: 'd', shape: 'clip' },
      camera: [{ direction: 'front', mountedPosition: 'chest', resolution: { maxWidth: 1920, maxHeight: 1080 } }],
      macAddressWifi: 'AA:BB:CC:DD:EE:FF',
      macAddressBluetooth: '00:11:22:33:44:55',
    };
    const deviceId = deviceIdOf(6000);
    const credential = 'c'.repeat(32);
    const made = await admin.post('/admin/v1/developers/dev/devices', {
      json: { deviceId, credential, hardwareProperties },
    });
    t.match(made, { status: 201 });
    t.same(made.body, { deviceId, credential });
    const own = `/admin/v1/devices/${deviceId}`;
    const device = {
      deviceId,
      developerId: 'dev',
      activation: 'deactivated',
      applicationId: null,
      clientId: null,
      hardwareProperties,
      blocked: false,
      certificates: 'any',
      clientCa: false,
      certificateFingerprint: null,
      credentialOfferedAt: null,
      issuedCertificate: null,
      offeredCertificate: null,
      createdAt: '2026-11-20T18:30:06.123456',
    };
    t.same((await admin.get(own)).body, device);
    t.same((await admin.patch(own, { json: {} })).body, device);
    const smaller = { model: null, camera: null };
    t.same((await admin.patch(own, { json: { hardwareProperties: smaller } })).body.hardwareProperties, smaller);
    t.same((await admin.patch(own, { json: { developerId: 'new-owner' } })).body.developerId, 'new-owner');
    t.match((await admin.get('/admin/v1/developers/new-owner/devices')).body, { total: 1 });
    t.match(await admin.patch(own, { json: { developerId: 'nobody' } }), {
      status: 404,
      body: { reason: 'developer not found.' },
    });
    for (const developer of ['dev', 'new-owner']) {
      const twice = await admin.post(`/admin/v1/developers/${developer}/devices`, { json: { deviceId } });
      t.match(twice, { status: 409, body: { message: 'device already exists.' } });
    }
    t.match(await admin.delete(own), { status: 204, body: undefined });
    t.match(await admin.get(own), { status: 404 });
    const reborn = await admin.post('/admin/v1/developers/dev/devices', { json: { deviceId } });
    t.equal(reborn.status, 201);
    t.ok(reborn.body.credential.length >= 43, 'a credential of 256 bits');
  });

  t.test('a device that is removed loses its connection, its credential and its session', async (t) => {
    const device = await world.registerDevice();
    const link = await world.connect(device);
    t.match(await admin.delete(`/admin/v1/devices/${device.deviceId}`), { status: 204 });
    await link.closed;
    t.equal((await (await world.open(device)).login()).returnCode, 4);
    const reborn = await admin.post('/admin/v1/developers/dev/devices', { json: { deviceId: device.deviceId } });
    const connack = await (await world.open({ deviceId: device.deviceId, credential: reborn.body.credential })).login();
    t.match(connack, { returnCode: 0, sessionPresent: false });
  });

  t.test('a replaced credential: given or made, the old one is refused, the session stays', async (t) => {
    const device = await world.registerDevice();
    let link = await world.connect(device);
    let { credential } = device;
    for (const json of [undefined, {}, { credential: 'given '.repeat(6) }]) {
      const answer = await admin.post(`/admin/v1/devices/${device.deviceId}/credential`, { json });
      t.equal(answer.status, 201);
      await link.closed;
      t.equal((await (await world.open({ ...device, credential })).login()).returnCode, 4);
      credential = answer.body.credential;
      if (json?.credential !== undefined) t.equal(credential, json.credential);
      link = await world.open({ ...device, credential });
      t.match(await link.login(), { returnCode: 0, sessionPresent: true });
    }
  });

  t.test('a device in use is neither moved nor removed; its properties may change', async (t) => {
    const device = await world.activatedDevice(tenant);
    const own = `/admin/v1/devices/${device.deviceId}`;
    const inUse = { status: 409, body: { message: 'device is activated or has unfinished transactions.' } };
    t.match(await admin.delete(own), inUse);
    t.match(await admin.patch(own, { json: { developerId: 'doomed' } }), inUse);
    t.match(await admin.patch(own, { json: { developerId: 'dev', hardwareProperties: { camera: null } } }), {
      status: 200,
    });
    t.match((await admin.get(own)).body, {
      activation: 'activated',
      applicationId: tenant.applicationId,
      clientId: /./,
      hardwareProperties: { camera: null },
    });
  });
});
