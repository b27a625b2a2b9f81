import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('behind LAPEL_PUBLIC_URL every address that the service gives begins with it', async (t) => {
  const base = 'https://lapel.example/fleet';
  const world = await startWorld(t, { env: { LAPEL_PUBLIC_URL: `${base}/` } });
  t.match(world.service.addresses.http, /^http:\/\/127\.0\.0\.1:\d+$/, 'told at the start: the address in use');
  const admin = world.admin();
  await admin.post('/admin/v1/developers', { json: { developerId: 'dev', name: 'd', deviceLimit: 9 } });
  const { body: made } = await admin.post('/admin/v1/developers/dev/applications', {
    json: { applicationId: 'app', name: 'a' },
  });
  const token = await world.tokenOf('app', made.secret);
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  t.equal(claims.iss, base);
  t.match((await world.anonymous().get('/.well-known/oauth-authorization-server')).body, {
    issuer: base,
    token_endpoint: `${base}/api/v1/authenticate`,
    jwks_uri: `${base}/.well-known/jwks.json`,
  });

  const api = await world.clientOf('app', made.secret);
  await api.post('/v1/applications/app/refresh_authkey');
  await api.patch('/v1/applications/app', { json: { deviceEvent: 'https://a.example' } });
  const { deviceId } = await world.registerDevice();
  const own = `/v1/applications/app/devices/${deviceId}`;
  const first = await api.post(own);
  t.equal(first.headers['location'], `${base}${own}/transactions/${transactionIdOf(first)}`);
  await api.delete(`${own}/transactions/${transactionIdOf(first)}`);
  const second = transactionIdOf(await api.post(own));
  const { headers } = await api.get(`${own}/transactions?limit=1`);
  t.equal(headers['link'], `<${base}${own}/transactions?limit=1&after=${second}>; rel="next"`);
});

t.test('times are local date-times with microseconds in the zone of LAPEL_TIME_ZONE', async (t) => {
  for (const [zone, summer, winter] of [
    ['UTC', '2026-10-25T00:30:00.000007', '2026-10-25T01:30:00.000007'],
    ['Europe/Berlin', '2026-10-25T02:30:00.000007', '2026-10-25T02:30:00.000007'],
    ['Asia/Kathmandu', '2026-10-25T06:15:00.000007', '2026-10-25T07:15:00.000007'],
    ['America/St_Johns', '2026-10-24T22:00:00.000007', '2026-10-24T23:00:00.000007'],
  ] as const) {
    await t.test(zone, async (t) => {
      // The clocks of Berlin go back at 01:00 UTC of that day.
      const clock = createFakeClock(Date.UTC(2026, 9, 25, 0, 30) * 1000 + 7);
      const world = await startWorld(t, { clock, env: { LAPEL_TIME_ZONE: zone } });
      const tenant = await world.createTenant();
      const { deviceId } = await world.registerDevice();
      const own = `${tenant.path}/devices/${deviceId}`;
      const transactionId = transactionIdOf(await tenant.api.post(own));
      clock.advance(3_599_000);
      clock.advance(1_000);
      await tenant.renew();
      await tenant.api.delete(`${own}/transactions/${transactionId}`);
      t.match((await tenant.api.get(`${own}/transactions/${transactionId}`)).body, {
        createdAt: summer,
        updatedAt: winter,
        deliveredAt: null,
        completedAt: winter,
      });
      t.match((await world.admin().get(`/admin/v1/devices/${deviceId}`)).body, { createdAt: summer }, zone);
      const { timestamp, data } = await tenant.event();
      t.match(data.transaction, { completedAt: '2026-10-25T01:30:00.000007Z' }, 'webhooks say it in UTC');
      t.equal(timestamp, '2026-10-25T01:30:00.000007Z');
    });
  }
});

