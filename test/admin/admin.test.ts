import t from 'tap';
import { createClient } from '../contract/checked-client.ts';
import { deviceIdOf, startWorld, transactionIdOf } from '../world.ts';

t.test('administration wants its token', async (t) => {
  const world = await startWorld(t);
  const { admin } = world.service.addresses;
  const { api } = await world.createTenant();
  t.equal(api === undefined, false);
  for (const token of [undefined, '', 'wrong', `${world.service.adminToken}x`]) {
    const client = createClient({ baseUrl: admin, ...(token === undefined ? {} : { token }) });
    const answer = await client.get('/admin/v1/developers');
    t.match(answer, { status: 401, body: { message: 'administrator token is missing or wrong.' } }, String(token));
    t.equal(answer.headers['www-authenticate'], 'Bearer realm="lapel administration"');
  }
});

t.test('developers are created, read, changed and listed', async (t) => {
  const admin = (await startWorld(t)).admin();
  const made = await admin.post('/admin/v1/developers', { json: { developerId: 'one', name: 'One', deviceLimit: 5 } });
  t.match(made, { status: 201, body: { developerId: 'one', name: 'One', deviceLimit: 5 } });
  const { body } = await admin.post('/admin/v1/developers', { json: { name: 'Two' } });
  t.match(body, { developerId: /^dev_/, deviceLimit: null }, 'without a limit there is no contract');
  t.match(await admin.post('/admin/v1/developers', { json: { developerId: 'one', name: 'x' } }), { status: 409 });
  t.match((await admin.patch('/admin/v1/developers/one', { json: { deviceLimit: null } })).body, {
    name: 'One',
    deviceLimit: null,
  });
  t.match((await admin.get('/admin/v1/developers/one')).body, { deviceLimit: null });
  const list = await admin.get('/admin/v1/developers?limit=1');
  t.match(list, { body: { total: 2, developers: { length: 1 } }, headers: { link: /offset=1/ } });
  t.match(await admin.get('/admin/v1/developers/none'), { status: 404, body: { reason: 'developer not found.' } });
  t.match(await admin.patch('/admin/v1/developers/none', { json: {} }), { status: 404 });
});

t.test('bodies are held against their schemas', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  await world.createTenant();
  const faults = async (target: string, json: unknown): Promise<string[]> => {
    const answer = await admin.post(target, { json });
    t.equal(answer.status, 400, target);
    return answer.body.details
      .map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)
      .sort();
  };
  t.same(await faults('/admin/v1/developers', { developerId: 'a b', deviceLimit: -1, x: 1 }), [
    'body.developerId string_pattern_mismatch',
    'body.deviceLimit greater_than_equal',
    'body.name missing',
    'body.x extra_forbidden',
  ]);
  t.same(await faults('/admin/v1/developers/dev/applications', { name: '' }), ['body.name string_too_short']);
  t.same(
    await faults('/admin/v1/developers/dev/devices', {
      deviceId: '1',
      credential: 'short',
      hardwareProperties: { model: { name: 1 }, macAddressWifi: 'x', camera: [{ resolution: { maxWidth: 1 } }] },
    }),
    [
      'body.credential string_too_short',
      'body.deviceId string_pattern_mismatch',
      'body.hardwareProperties.camera.0.resolution.maxHeight missing',
      'body.hardwareProperties.macAddressWifi string_pattern_mismatch',
      'body.hardwareProperties.model.name string_type',
    ],
  );
});

t.test('applications are created, listed and deleted; an id is never given again', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  const { applicationId } = await world.createTenant();
  const second = await admin.post('/admin/v1/developers/dev/applications', { json: { name: 'second' } });
  t.match(second, { status: 201, body: { applicationId: /^app_/, name: 'second' } });
  const list = await admin.get('/admin/v1/developers/dev/applications');
  t.match(list.body, { total: 2 });
  t.notMatch(JSON.stringify(list.body), /secret|whsec/);
  t.equal((await admin.delete(`/admin/v1/applications/${applicationId}`)).status, 204);
  t.match(await admin.delete(`/admin/v1/applications/${applicationId}`), { status: 404 });
  t.match(await admin.post(`/admin/v1/applications/${applicationId}/secret`), { status: 404 });
  const again = { json: { applicationId, name: 'again' } };
  t.match(await admin.post('/admin/v1/developers/dev/applications', again), { status: 409 });
  t.match(await admin.post('/admin/v1/developers/none/applications', again), { status: 404 });
});

