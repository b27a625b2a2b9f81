import t from 'tap';
import { request } from 'undici';
import { MOST_SESSIONS_OF_TOKEN } from '../../src/edge/admin/sessions/sessions.ts';
import { run } from '../cli/run.ts';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { startWorld } from '../world.ts';

const MINUTE = 60_000;
const OTHER_TOKEN = 'another token of administrators, which is long enough';

t.test('the operator’s session', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_CONSOLE_URL: 'https://lapel.test' } });
  const { clock } = world;

  /** A request of the console's page; with other headers, or without one. */
  async function send(
    method: string,
    path: string,
    options: { cookie?: string; json?: unknown; headers?: object } = {},
  ) {
    const { cookie, json } = options;
    const base = world.service.addresses.admin;
    const headers = {
      'content-type': 'application/json',
      origin: base,
      'sec-fetch-site': 'same-origin',
      'x-lapel-console': '1',
      ...(cookie !== undefined && { cookie }),
      ...options.headers,
    };
    const given = Object.entries(headers).filter(([, value]) => value !== undefined);
    const answer = await request(`${base}${path}`, {
      method: method as 'GET',
      headers: given.flat() as string[],
      body: json === undefined ? null : JSON.stringify(json),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      code: answer.headers['lapel-error-code'],
      body: text === '' ? undefined : JSON.parse(text),
      cookie: String(answer.headers['set-cookie'] ?? ''),
    };
  }
  async function login(headers: object = {}): Promise<string> {
    const { adminToken } = world.service;
    const answer = await send('POST', '/console/session', { json: { token: adminToken }, headers });
    t.equal(answer.status, 204);
    return answer.cookie.split(';')[0] ?? '';
  }
  const devices = (cookie: string) => send('GET', '/admin/v1/developers', { cookie });

  await t.test('the token becomes a cookie that no script reads, and that is not the token', async (t) => {
    const { adminToken } = world.service;
    const answer = await send('POST', '/console/session', { json: { token: adminToken } });
    t.match(
      answer.cookie,
      /^__Host-lapel=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
      'on loopback as over TLS',
    );
    t.equal(answer.headers['cache-control'], 'no-store');
    t.notOk(answer.cookie.includes(adminToken));
    const cookie = answer.cookie.split(';')[0] ?? '';
    const read = await devices(cookie);
    t.equal(read.status, 200);
    t.match(read.headers, {
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    const stored = await (await world.raw()).all('SELECT * FROM console_sessions');
    const secret = cookie.split('=')[1] ?? '';
    for (const form of [secret, Buffer.from(secret, 'base64url').toString('hex'), adminToken])
      t.notOk(JSON.stringify(stored).includes(form), 'neither is in the database');
  });

  await t.test(
    'over a plain connection to another host the cookie has the name that browsers keep there',
    async (t) => {
      const headers = { host: 'lapel.test:8081', origin: 'http://lapel.test:8081', 'sec-fetch-site': undefined };
      const { adminToken } = world.service;
      const answer = await send('POST', '/console/session', { json: { token: adminToken }, headers });
      t.match(answer.cookie, /^lapel=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
      t.equal((await devices(answer.cookie.split(';')[0] ?? '')).status, 200);
      for (const proxy of [{ host: 'lapel.test' }, { host: '10.0.0.1:8081', 'x-forwarded-host': 'lapel.test' }]) {
        const cookie = await login({ ...proxy, origin: 'https://lapel.test' });
        t.match(cookie, /^__Host-lapel=/, 'behind a proxy that ends TLS');
      }
    },
  );

  await t.test('the page knows the end of its session, which use postpones', async (t) => {
    const cookie = await login();
    const state = () => send('GET', '/console/session', { cookie });
    t.match((await state()).body, {
      expiresAt: '2026-11-20T21:30:00.123456Z',
      idleUntil: '2026-11-20T10:00:00.123456Z',
    });
    clock.advance(29 * MINUTE);
    t.match((await state()).body, { idleUntil: '2026-11-20T10:29:00.123456Z' });
    clock.advance(29 * MINUTE);
    t.equal((await devices(cookie)).status, 200);
    clock.advance(30 * MINUTE);
    t.match(await devices(cookie), { status: 401, code: 'SESSION_ENDED' }, 'half an hour without use ends it');
    t.match(await devices(cookie), { headers: { 'www-authenticate': 'Bearer realm="lapel administration"' } });
    t.equal((await state()).status, 204);
    t.equal((await send('GET', '/console/session')).status, 204);
  });

  await t.test('the session ends after twelve hours, in spite of use', async (t) => {
    const cookie = await login();
    for (let passed = 0; passed < 12 * 60 - 20; passed += 20) {
      clock.advance(20 * MINUTE);
      t.equal((await devices(cookie)).status, 200);
    }
    clock.advance(20 * MINUTE);
    t.match(await devices(cookie), { status: 401, code: 'SESSION_ENDED' });
  });

  await t.test('a logout ends the session, and removes the cookie', async (t) => {
    const [cookie, other] = [await login(), await login()];
    const answer = await send('DELETE', '/console/session', { cookie });
    t.match(answer, { status: 204, cookie: /^__Host-lapel=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict; Secure$/ });
    t.equal((await devices(cookie)).status, 401);
    t.equal((await devices(other)).status, 200, 'other sessions stay');
    t.match(await send('DELETE', '/console/session', { cookie }), { status: 401, code: 'SESSION_ENDED' });
    t.match(await send('DELETE', '/console/session'), { status: 401, code: 'SESSION_ENDED' });
  });

  await t.test('with the token or a session one can see and end all sessions', async (t) => {
    const [own, other] = [await login(), await login()];
    const { body } = await send('GET', '/admin/v1/sessions', { cookie: own });
    t.equal(body.sessions.filter((one: { own: boolean }) => one.own).length, 1);
    const { address, sessionId } = body.sessions.find((one: { own: boolean }) => one.own);
    t.equal(address, '127.0.0.1');
    t.notOk(own.includes(sessionId) || other.includes(sessionId));
    const strangers = body.sessions.filter((one: { own: boolean }) => !one.own);
    for (const { sessionId: name } of strangers) {
      t.equal((await send('DELETE', `/admin/v1/sessions/${name}`, { cookie: own })).status, 204);
    }
    t.equal((await devices(other)).status, 401);
    const { addresses, adminToken } = world.service;
    const cli = (...args: string[]) =>
      run(['admin', 'session', ...args, '--admin-url', addresses.admin], { env: { LAPEL_ADMIN_TOKEN: adminToken } });
    t.match((await cli('list')).stdout, new RegExp(`^SESSION +SINCE +USED +FROM\n${sessionId} .* 127\\.0\\.0\\.1\n$`));
    t.match(await cli('end', sessionId), { code: 0, stdout: `ended: ${sessionId}\n` });
    t.equal((await devices(own)).status, 401);
  });

  await t.test('a request that another page may have sent is refused', async (t) => {
    const cookie = await login();
    const { admin } = world.service.addresses;
    const refused = { status: 403, code: 'CONSOLE_REQUEST_FORGED' };
    const json = { developerId: 'forged', name: 'x' };
    const forged: Record<string, string | undefined>[] = [
      { 'x-lapel-console': undefined },
      { 'x-lapel-console': '0' },
      { origin: undefined },
      { origin: 'null' },
      { origin: admin.replace(/\d+$/, '1') },
      { origin: 'https://lapel.example' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': undefined },
    ];
    for (const headers of forged) {
      const what = JSON.stringify(headers);
      t.match(await send('POST', '/admin/v1/developers', { cookie, json, headers }), refused, what);
      t.match(await send('POST', '/console/session', { json: { token: 'x' }, headers }), refused, `login ${what}`);
      t.match(await send('DELETE', '/console/session', { cookie, headers }), refused, `logout ${what}`);
    }
    for (const site of ['same-site', 'cross-site', 'none']) {
      const headers = { 'sec-fetch-site': site };
      t.match(await send('GET', '/admin/v1/developers', { cookie, headers }), refused, `a read from ${site}`);
      t.match(await send('GET', '/console/session', { cookie, headers }), refused);
    }
    t.equal((await world.admin().get('/admin/v1/developers/forged')).status, 404, 'nothing was done');
    t.equal((await send('POST', '/admin/v1/developers', { cookie, json })).status, 201);
    const { adminToken } = world.service;
    const bearer = { authorization: `Bearer ${adminToken}`, 'x-lapel-console': undefined, origin: undefined };
    t.equal(
      (await send('PATCH', '/admin/v1/developers/forged', { json: {}, headers: bearer })).status,
      200,
      'a token needs none of it',
    );
  });

  await t.test('a cookie without a session, and a wrong token beside a valid session, are refused', async (t) => {
    const cookie = await login();
    const wrong = cookie.slice(0, -1) + (cookie.endsWith('A') ? 'B' : 'A');
    t.match(await devices(wrong), { status: 401, code: 'SESSION_ENDED' });
    t.match(await devices('__Host-lapel=short'), { status: 401, code: 'ADMIN_TOKEN_INVALID' });
    t.equal((await devices(`a=b; lapel=${'x'.repeat(43)}; ${cookie}`)).status, 200, 'the prefixed one is meant');
    const headers = { authorization: 'Bearer wrong' };
    t.match(await send('GET', '/admin/v1/developers', { cookie, headers }), {
      status: 401,
      code: 'ADMIN_TOKEN_INVALID',
    });
    const elsewhere = await request(`${world.service.addresses.http}/v1/applications/x`, { headers: { cookie } });
    t.equal(elsewhere.statusCode, 401, 'the API has no sessions');
    await elsewhere.body.dump();
  });

  await t.test(
    'after five wrong tokens in a minute an address has to wait; the right one is never refused',
    async (t) => {
      clock.advance(10 * MINUTE);
      const attempt = (token: string) => send('POST', '/console/session', { json: { token } });
      for (let count = 0; count < 5; count += 1)
        t.match(await attempt('wrong'), { status: 401, code: 'ADMIN_TOKEN_INVALID' });
      const refused = await attempt('wrong');
      t.match(refused, { status: 429, code: 'RATE_LIMITED', headers: { 'retry-after': '12' } });
      t.equal((await attempt(world.service.adminToken)).status, 204, 'whatever others send from there');
      clock.advance(12_000);
      t.equal((await attempt(world.service.adminToken)).status, 204, 'a right one costs nothing');
      t.match(await attempt('wrong'), { status: 401 });
      t.match(await attempt('wrong'), { status: 429 });
      clock.advance(10 * MINUTE);
      t.match(await send('POST', '/console/session', { json: { token: '' } }), { status: 400 });
      t.match(await send('POST', '/console/session', { json: {} }), { status: 400 });
    },
  );

  await t.test('the number of sessions is bounded: the one that was unused for longest ends', async (t) => {
    const first = await login();
    clock.advance(1);
    for (let count = 1; count < MOST_SESSIONS_OF_TOKEN; count += 1) await login();
    t.equal((await devices(first)).status, 200);
    clock.advance(1);
    await login();
    t.equal((await devices(first)).status, 401);
  });

  await t.test(
    'a session outlives a restart, ended ones are removed, and another administrator token ends all',
    async (t) => {
      const cookie = await login();
      await world.restart();
      t.equal((await devices(cookie)).status, 200);
      const count = async () => (await (await world.raw()).all('SELECT session_id FROM console_sessions')).length;
      t.ok((await count()) > 1);
      for (let passed = 0; passed < 30; passed += 10) {
        clock.advance(10 * MINUTE);
        t.equal((await devices(cookie)).status, 200);
        await world.idle();
      }
      clock.advance(10 * MINUTE);
      await world.idle();
      t.equal(await count(), 1);
      t.equal((await devices(cookie)).status, 200);
      const { dataDir } = world;
      await world.service[Symbol.asyncDispose]();
      const later = await startWorld(t, { clock, dataDir, env: { LAPEL_ADMIN_TOKEN: OTHER_TOKEN } });
      const answer = await request(`${later.service.addresses.admin}/admin/v1/developers`, { headers: { cookie } });
      t.equal(answer.statusCode, 401);
      await answer.body.dump();
      t.same((await later.admin().get('/admin/v1/sessions')).body, { sessions: [] });
    },
  );
});

t.test('a session is good on every node, and ends on all of them', { skip }, async (t) => {
  const world = await startWorld(t, { nodes: 2 });
  const [first = '', second = ''] = world.nodes.map(({ addresses }) => addresses.admin);
  const page = (origin: string) => ({ origin, 'sec-fetch-site': 'same-origin', 'x-lapel-console': '1' });
  const opened = await request(`${first}/console/session`, {
    method: 'POST',
    headers: { ...page(first), 'content-type': 'application/json' },
    body: JSON.stringify({ token: world.service.adminToken }),
  });
  t.equal(opened.statusCode, 204);
  const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? '';
  const statusAt = async (base: string): Promise<number> => {
    const answer = await request(`${base}/admin/v1/developers`, { headers: { cookie } });
    await answer.body.dump();
    return answer.statusCode;
  };
  t.equal(await statusAt(second), 200);
  const closed = await request(`${second}/console/session`, { method: 'DELETE', headers: { ...page(second), cookie } });
  t.equal(closed.statusCode, 204);
  t.equal(await statusAt(first), 401);
});
