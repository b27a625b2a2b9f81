import t from 'tap';
import { run } from '../cli/run.ts';
import { createPerson } from '../people/people-world.ts';
import { startWorld } from '../world.ts';

const MINUTE = 60_000;

t.test('an application sees the changes that concern it, and nothing of others', async (t) => {
  const world = await startWorld(t);
  world.clock.advance(1_000);
  const tenant = await world.createTenant('own');
  const other = await world.createTenant('other');
  const { token } = await createPerson(world, { personId: 'mika', role: 'operator' });
  const list = async (of: typeof tenant, query = '') => (await of.api.get(`${of.path}/audit${query}`)).body.entries;

  await t.test('its own changes have its address, those of administration have none, and no name', async (t) => {
    await world.anonymousAdmin().post(`/admin/v1/applications/${other.applicationId}/secret`, { token });
    const replaced = await world
      .anonymousAdmin()
      .post(`/admin/v1/applications/${tenant.applicationId}/secret`, { token });
    tenant.secret = replaced.body.secret;
    tenant.api = await world.clientOf(tenant.applicationId, tenant.secret);
    await tenant.api.patch(tenant.path, { json: { callEvent: tenant.receiver.url } });
    const entries = await list(tenant);
    t.match(entries.slice(0, 2), [
      {
        by: 'application',
        action: 'PATCH /v1/applications/{applicationId}',
        status: 200,
        details: { after: { callEvent: tenant.receiver.url } },
        address: '127.0.0.1',
      },
      { by: 'administration', action: 'POST /admin/v1/applications/{applicationId}/secret', address: null },
    ]);
    const shown = JSON.stringify(entries);
    for (const text of ['mika', 'Mika', 'first', other.applicationId, other.receiver.url])
      t.notOk(shown.includes(text), text);
    t.equal((await tenant.api.get(`${other.path}/audit`)).status, 403);
  });

  await t.test('the command line lists them', async (t) => {
    const env = {
      LAPEL_URL: world.service.addresses.http,
      LAPEL_APPLICATION: tenant.applicationId,
      LAPEL_APPLICATION_SECRET: tenant.secret,
    };
    const shown = await run(['settings', 'history', '--limit', '2'], { env });
    t.match(shown, {
      code: 0,
      stdout: /^TIME +WHO +WHAT +FROM +STATUS +REQUEST\n.* application +PATCH .*\n.* administration +POST/,
    });
    const json = JSON.parse(
      (await run(['settings', 'history', '--json', '--since', '2026-11-20T00:00:00Z'], { env })).stdout,
    );
    t.match(json, { ok: true, entries: [{ by: 'application' }] });
  });

  await t.test('wrong secrets are counted', async (t) => {
    const basic = Buffer.from(`${tenant.applicationId}:wrong`).toString('base64');
    for (let count = 0; count < 3; count += 1) {
      const headers = { authorization: `Basic ${basic}` };
      await world.anonymous().post('/api/v1/authenticate', { headers, form: { grant_type: 'client_credentials' } });
    }
    world.clock.advance(MINUTE);
    await world.idle();
    t.match((await list(tenant))[0], {
      by: 'service',
      action: 'REFUSED api',
      details: { code: 'CLIENT_INVALID', count: 3 },
      address: '127.0.0.1',
    });
  });

  await t.test('the list has pages', async (t) => {
    const all = (await list(tenant)) as { auditId: number }[];
    t.ok(all.length > 3);
    const found: number[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const { body, headers } = await tenant.api.get(`${tenant.path}/audit${query}`);
      found.push(...body.entries.map(({ auditId }: { auditId: number }) => auditId));
      query = /<[^?]*(\?[^>]*)>/.exec(String(headers['link'] ?? ''))?.[1] ?? '';
    }
    t.same(
      found,
      all.map(({ auditId }) => auditId),
    );
    t.same(await list(tenant, '?until=2026-11-20T09:00:00Z'), []);
  });

  await t.test('who has the id of a removed application does not see what happened to that one', async (t) => {
    const admin = world.admin();
    await admin.post('/admin/v1/developers/own/removal', { json: { confirmation: 'own' } });
    for (let rounds = 0; (await admin.get('/admin/v1/developers/own')).status !== 404; rounds += 1) {
      if (rounds > 200) throw new Error('the removal does not end');
      world.clock.advance(1_000);
      await world.idle();
    }
    world.clock.advance(MINUTE);
    const next = await world.createTenant('own');
    const entries = (await list(next)) as { action: string }[];
    t.ok(entries.length > 0);
    t.notOk(entries.some(({ action }) => action.startsWith('REFUSED') || action.includes('/secret')));
  });
});
