import t from 'tap';
import { startWorld } from '../world.ts';

t.test('op 1 leaves out settings without a value; op 2 sets, keeps and removes them', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant('dev', { key: false, deviceEvent: false });
  t.same((await api.get(path)).body, {});
  const first = await api.patch(path, { json: { deviceEvent: 'https://a.example/x', callEvent: 'https://b.example' } });
  t.match(first, { status: 200, body: undefined });
  await api.patch(path, { json: { callEvent: null, fileUploadGetUrl: 'https://c.example' } });
  t.same((await api.get(path)).body, { deviceEvent: 'https://a.example/x', fileUploadGetUrl: 'https://c.example' });
  t.equal((await api.patch(path, { json: {} })).status, 200, 'nothing to change');
});

t.test('op 2 names every fault at once, of shapes and of URLs', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  const answer = await api.patch(path, {
    json: {
      authenticationKey: 'x',
      remoteSupportEvent: 'https://a.example',
      deviceEvent: 5,
      callEvent: 'nowhere',
      callFileSendEvent: 'ftp://a.example',
      fileUploadEvent: 'http://a.example',
      fileUploadGetUrl: 'https://user:pass@a.example',
      callRecGetMultiPresignedUrl: `https://a.example/${'x'.repeat(2048)}`,
    },
  });
  t.equal(answer.status, 400);
  t.equal(answer.body.reason, 'invalid request.');
  const faults = answer.body.details.map(
    ({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`,
  );
  t.same(faults.sort(), [
    'body.authenticationKey extra_forbidden',
    'body.callEvent url_parsing',
    'body.callFileSendEvent url_scheme',
    'body.callRecGetMultiPresignedUrl string_too_long',
    'body.deviceEvent string_type',
    'body.fileUploadEvent url_scheme',
    'body.fileUploadGetUrl url_parsing',
    'body.remoteSupportEvent extra_forbidden',
  ]);
});

t.test('op 2 refuses a missing body, and one that is not an object', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  t.match(await api.patch(path), {
    status: 400,
    body: { details: [{ loc: ['body'], msg: 'Field required', type: 'missing' }] },
  });
  t.match(await api.patch(path, { json: [] }), { status: 400, body: { details: [{ type: 'dict_type' }] } });
  t.match(await api.patch(path, { text: '{"deviceEvent":' }), {
    status: 400,
    body: { details: [{ loc: ['body'], type: 'json_invalid' }] },
  });
});

t.test('http URLs are allowed for loopback, and everywhere by a setting', async (t) => {
  const strict = await startWorld(t);
  const tenant = await strict.createTenant();
  t.equal((await tenant.api.patch(tenant.path, { json: { callEvent: 'http://localhost:1/x' } })).status, 200);
  t.equal((await tenant.api.patch(tenant.path, { json: { callEvent: 'http://a.example' } })).status, 400);
});

t.test('http URLs are allowed everywhere with LAPEL_ALLOW_HTTP_WEBHOOKS', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  const { api, path } = await world.createTenant();
  t.equal((await api.patch(path, { json: { callEvent: 'http://a.example' } })).status, 200);
});

t.test('op 3 issues a key, and the next one replaces it', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant('dev', { key: false });
  const first = await api.post(`${path}/refresh_authkey`);
  t.equal(first.status, 201);
  t.equal((await api.get(path)).body.authenticationKey, first.body.authenticationKey);
  const second = await api.post(`${path}/refresh_authkey`);
  t.not(second.body.authenticationKey, first.body.authenticationKey);
  t.equal((await api.get(path)).body.authenticationKey, second.body.authenticationKey);
});

t.test('remoteSupportEvent is served by the releases before 2026-10, with headers that say when it goes', async (t) => {
  const dataDir = t.testdir();
  const url = 'https://a.example/support';
  const headers = {
    deprecation: '@1775001600',
    sunset: 'Thu, 01 Oct 2026 00:00:00 GMT',
    link: /^<http:.+\/docs\/deprecations#remoteSupportEvent>; rel="deprecation"; type="text\/html"$/,
  };
  const none = { deprecation: undefined, sunset: undefined, link: undefined };
  let secret = '';
  const at = async (release: string) => {
    const world = await startWorld(t, { dataDir, env: { LAPEL_API_RELEASE: release } });
    if (secret === '') secret = (await world.createTenant('dev', { key: false, deviceEvent: false })).secret;
    const api = await world.clientOf('dev-app', secret);
    const path = '/v1/applications/dev-app';
    return {
      read: () => api.get(path),
      change: (json: object) => api.patch(path, { json }),
      [Symbol.asyncDispose]: () => world.service[Symbol.asyncDispose](),
    };
  };

  t.test('2026-09: it is stored, read and removed, by the rules of every setting', async (t) => {
    await using service = await at('2026-09');
    t.match(await service.read(), { body: { remoteSupportEvent: undefined }, headers: none }, 'not before it is set');
    t.match(await service.change({ remoteSupportEvent: 'ftp://a.example' }), {
      status: 400,
      body: { details: [{ loc: ['body', 'remoteSupportEvent'], type: 'url_scheme' }] },
    });
    t.match(await service.change({ remoteSupportEvent: url, callEvent: url }), { status: 200, headers });
    const answer = await service.read();
    t.same(answer.body, { remoteSupportEvent: url, callEvent: url });
    t.match(answer.headers, headers);
    t.match(await service.change({ callEvent: null }), { status: 200, headers: none }, 'not in this one');
    t.match(await service.change({ remoteSupportEvent: null }), { status: 200, headers });
    t.same((await service.read()).body, {});
    await service.change({ remoteSupportEvent: url });
  });

  for (const release of ['2026-10', '2026-11']) {
    t.test(`${release}: it is not a setting any more, and a stored value is not shown`, async (t) => {
      await using service = await at(release);
      const answer = await service.read();
      t.same(answer.body, {});
      t.match(answer.headers, none);
      for (const value of [url, null, 5]) {
        t.match(await service.change({ remoteSupportEvent: value, callEvent: url }), {
          status: 400,
          body: { details: [{ loc: ['body', 'remoteSupportEvent'], type: 'extra_forbidden' }] },
        });
      }
      t.equal((await service.change({ fileUploadEvent: null })).status, 200);
    });
  }

  t.test('2026-09 again: nobody has touched it meanwhile', async (t) => {
    await using service = await at('2026-09');
    t.same((await service.read()).body, { remoteSupportEvent: url });
  });
});