t.test('answers and lists', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;

  t.test('X-Request-Id is the caller’s if it is valid, otherwise a new one, on every kind of answer', async (t) => {
    const targets = [
      ['GET', path, 200],
      ['GET', '/nowhere', 403],
      ['PUT', `${path}/devices/490154203237518`, 405],
      ['GET', `${path}/devices/x`, 404],
      ['PATCH', path, 400],
      ['GET', '/.well-known/jwks.json', 200],
      ['POST', '/api/v1/authenticate', 401],
    ] as const;
    const idOf = async (method: string, target: string, status: number, given?: string) => {
      const answer = await api.request(
        method,
        target,
        given === undefined ? {} : { headers: { 'x-request-id': given } },
      );
      t.equal(answer.status, status, `${method} ${target}`);
      return String(answer.headers['x-request-id']);
    };
    for (const [method, target, status] of targets) {
      t.equal(await idOf(method, target, status, 'My-Trace_01.a'), 'My-Trace_01.a');
      const made = await idOf(method, target, status);
      t.match(made, /^[\w-]{12}\.[0-9a-z]+$/);
      t.not(await idOf(method, target, status), made, 'each request its own');
      for (const wild of ['a b', 'x'.repeat(129), 'a"b', 'a,b', '', 'ä', '{}']) {
        t.match(await idOf(method, target, status, wild), /^[\w-]{12}\.[0-9a-z]+$/, `replaces ${wild}`);
      }
    }
    const unauthorized = await world.anonymous().get(path, { headers: { 'x-request-id': 'mine' } });
    t.match(unauthorized, { status: 401, headers: { 'x-request-id': 'mine' } });
  });

  t.test('the transaction list: newest first, filters, paging, total', async (t) => {
    const device = await world.activatedDevice(tenant);
    const list = `${device.path}/transactions`;
    const page = async (query = '') => {
      const { body, headers } = await api.get(`${list}${query}`);
      const ids = body.transactions.map(({ transactionId }: { transactionId: number }) => transactionId);
      return { ids, total: body.total, link: headers['link'] };
    };
    const put = async (kind: string, json: unknown) => {
      const id = transactionIdOf(await api.put(`${device.path}/settings/${kind}`, { json }));
      device.link.puback((await device.link.command()).packet);
      return id;
    };
    const [{ ids: activation }] = [await page()];
    const wifi: number[] = [];
    for (let index = 0; index < 5; index += 1) wifi.push(await put('wifi', WIFI));
    const apn = [await put('apn', []), await put('apn', [])];
    await device.link.ack({ transactionId: wifi[0], status: 'succeeded' });
    await device.link.ack({ transactionId: wifi[1], status: 'failed' });
    await device.link.ack({ transactionId: wifi[2], status: 'processing' });
    await api.delete(`${list}/${wifi[3]}`);
    await world.idle();
    const all = [...activation, ...wifi, ...apn].reverse();

    t.same(await page(), { ids: all, total: 8, link: undefined });
    t.same(await page('?operation=setWifi'), { ids: wifi.toReversed(), total: 5, link: undefined });
    t.same((await page('?operation=activate')).ids, activation);
    t.same(await page('?operation=deactivate'), { ids: [], total: 0, link: undefined });
    const byStatus: Record<string, number[]> = {
      succeeded: [wifi[0]!, ...activation],
      failed: [wifi[1]!],
      processing: [wifi[2]!],
      cancelled: [wifi[3]!],
      delivered: [apn[1]!, apn[0]!, wifi[4]!],
      queued: [],
    };
    for (const [status, ids] of Object.entries(byStatus)) {
      t.same(await page(`?status=${status}`), { ids, total: ids.length, link: undefined }, status);
    }
    t.same((await page('?status=succeeded&operation=setWifi')).ids, [wifi[0]]);

    const seen: number[] = [];
    const links: unknown[] = [];
    for (let target: string | undefined = '?operation=setWifi&limit=2'; target !== undefined; ) {
      const { ids, total, link } = await page(target);
      t.equal(total, 5);
      seen.push(...ids);
      links.push(link);
      target = /^<[^?>]+(\?[^>]+)>; rel="next"$/.exec(String(link))?.[1];
    }
    t.same(seen, wifi.toReversed());
    const url = `${world.service.addresses.http}${list}`;
    t.same(links, [
      `<${url}?operation=setWifi&limit=2&after=${wifi[3]}>; rel="next"`,
      `<${url}?operation=setWifi&limit=2&after=${wifi[1]}>; rel="next"`,
      undefined,
    ]);
    t.same(await page('?offset=8'), { ids: [], total: 8, link: undefined }, 'past the end');
    t.same(await page('?offset=999999999999999'), { ids: [], total: 8, link: undefined });
    t.equal((await page('?limit=7')).link, `<${url}?limit=7&after=${wifi[0]}>; rel="next"`);
    t.equal((await page('?limit=8')).link, undefined);
    t.equal((await page('?limit=1000')).ids.length, 8);
  });

  t.test('each fault of a list’s query is named', async (t) => {
    const { deviceId } = await world.registerDevice();
    for (const [query, fault] of [
      ['limit=0', 'query.limit greater_than_equal'],
      ['limit=1001', 'query.limit less_than_equal'],
      ['limit=', 'query.limit int_type'],
      ['limit=ten', 'query.limit int_type'],
      ['limit=1.5', 'query.limit int_type'],
      ['limit=1&limit=2', 'query.limit extra_forbidden'],
      ['offset=-1', 'query.offset greater_than_equal'],
      ['offset=9999999999999999', 'query.offset int_type'],
      ['status=done', 'query.status enum'],
      ['status=queued&status=failed', 'query.status extra_forbidden'],
      ['status=', 'query.status enum'],
      ['operation=reboot', 'query.operation enum'],
      ['operation=__proto__', 'query.operation enum'],
      ['limit=%zz', 'query.limit int_type'],
    ] as const) {
      const answer = await api.get(`${path}/devices/${deviceId}/transactions?${query}`);
      t.match(answer, { status: 400, body: { reason: 'invalid request.', details: { length: 1 } } }, query);
      t.equal(`${answer.body.details[0].loc.join('.')} ${answer.body.details[0].type}`, fault);
    }
    const several = await api.get(`${path}/devices/${deviceId}/transactions?limit=0&offset=x&status=y&since=1&a&a`);
    t.same(several.body.details.map(({ loc }: { loc: string[] }) => loc[1]).sort(), [
      'a',
      'limit',
      'offset',
      'since',
      'status',
    ]);
    const repeated = await api.get(`${path}/devices/${deviceId}/transactions?limit=0&limit=0`);
    t.same(repeated.body.details, [
      { loc: ['query', 'limit'], msg: 'Parameter should be given once', type: 'extra_forbidden' },
    ]);
  });

  t.test('other methods are answered 405 with Allow on the activation status, 403 elsewhere', async (t) => {
    const anonymous = world.anonymous();
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE']) {
      for (const deviceId of ['490154203237518', 'x']) {
        const answer = await api.request(method, `${path}/devices/${deviceId}`);
        t.match(answer, { status: 405, headers: { allow: 'GET, POST, DELETE' } }, method);
        if (method !== 'HEAD') t.same(answer.body, { message: 'method not allowed.' });
      }
    }
    for (const [method, target] of [
      ['POST', path],
      ['DELETE', path],
      ['HEAD', path],
      ['GET', `${path}/refresh_authkey`],
      ['POST', `${path}/devices/490154203237518/settings/wifi`],
      ['PATCH', `${path}/devices/490154203237518/settings/apn`],
      ['PUT', `${path}/devices/490154203237518/transactions`],
      ['POST', `${path}/devices/490154203237518/transactions/1`],
      ['GET', '/api/v1/authenticate'],
      ['POST', '/.well-known/jwks.json'],
      ['GET', `${path}/devices/490154203237518/`],
      ['GET', `${path}//devices/490154203237518`],
      ['GET', `/V1/applications/${tenant.applicationId}`],
      ['GET', `${path}/devices/490154203237518%2Ftransactions`],
      ['GET', '/'],
    ] as const) {
      const answer = await api.request(method, target);
      if (target.includes('%2F')) {
        t.equal(answer.status, 404, 'an encoded slash separates nothing');
        continue;
      }
      const stranger = await anonymous.request(method, target);
      t.equal(stranger.status, 403, 'before any token is looked at');
      t.match(answer, { status: 403, ...(method !== 'HEAD' && { body: { message: 'wrong url.' } }) }, target);
    }
  });
});
