import t from 'tap';
import { request } from 'undici';
import { insertEntry } from '../../src/core/audit/audit-repository.ts';
import { auditSweep } from '../../src/core/audit/audit-sweep.ts';
import { ROUTES as ADMIN_ROUTES } from '../../src/edge/admin/routes.ts';
import { ROUTES as API_ROUTES } from '../../src/edge/api/routes.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { run } from '../cli/run.ts';
import { deviceIdOf, startWorld } from '../world.ts';

const DAY = 86_400_000;

t.test('the audit log', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_RETENTION_DAYS: '0', LAPEL_DELIVERY_RETENTION_DAYS: '0' } });
  const tenant = await world.createTenant();
  const admin = world.admin();
  const file = await world.raw();
  const rows = () =>
    file.all<{
      action: string;
      resource: string;
      status: number | null;
      actor_kind: string;
      actor_name: string | null;
    }>('SELECT action, resource, status, actor_kind, actor_name FROM audit_log ORDER BY audit_id');
  /** The entries that a piece of work wrote. */
  async function written(work: () => Promise<unknown>) {
    const before = (await rows()).length;
    await work();
    return (await rows()).slice(before);
  }
  const filled = (path: string, applicationId = 'x'): string =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'applicationId' ? applicationId : 'x'));

  await t.test(
    'every change through administration, and each read of a payload, has exactly one entry, carried out or refused',
    async (t) => {
      for (const { method, path, scope, showsSecret } of ADMIN_ROUTES) {
        // A message of an assistant changes nothing by itself: the requests that its tool makes have their entries.
        if (scope === null || path === '/mcp') continue;
        const resource = filled(path);
        let status = 0;
        const made = await written(async () => {
          const options = { headers: { authorization: `Bearer ${world.service.adminToken}` }, method: method as 'GET' };
          const answer = await request(`${world.service.addresses.admin}${resource}`, {
            ...options,
            ...(method !== 'GET' && { body: '{' }),
          });
          ({ statusCode: status } = answer);
          await answer.body.dump();
        });
        const entry = { action: `${method} ${path}`, resource, status, actor_kind: 'token', actor_name: null };
        t.same(made, method === 'GET' && !showsSecret ? [] : [entry], `${method} ${path}`);
      }
    },
  );

  await t.test('an unknown path makes no entry', async (t) => {
    t.same(await written(() => admin.request('POST', '/admin/v1/nothing', { json: {} })), []);
  });

  await t.test(
    'a change by an application has an entry; a command to a device has none, because it is a transaction',
    async (t) => {
      const { api, applicationId } = tenant;
      for (const { method, path, scope } of API_ROUTES) {
        if (scope === null || method === 'GET') continue;
        const resource = filled(path, applicationId);
        let status = 0;
        const made = await written(async () => ({ status } = await api.request(method, resource, { text: '{' })));
        const entry = {
          action: `${method} ${path}`,
          resource,
          status,
          actor_kind: 'application',
          actor_name: applicationId,
        };
        const isPlace = method === 'PUT' && path.includes('/events/consumers/'); // moved all the time, while events are read
        const isOwn = scope === 'svc:application:write' && !isPlace;
        const isRecorded = isOwn || path.includes('/rollouts') || path.includes('/notes');
        t.same(made, isRecorded ? [entry] : [], `${method} ${path}`);
      }
    },
  );

  await t.test('an entry names its author: a session of the console, the command line', async (t) => {
    const { addresses, adminToken } = world.service;
    const [byLine] = await written(() =>
      run(['admin', 'developer', 'create', 'acme', '--name', 'Acme', '--admin-url', addresses.admin], {
        env: { LAPEL_ADMIN_TOKEN: adminToken },
      }),
    );
    t.match(byLine, { actor_kind: 'command line', action: 'POST /admin/v1/developers', status: 201 });

    const headers = { origin: addresses.admin, 'sec-fetch-site': 'same-origin', 'x-lapel-console': '1' };
    const json = { ...headers, 'content-type': 'application/json' };
    let login: Awaited<ReturnType<typeof request>> | undefined;
    const loggedIn = await written(async () => {
      login = await request(`${addresses.admin}/console/session`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ token: adminToken }),
      });
      await request(`${addresses.admin}/console/session`, { method: 'POST', headers: json, body: '{"token":"wrong"}' });
    });
    t.match(loggedIn, [
      { actor_kind: 'session', actor_name: /^session_/, action: 'POST /console/session', status: 204 },
    ]);
    const cookie = String(login?.headers['set-cookie']).split(';')[0] ?? '';
    const [bySession] = await written(() =>
      request(`${addresses.admin}/admin/v1/developers/acme`, {
        method: 'PATCH',
        headers: { ...json, cookie },
        body: '{"name":"Acme"}',
      }),
    );
    t.match(bySession, {
      actor_kind: 'session',
      actor_name: /^session_/,
      resource: '/admin/v1/developers/acme',
      status: 200,
    });
    const [loggedOut] = await written(() =>
      request(`${addresses.admin}/console/session`, { method: 'DELETE', headers: { ...headers, cookie } }),
    );
    t.match(loggedOut, { actor_name: bySession?.actor_name, action: 'DELETE /console/session', status: 204 });
  });

  await t.test('an import is one entry with the number of devices', async (t) => {
    const lines = [`{"deviceId":"${deviceIdOf(1)}"}`, `{"deviceId":"${deviceIdOf(2)}"}`, 'not JSON'].join('\n');
    await admin.post('/admin/v1/developers/acme/devices/import', {
      text: lines,
      headers: { 'content-type': 'application/x-ndjson', 'x-request-id': 'the-import' },
    });
    const { body } = await admin.get('/admin/v1/audit?limit=1');
    t.match(body.entries, [{ status: 200, details: { registered: 2, refused: 1 }, requestId: 'the-import' }]);
  });

  await t.test('entries contain no secrets', async (t) => {
    const secret = 'a credential that nobody else may know of';
    await admin.post('/admin/v1/developers/acme/devices', { json: { deviceId: deviceIdOf(3), credential: secret } });
    const replaced = await admin.post(`/admin/v1/applications/${tenant.applicationId}/secret`);
    tenant.secret = replaced.body.secret;
    const issued = await tenant.api.post(`${tenant.path}/refresh_authkey`);
    await tenant.api.patch(tenant.path, { json: { deviceEvent: 'https://receiver.example/?token=hidden' } });
    const text = JSON.stringify(await file.all('SELECT * FROM audit_log'));
    for (const hidden of [secret, tenant.secret, issued.body.authenticationKey, 'hidden', world.service.adminToken])
      t.notOk(text.includes(hidden));
  });

  await t.test('entries are listed newest first, in pages, by author, resource and time', async (t) => {
    const list = async (query: string) =>
      (await admin.get(`/admin/v1/audit?${query}`)).body.entries as { auditId: number }[];
    const all = await list('limit=1000');
    t.equal(all.length, (await rows()).length);
    t.same(
      all.map(({ auditId }) => auditId),
      all.map(({ auditId }) => auditId).sort((a, b) => b - a),
    );
    const first = await admin.get('/admin/v1/audit?limit=7');
    const next = /<[^?]*\?([^>]*)>/.exec(String(first.headers['link']))?.[1] ?? '';
    t.same([...first.body.entries, ...(await list(next))], all.slice(0, 14));
    t.same(
      await list('actor=session'),
      all.filter((entry) => JSON.stringify(entry).includes('"session"')),
    );
    t.equal((await list(`actor=${tenant.applicationId}&resource=/v1/applications`)).length > 10, true);
    t.equal((await list(`resource=${tenant.applicationId.toUpperCase()}`)).length > 10, true, 'any part of the path');
    t.same(await list('resource=%25'), [], 'a text is no pattern');
    world.clock.advance(60_000);
    await world.idle(); // the refusals of the minute have their entry
    await admin.post('/admin/v1/developers', { json: { developerId: 'later', name: 'later' } });
    t.match(await list('since=2026-11-20T09:30:30Z'), [
      { resource: '/admin/v1/developers', at: '2026-11-20T09:31:00.123456Z' },
    ]);
    t.same(
      (await list('until=2026-11-20T09:30:30.5Z&limit=1000')).map(({ auditId }) => auditId),
      // The wrong token of a test above was counted for a minute.
      [(await list('actor=service&limit=1'))[0]?.auditId, ...all.map(({ auditId }) => auditId)],
    );
    t.equal((await admin.get('/admin/v1/audit?since=2026-02-30T00:00:00Z')).status, 400);
    const { addresses, adminToken } = world.service;
    const shown = await run(['admin', 'audit', 'list', '--limit', '2', '--admin-url', addresses.admin], {
      env: { LAPEL_ADMIN_TOKEN: adminToken },
    });
    t.match(shown.stdout.split('\n'), [
      /^TIME +WHAT +HOW +FROM +STATUS +REQUEST$/,
      /The administrator token created the developer later +token +127\.0\.0\.1 +201 /,
    ]);
    t.equal(shown.stdout.trim().split('\n').length, 3);
  });

  await t.test(
    'without its entry a change is not carried out; a change that was carried out is answered',
    async (t) => {
      const create = (developerId: string) => admin.post('/admin/v1/developers', { json: { developerId, name: 'x' } });
      const mend = await file.breakWrites('INSERT ON audit_log');
      t.equal((await create('unwritten')).status, 500);
      await mend();
      t.equal((await admin.get('/admin/v1/developers/unwritten')).status, 404);
      const mendAgain = await file.breakWrites('UPDATE ON audit_log');
      t.equal((await create('written')).status, 201);
      await mendAgain();
      t.match((await admin.get('/admin/v1/audit?limit=1')).body.entries, [{ status: null }]);
    },
  );

  await t.test('repeated refusals of an application within a minute are counted in the first entry', async (t) => {
    const api = await world.clientOf(tenant.applicationId, tenant.secret);
    const wanted = (name: string) => api.post(`${tenant.path}/packages`, { json: { package: name } });
    world.clock.advance(60_000);
    const made = await written(async () => {
      await wanted('com.example.counted');
      await Promise.all(Array.from({ length: 20 }, () => wanted('com.example.counted')));
      for (let count = 0; count < 3; count += 1) await wanted('com.lapel.reserved');
    });
    t.same(
      made.map(({ status }) => status),
      [201, 409, 400],
    );
    const newest = async () => (await admin.get('/admin/v1/audit?limit=2')).body.entries as object[];
    t.match(await newest(), [
      { status: 400, details: { code: 'REQUEST_INVALID', repeated: 2 } },
      { status: 409, details: { code: 'PACKAGE_EXISTS', repeated: 19 } },
    ]);
    world.clock.advance(60_000);
    const later = await written(() => wanted('com.example.counted'));
    t.match(later, [{ status: 409 }], 'a minute later there is one again');
  });

  await t.test('old entries are removed together with all other old rows', async (t) => {
    const { values } = await world.service.metrics.retentionRemoved.get();
    t.ok(values.some(({ labels }) => labels.kind === 'audit_log'));
  });
});

t.test('an entry is removed after 400 days', async (t) => {
  const { database } = openTestDatabase(t);
  const sweep = auditSweep({ keptDays: 400 });
  const now = 500 * DAY * 1000;
  for (const days of [401, 400.5, 399, 0]) {
    const entry = {
      actorKind: 'token',
      actorName: null,
      personId: null,
      personName: null,
      tokenName: null,
      action: 'GET /',
      resource: '/',
      requestId: 'r',
      address: null,
    } as const;
    await database.transact((unit) => insertEntry(unit, { ...entry, at: now - days * DAY * 1000 }));
  }
  t.equal(await sweep.oldestAt(database.read), now - 401 * DAY * 1000);
  const before = now - sweep.keptForMicros;
  for await (const { found } of sweep.find(database.aside, before))
    for (const one of found) await database.transact((unit) => sweep.remove(unit, one, before));
  const left = await database.read.all('SELECT audit_id AS id FROM audit_log ORDER BY audit_id');
  t.same(left, [{ id: 3 }, { id: 4 }]);
});
