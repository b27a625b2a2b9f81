import t from 'tap';
import { createClient } from '../contract/checked-client.ts';
import { startWorld } from '../world.ts';

t.test('the checks of a request come in their order', async (t) => {
  const world = await startWorld(t);
  const { api, path, applicationId, secret } = await world.createTenant();
  const { deviceId } = await world.registerDevice();
  const anonymous = createClient({ baseUrl: world.service.addresses.http });
  const reader = await world.clientOf(applicationId, secret, 'svc:application:read');
  const wrongBody = { json: { nothing: 1 } };
  const put = '/devices/123/settings/wifi';
  t.equal((await anonymous.put(`/v1/applications/other${put}`, wrongBody)).status, 401, 'token first');
  t.match(await reader.put(`/v1/applications/other${put}`, wrongBody), { status: 403, body: { message: /scope/ } });
  t.match(
    await api.put(`/v1/applications/other${put}`, wrongBody),
    { status: 403, body: { message: 'the access token belongs to another application.' } },
    'then the application',
  );
  t.match(await api.put(`${path}${put}`, wrongBody), { status: 404, body: { reason: 'invalid path parameter.' } });
  t.match(await api.put(`${path}/devices/${deviceId}/settings/wifi`, wrongBody), { status: 400 }, 'then the body');
  t.match(await api.put(`${path}/devices/${deviceId}/settings/wifi`, { json: [] }), {
    status: 403,
    body: { message: 'device is not activated.' },
  });
});

t.test('a deviceId that is no IMEI is answered 404 with its fault', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  for (const id of ['490154203237517', '49015420323751', '4901542032375180', 'abc', '%00', '%ZZ']) {
    t.match(
      await api.get(`${path}/devices/${id}`),
      {
        status: 404,
        body: {
          reason: 'invalid path parameter.',
          details: [{ loc: ['pathParameters', 'deviceId'], type: 'string_pattern_mismatch' }],
        },
      },
      id,
    );
  }
});

t.test('an unknown path or method is a wrong url, with and without token', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  const anonymous = createClient({ baseUrl: world.service.addresses.http });
  for (const client of [api, anonymous]) {
    for (const [method, target] of [
      ['GET', '/'],
      ['GET', '/v1/applications'],
      ['GET', `${path}/`],
      ['PUT', path],
      ['GET', `${path}/refresh_authkey`],
      ['GET', '/api/v1/authenticate'],
      ['GET', '/admin/v1/developers'],
      ['GET', '/metrics'],
    ] as const) {
      const answer = await client.request(method, target).catch((error: Error) => error.message);
      if (target.startsWith('/admin') || target === '/metrics') t.match(answer, /answered 403 .*wrong url/, target);
      else t.match(answer, { status: 403, body: { message: 'wrong url.' } }, `${method} ${target}`);
    }
  }
});

t.test('other methods on the activation status are answered 405 with Allow', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
    const answer = await api.request(method, `${path}/devices/490154203237518`);
    t.match(answer, { status: 405, headers: { allow: 'GET, POST, DELETE' } }, method);
  }
});

t.test('deleting an application ends its tokens and its secret at once', async (t) => {
  const world = await startWorld(t);
  const { api, path, applicationId, secret } = await world.createTenant();
  t.equal((await api.get(path)).status, 200);
  t.equal((await world.admin().delete(`/admin/v1/applications/${applicationId}`)).status, 204);
  t.match(await api.get(path), { status: 403, body: { message: 'application is not registered.' } });
  const anonymous = createClient({ baseUrl: world.service.addresses.http });
  const answer = await anonymous.post('/api/v1/authenticate', {
    headers: { authorization: `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}` },
    form: { grant_type: 'client_credentials', scope: 'svc:device:read' },
  });
  t.match(answer, { status: 401, body: { error: 'invalid_client' } });
});

t.test('a new secret stops the old one, and no token', async (t) => {
  const world = await startWorld(t);
  const { api, path, applicationId, secret } = await world.createTenant();
  const { body } = await world.admin().post(`/admin/v1/applications/${applicationId}/secret`);
  t.not(body.secret, secret);
  t.equal((await api.get(path)).status, 200);
  t.equal((await (await world.clientOf(applicationId, body.secret)).get(path)).status, 200);
});
