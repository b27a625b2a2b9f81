import t from 'tap';
import { MOST_KINDS } from '../../src/core/audit/refusals.ts';
import { createPerson, pageHeaders, signIn } from '../people/people-world.ts';
import { startWorld } from '../world.ts';

const MINUTE = 60_000;

t.test('refused calls and failed logins', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_TRUST_PROXY: 'loopback' } });
  const tenant = await world.createTenant();
  const admin = world.admin();
  const anybody = world.anonymousAdmin();
  /** The entries that a minute of work leaves, the newest first. */
  async function within(work: () => Promise<unknown>) {
    const [last] = (await admin.get('/admin/v1/audit?limit=1')).body.entries;
    await work();
    await world.idle();
    world.clock.advance(MINUTE);
    await world.idle();
    const { entries } = (await admin.get('/admin/v1/audit?limit=200')).body;
    return entries.filter(({ auditId, action }: { auditId: number; action: string }) => {
      return auditId > last.auditId && action.startsWith('REFUSED ');
    });
  }

  await t.test(
    'wrong tokens of a minute are one entry, with their number, the address and the first of them',
    async (t) => {
      const made = await within(async () => {
        const headers = { 'x-forwarded-for': '192.0.2.7' };
        await anybody.post('/admin/v1/developers', { json: {}, token: 'wrong', headers });
        for (let count = 0; count < 4; count += 1) await anybody.get('/admin/v1/people', { token: 'wrong', headers });
        await anybody.get('/admin/v1/people', { headers: { 'x-forwarded-for': '192.0.2.8' } });
      });
      const entry = { action: 'REFUSED admin', actor: { kind: 'service' }, position: Number };
      t.match(made, [
        { ...entry, address: '192.0.2.8', details: { code: 'ADMIN_TOKEN_INVALID', count: 1, method: 'GET' } },
        {
          ...entry,
          address: '192.0.2.7',
          resource: '/admin/v1/developers',
          details: { code: 'ADMIN_TOKEN_INVALID', count: 5, method: 'POST' },
        },
      ]);
      t.same(await within(async () => undefined), [], 'a quiet minute has no entry');
    },
  );

  await t.test('a call that the role does not permit is recorded with its person', async (t) => {
    const { token } = await createPerson(world, { personId: 'mika', role: 'support' });
    const made = await within(async () => {
      await anybody.delete('/admin/v1/developers/dev', { token });
      await anybody.post('/admin/v1/people', { json: { name: 'x', role: 'owner' }, token });
    });
    t.match(made, [
      {
        resource: '/admin/v1/developers/dev',
        details: { code: 'ROLE_INSUFFICIENT', count: 2, method: 'DELETE' },
        objects: [{ kind: 'person', id: 'mika' }],
      },
    ]);
  });

  await t.test('so are a forged request, and a wrong secret of an application; an ended session is not', async (t) => {
    const base = world.service.addresses.admin;
    const cookie = await signIn(t, base, world.service.adminToken);
    const made = await within(async () => {
      const basic = Buffer.from(`${tenant.applicationId}:wrong`).toString('base64');
      const headers = { authorization: `Basic ${basic}` };
      await world.anonymous().post('/api/v1/authenticate', { headers, form: { grant_type: 'client_credentials' } });
      await anybody.delete('/admin/v1/developers/dev', { headers: { ...pageHeaders('https://other.test'), cookie } });
      const ended = `__Host-lapel=${'x'.repeat(43)}`;
      await anybody.get('/admin/v1/people', { headers: { ...pageHeaders(base), cookie: ended } });
    });
    t.match(made, [
      { action: 'REFUSED admin', details: { code: 'CONSOLE_REQUEST_FORGED' } },
      {
        action: 'REFUSED api',
        details: { code: 'CLIENT_INVALID' },
        objects: [{ kind: 'application', id: tenant.applicationId }],
      },
    ]);
  });

  await t.test('a flood from many addresses makes a bounded number of entries', async (t) => {
    const made = await within(async () => {
      for (let count = 0; count < MOST_KINDS + 30; count += 1)
        await anybody.get('/admin/v1/people', { headers: { 'x-forwarded-for': `198.51.100.${count}` } });
    });
    t.equal(made.length, MOST_KINDS + 1);
    t.match(made[0], { details: { code: 'OTHERS', count: 30 } });
    const metrics = String((await anybody.get('/metrics')).body);
    t.match(metrics, /lapel_refused_calls_total\{code="ADMIN_TOKEN_INVALID"\} 56/);
  });

  await t.test('what was counted is written when the service stops', async (t) => {
    await anybody.get('/admin/v1/people', { token: 'wrong' });
    await world.restart();
    const { entries } = (await world.admin().get('/admin/v1/audit?limit=5')).body;
    t.ok(entries.some(({ action }: { action: string }) => action === 'REFUSED admin'));
    t.match((await world.admin().get('/admin/v1/audit/verification')).body, { broken: null });
  });
});
