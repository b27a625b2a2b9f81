import t from 'tap';
import { open } from '../console/feed-client.ts';
import { startWorld } from '../world.ts';

t.test('an application changes its secret without a gap', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  const { applicationId, path, ...tenant } = await world.createTenant();
  const secrets = `/admin/v1/applications/${applicationId}/secrets`;
  const list = async () => (await admin.get(secrets)).body.secrets as { secretId: string }[];
  const refusedAt = async (secret: string) =>
    (
      await world.anonymous().post('/api/v1/authenticate', {
        headers: { authorization: `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}` },
        form: { grant_type: 'client_credentials', scope: 'svc:application:read' },
      })
    ).status === 401;
  const streamOf = (token: string) =>
    open(t, `${world.service.addresses.http}${path}/feed?topics=transactions`, { authorization: `Bearer ${token}` });
  await world.idle();
  const [{ secretId: first } = { secretId: '' }] = await list();
  const firstToken = await world.tokenOf(applicationId, tenant.secret);

  await t.test('a list shows names and times, and no secret', async (t) => {
    const { body } = await admin.get(secrets);
    t.match(body.secrets, [{ name: null, createdAt: /^2026/, lastUsedAt: /^2026/, endsAt: null }]);
    t.notOk(JSON.stringify(body).includes(tenant.secret));
  });

  const added = (await admin.post(secrets, { json: { name: 'new servers' } })).body;
  await t.test('the former and the new secret are both valid, and no third one', async (t) => {
    t.match(await admin.post(secrets), {
      status: 409,
      body: { message: 'the application has 2 secrets and may not have more; end one first.' },
    });
    for (const secret of [tenant.secret, added.secret]) {
      const api = await world.clientOf(applicationId, secret);
      t.match(await api.get(path), { status: 200 });
    }
    await world.idle();
    t.match(await list(), [
      { secretId: added.secretId, name: 'new servers', lastUsedAt: /^2026/ },
      { secretId: first, name: null },
    ]);
  });

  await t.test('the end of one ends its tokens and streams, and nothing else', async (t) => {
    const [one, other] = [await streamOf(firstToken), await streamOf(await world.tokenOf(applicationId, added.secret))];
    for (const stream of [one, other]) await stream.next('snapshot');
    t.match(await admin.delete(`${secrets}/${first}`), { status: 204 });
    t.match(await one.next('bye'), { reason: 'session' });
    t.match(await world.anonymous().get(path, { token: firstToken }), { status: 401 });
    t.ok(await refusedAt(tenant.secret));
    t.match(await admin.delete(`${secrets}/${first}`), { status: 404, body: { reason: 'secret not found.' } });
    t.match(await admin.delete(`${secrets}/${added.secretId}`), {
      status: 409,
      body: { message: 'the application has only this secret; issue another one first.' },
    });
    t.match(await (await world.clientOf(applicationId, added.secret)).get(path), { status: 200 });
    t.match(await list(), [{ secretId: added.secretId }]);
    await admin.post(`/admin/v1/developers`, { json: { name: 'x' } });
    t.equal((await streamOf(firstToken)).status, 401);
  });

  await t.test('the former secret ends at its time, with its tokens', async (t) => {
    const minute = world.clock.now() / 1000 + 60_000;
    const formerEndsAt = new Date(minute).toISOString();
    const json = { formerEndsAt: '2026-11-20T00:00:00Z' };
    t.match((await admin.post(secrets, { json })).body, { details: [{ loc: ['body', 'formerEndsAt'] }] });
    const last = (await admin.post(secrets, { json: { formerEndsAt } })).body;
    const token = await world.tokenOf(applicationId, added.secret);
    t.match(await list(), [{ endsAt: null }, { endsAt: /^2026-11-20T09:31/ }]);
    world.clock.advance(61_000);
    t.match(await world.anonymous().get(path, { token }), { status: 401 });
    t.ok(await refusedAt(added.secret));
    t.match(await list(), [{ secretId: last.secretId }]);
    t.match(await admin.post(secrets), { status: 201 }, 'its place is free');
    const replaced = await admin.post(`/admin/v1/applications/${applicationId}/secret`);
    t.equal((await list()).length, 1, 'a replacement ends all others');
    t.ok(await refusedAt(last.secret));
    t.match(await (await world.clientOf(applicationId, replaced.body.secret)).get(path), { status: 200 });
  });

  await t.test('the audit log knows of each, and of no secret', async (t) => {
    const { entries } = (await admin.get('/admin/v1/audit?limit=1000')).body as { entries: object[] };
    const text = JSON.stringify(entries);
    t.ok(text.includes(added.secretId) && text.includes('new servers'));
    t.notOk(text.includes(added.secret));
  });
});