t.test('an application with activated devices cannot be deleted', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  await world.activatedDevice(tenant);
  t.match(await world.admin().delete(`/admin/v1/applications/${tenant.applicationId}`), {
    status: 409,
    body: { message: 'application still has activated devices.' },
  });
});

t.test('devices are registered, read, moved and deleted; a credential is shown once', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  await world.createTenant();
  await world.createTenant('other');
  const deviceId = deviceIdOf(77);
  const credential = 'c'.repeat(32);
  const hardwareProperties = { model: { name: 'Cam' }, camera: null, macAddressWifi: 'AA:BB:CC:DD:EE:FF' };
  const json = { deviceId, credential, hardwareProperties };
  t.match(await admin.post('/admin/v1/developers/dev/devices', { json }), {
    status: 201,
    body: { deviceId, credential },
  });
  t.match(await admin.post('/admin/v1/developers/other/devices', { json: { deviceId } }), { status: 409 });
  t.match(await admin.post('/admin/v1/developers/none/devices', { json: { deviceId: deviceIdOf(78) } }), {
    status: 404,
  });
  const own = `/admin/v1/devices/${deviceId}`;
  const { body } = await admin.get(own);
  t.match(body, {
    developerId: 'dev',
    activation: 'deactivated',
    applicationId: null,
    clientId: null,
    hardwareProperties,
  });
  t.notMatch(JSON.stringify(body), credential);
  t.match((await admin.get('/admin/v1/developers/dev/devices')).body, { total: 1, devices: [{ deviceId }] });
  t.match((await admin.patch(own, { json: { developerId: 'other' } })).body, {
    developerId: 'other',
    hardwareProperties,
  });
  t.match(await admin.patch(own, { json: { developerId: 'none' } }), { status: 404 });
  t.match((await admin.patch(own, { json: { hardwareProperties: null } })).body, { hardwareProperties: null });
  t.equal((await admin.delete(own)).status, 204);
  t.match(await admin.get(own), { status: 404, body: { reason: 'device not found.' } });
  t.match(await admin.get('/admin/v1/devices/123'), {
    status: 404,
    body: { details: [{ loc: ['pathParameters', 'deviceId'] }] },
  });
});

t.test('a device in use is neither moved nor deleted', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  await world.createTenant('other');
  const { deviceId } = await world.registerDevice();
  const first = await tenant.api.post(`${tenant.path}/devices/${deviceId}`);
  const own = `/admin/v1/devices/${deviceId}`;
  t.match(await world.admin().delete(own), { status: 409 });
  t.match(await world.admin().patch(own, { json: { developerId: 'other' } }), { status: 409 });
  await tenant.api.delete(`${tenant.path}/devices/${deviceId}/transactions/${transactionIdOf(first)}`);
  t.match(await world.admin().patch(own, { json: { developerId: 'other' } }), { status: 200 });
});

t.test('a new credential stops the old one at once and closes its connection', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const { status, body } = await world.admin().post(`/admin/v1/devices/${device.deviceId}/credential`);
  t.equal(status, 201);
  await link.closed;
  t.not((await (await world.open(device)).login()).returnCode, 0, 'the old one is refused');
  const { returnCode } = await (await world.open({ ...device, credential: body.credential })).login();
  t.equal(returnCode, 0);
  const short = await world
    .admin()
    .post(`/admin/v1/devices/${device.deviceId}/credential`, { json: { credential: 'x' } });
  t.match(short, { status: 400, body: { details: [{ type: 'string_too_short' }] } });
  t.equal((await world.admin().post(`/admin/v1/devices/${deviceIdOf(99)}/credential`)).status, 404);
});

t.test('probes and metrics want no token', async (t) => {
  const world = await startWorld(t);
  const client = createClient({ baseUrl: world.service.addresses.admin });
  t.match(await client.get('/healthz'), { status: 200, body: { status: 'ok' } });
  t.match(await client.get('/readyz'), { status: 200, body: { status: 'ok' } });
  const metrics = await client.get('/metrics');
  t.match(metrics, { status: 200, headers: { 'content-type': /^text\/plain/ } });
  t.match(metrics.body, 'lapel_http_requests_total{listener="admin",method="GET",route="/readyz",status="200"} 1');
});

t.test('what administration does not have is a wrong url', async (t) => {
  const admin = (await startWorld(t)).admin();
  for (const target of ['/admin/v1', '/admin/v1/developers/', '/admin/v1/devices', '/admin/v1/applications/a']) {
    t.match(await admin.get(target), { status: 403, body: { message: 'wrong url.' } }, target);
  }
});
