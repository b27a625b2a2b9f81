import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MOST_FINISHING_OF_ADDRESS } from '../../src/edge/admin/sign-in/sign-ins.ts';
import { until } from '../until.ts';
import { reasonOf, startTwo } from './sign-in-world.ts';
import { createVisitor } from './test-visitor.ts';

const MINUTE = 60_000;

t.test('people sign in through a provider', async (t) => {
  const { world, company, other, meet } = await startTwo(t);
  const { clock } = world;
  const base = world.service.addresses.admin;
  const admin = world.admin();
  const people = async () =>
    (await admin.get('/admin/v1/people')).body.people as { personId: string; login: { issuer: string } }[];
  const refusals = async () => {
    clock.advance(MINUTE);
    await world.idle();
    const { body } = await admin.get('/admin/v1/audit?resource=/console/sign-in&actor=service');
    return body.entries as { details: { code: string; subject?: string }; about?: object }[];
  };
  t.beforeEach(() => {
    for (const one of [company, other]) Object.assign(one.state, { subject: 'ada', lie: null, answer: null });
    company.accounts.set('ada', { name: 'Ada', roles: ['unknown', 'operators'] });
    other.accounts.set('ada', { name: 'Another Ada', roles: 'readers' });
  });

  await t.test('with the role of the claim, as a person who is known by issuer and subject', async (t) => {
    const ada = createVisitor(base);
    const done = await ada.signIn('company', 'devices?connected=true');
    t.equal(done.location, `${base}/console/devices?connected=true`, 'one is where one wanted to be');
    t.match(done.cookies[0], /^__Host-lapel=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/);
    t.same([...ada.own().keys()], ['__Host-lapel'], 'nothing is left of the attempt');
    const me = await ada.ask('/console/session');
    t.match(me.body, { role: 'operator', name: 'Ada', token: null });
    t.equal((await ada.ask('/admin/v1/devices')).status, 200);
    t.equal((await ada.ask('/admin/v1/people', 'POST', { name: 'x', role: 'reader' })).code, 'ROLE_INSUFFICIENT');
    t.match(await people(), [
      { personId: me.body.personId, name: 'Ada', login: { issuer: company.issuer, subject: 'ada', hasRole: true } },
    ]);
    const { entries } = (await admin.get(`/admin/v1/audit?about=person:${me.body.personId}`)).body;
    t.match(entries, [{ action: 'SIGN-IN /people', details: { subject: 'ada', before: null, role: 'operator' } }]);
    const logins = (await admin.get('/admin/v1/audit?resource=/console/sign-in/company')).body.entries;
    const actor = { kind: 'session', personId: me.body.personId, token: null };
    t.match(logins, [{ actor, status: 303, details: { provider: 'company' } }]);
    t.notMatch(JSON.stringify(entries.concat(logins)), /code=|state=/);
  });

  await t.test('two providers with the same subject are two people, also when roles come from userinfo', async (t) => {
    const ada = createVisitor(base);
    await ada.signIn('other');
    t.match((await ada.ask('/console/session')).body, { role: 'reader', name: 'Another Ada' });
    const issuers = (await people()).map(({ login }) => login.issuer);
    t.same(issuers.sort(), [company.issuer, other.issuer].sort());
  });

  await t.test('the role is taken at each sign-in, and is lost with the claim', async (t) => {
    const before = createVisitor(base);
    await before.signIn('company');
    company.accounts.set('ada', { name: 'Ada L.', roles: ['helpers', 'readers'] });
    const after = createVisitor(base);
    await after.signIn('company');
    t.match((await after.ask('/console/session')).body, { role: 'support', name: 'Ada L.' }, 'the mightiest one');
    t.match((await before.ask('/console/session')).body, { role: 'support' }, 'older sessions have it as well');
    company.accounts.set('ada', { roles: ['unknown'] });
    const refused = await createVisitor(base).signIn('company');
    t.equal(reasonOf(refused), 'SIGN_IN_NO_ROLE');
    t.equal(new URL(refused.location).pathname, '/console/');
    t.equal((await after.ask('/admin/v1/devices')).code, 'SESSION_ENDED');
    const { personId = '' } = (await people()).find(({ login }) => login.issuer === company.issuer) ?? {};
    t.match((await admin.get(`/admin/v1/people/${personId}`)).body, { disabled: true, login: { hasRole: false } });
    // Administration disables a person who is disabled already; that is no way round the provider.
    await admin.patch(`/admin/v1/people/${personId}`, { json: { disabled: true } });
    const enabled = await admin.patch(`/admin/v1/people/${personId}`, { json: { disabled: false } });
    t.match(enabled, { status: 409 }, 'only the provider lets them in again');
    t.equal(enabled.headers['lapel-error-code'], 'PERSON_OF_PROVIDER');
    company.accounts.set('ada', { roles: ['operators'] });
    const again = createVisitor(base);
    await again.signIn('company');
    t.match((await again.ask('/console/session')).body, { personId, role: 'operator' });
    const promoted = await admin.patch(`/admin/v1/people/${personId}`, { json: { role: 'owner' } });
    t.equal(promoted.headers['lapel-error-code'], 'PERSON_OF_PROVIDER');
    t.equal((await admin.patch(`/admin/v1/people/${personId}`, { json: { name: 'Ada' } })).status, 200);
  });

  await t.test('somebody without a role is not stored, and the refusal is in the audit log', async (t) => {
    company.state.subject = 'stranger';
    for (const roles of [undefined, [], ['Operators'], ['__proto__'], 'constructor']) {
      company.accounts.set('stranger', roles === undefined ? {} : { roles });
      t.equal(reasonOf(await createVisitor(base).signIn('company')), 'SIGN_IN_NO_ROLE', JSON.stringify(roles));
    }
    t.notMatch(await people(), /stranger/);
    const [entry] = await refusals();
    t.match(entry, { details: { code: 'SIGN_IN_NO_ROLE', subject: 'stranger', count: 5 } });
  });

  await t.test('a disabled person stays out, whatever the provider says', async (t) => {
    const ada = createVisitor(base);
    await ada.signIn('company');
    const { personId } = (await ada.ask('/console/session')).body;
    t.equal((await admin.patch(`/admin/v1/people/${personId}`, { json: { disabled: true } })).status, 200);
    t.equal((await ada.ask('/admin/v1/devices')).code, 'SESSION_ENDED');
    t.equal(reasonOf(await createVisitor(base).signIn('company')), 'SIGN_IN_DISABLED');
    company.accounts.set('ada', { roles: [] });
    await createVisitor(base).signIn('company');
    company.accounts.set('ada', { roles: ['owners'] });
    t.equal(reasonOf(await createVisitor(base).signIn('company')), 'SIGN_IN_DISABLED');
    t.match((await refusals())[0], { details: { code: 'SIGN_IN_DISABLED', subject: 'ada' } });
    t.equal((await admin.patch(`/admin/v1/people/${personId}`, { json: { disabled: false } })).status, 200);
    t.equal(reasonOf(await createVisitor(base).signIn('company')), null);
  });

  await t.test('an answer that does not belong to the browser’s own sign-in is refused', async (t) => {
    const ada = createVisitor(base);
    const back = await ada.throughProvider((await ada.begin('company')).url);
    const attempts: [string, () => Promise<{ location: string }>][] = [
      ['in another browser', () => createVisitor(base).visit(back)],
      ['with another state', () => ada.visit(back.replace(/state=[^&]+/, `state=${'x'.repeat(43)}`))],
    ];
    for (const [what, attempt] of attempts) t.equal(reasonOf(await attempt()), 'SIGN_IN_FORGED', what);
    const mallory = createVisitor(base);
    await mallory.begin('company');
    t.equal(reasonOf(await mallory.visit(back)), 'SIGN_IN_FORGED', 'the code of somebody else');

    const slow = createVisitor(base);
    const late = await slow.throughProvider((await slow.begin('company')).url);
    clock.advance(10 * MINUTE);
    t.equal(reasonOf(await slow.visit(late)), 'SIGN_IN_FORGED', 'after ten minutes');

    const mixed = createVisitor(base);
    const swapped = (await mixed.throughProvider((await mixed.begin('company')).url)).replace('/company?', '/other?');
    t.equal(reasonOf(await mixed.visit(swapped)), 'SIGN_IN_FORGED', 'at the redirect URI of another provider');
    t.match((await refusals())[0], { details: { code: 'SIGN_IN_FORGED' } });
  });

  await t.test('a changed cookie, or a code that was used before, opens nothing', async (t) => {
    const NAME = '__Host-lapel-sign-in';
    const ada = createVisitor(base);
    const back = await ada.throughProvider((await ada.begin('company', 'devices')).url);
    const cookie = ada.own().get(NAME) ?? '';
    const attempt = JSON.parse(Buffer.from(cookie, 'base64url').toString());
    for (const change of [
      { page: 'people' },
      { base: 'https://lapel.example' },
      { at: attempt.at + 1 },
      { secret: 'x' },
    ]) {
      ada.own().set(NAME, Buffer.from(JSON.stringify({ ...attempt, ...change })).toString('base64url'));
      t.equal(reasonOf(await ada.visit(back)), 'SIGN_IN_FORGED', JSON.stringify(change));
    }
    ada.own().set(NAME, cookie);
    t.equal(reasonOf(await ada.visit(back)), null);
    t.equal(reasonOf(await ada.visit(back)), 'SIGN_IN_FORGED', 'the attempt has ended');
    const thief = createVisitor(base);
    thief.own().set(NAME, cookie);
    t.equal(reasonOf(await thief.visit(back)), 'SIGN_IN_REFUSED', 'the provider refuses a used code');
    t.notOk(thief.own().has('__Host-lapel'));
  });

  await t.test('an ID token for somebody else, from somebody else, or with a wrong signature is refused', async (t) => {
    const lies = [
      { nonce: 'another' },
      { nonce: undefined },
      { iss: 'https://other.example' },
      { iss: other.issuer },
      { aud: 'another' },
      { aud: ['lapel', 'another'], azp: 'another' },
      { exp: 1_700_000_000 },
      { forged: true },
      { sub: 'x'.repeat(256) },
    ];
    for (const lie of lies) {
      company.state.lie = lie;
      t.equal(reasonOf(await createVisitor(base).signIn('company')), 'SIGN_IN_REFUSED', JSON.stringify(lie));
    }
    company.state.lie = null;
    const ada = createVisitor(base);
    const back = await ada.throughProvider((await ada.begin('company')).url);
    const foreign = back.replace(/iss=[^&]+/, `iss=${encodeURIComponent(other.issuer)}`);
    t.not(foreign, back);
    t.equal(reasonOf(await ada.visit(foreign)), 'SIGN_IN_REFUSED', 'an answer of another issuer');
    const denied = createVisitor(base);
    company.state.subject = '';
    t.equal(reasonOf(await denied.signIn('company')), 'SIGN_IN_DENIED');
  });

  await t.test('only pages of the console can begin, and are returned to', async (t) => {
    const ada = createVisitor(base);
    for (const page of [
      '/devices',
      '//lapel.example',
      '\\\\lapel.example',
      '../metrics',
      'a/../../x',
      '%2e%2e/x',
      'a#b',
    ])
      t.match(await ada.begin('company', page), { status: 400 }, page);
    t.match(await ada.begin('nobody'), { status: 404, code: 'PROVIDER_NOT_FOUND' });
    const foreign = {
      origin: 'https://lapel.example',
      'sec-fetch-site': 'cross-site',
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ providerId: 'company' });
    const forged = await ada.visit(`${base}/console/sign-in`, { method: 'POST', headers: foreign, body });
    t.match(forged, { status: 403, code: 'CONSOLE_REQUEST_FORGED' });
    const strange = await ada.signIn('company', 'https:lapel.example');
    t.equal(strange.location, `${base}/console/https:lapel.example`);
  });

  await t.test('a sign-out ends the session here and leads to the provider', async (t) => {
    const ada = createVisitor(base);
    await ada.signIn('company');
    const out = await ada.ask('/console/session', 'DELETE');
    t.equal(out.status, 200);
    const url = new URL(out.body.url);
    t.equal(url.origin, company.issuer);
    t.equal(url.searchParams.get('post_logout_redirect_uri'), `${base}/console/`);
    t.match(await ada.visit(url.href), { status: 200 }, 'the provider knows the client and the address');
    t.equal((await ada.ask('/admin/v1/devices')).status, 401);
  });

  await t.test('the answers that are worked on at a time are bounded for each address', async (t) => {
    const visitors = Array.from({ length: MOST_FINISHING_OF_ADDRESS + 1 }, () => createVisitor(base));
    const backs: string[] = [];
    for (const one of visitors) backs.push(await one.throughProvider((await one.begin('company')).url));
    company.state.isSlow = true;
    const [first, ...rest] = visitors.map((one, index) => one.visit(backs[index] as string));
    await until(() => company.waiting() === MOST_FINISHING_OF_ADDRESS);
    const answers = Promise.all([first, ...rest]);
    clock.advance(5_000);
    const reasons = (await answers).map((one) => String(reasonOf(one as { location: string })));
    company.state.isSlow = false;
    company.release();
    t.same(
      Object.fromEntries(
        Map.groupBy(reasons, String)
          .entries()
          .map(([code, { length }]) => [code, length]),
      ),
      {
        RATE_LIMITED: 1,
        SIGN_IN_UNAVAILABLE: MOST_FINISHING_OF_ADDRESS,
      },
    );
    t.match((await world.anonymousAdmin().get('/metrics')).body, /bound="sign_ins"\} 1/);
  });

  await t.test('a restored database knows the people of before, and lets others in again', async (t) => {
    if (world.databaseUrl !== null) return;
    const file = join(world.dataDir, 'lapel.db');
    await world.restart(() => copyFileSync(file, join(world.dataDir, 'kept.db')));
    let at = meet();
    company.state.subject = 'new';
    company.accounts.set('new', { name: 'New', roles: ['readers'] });
    const late = createVisitor(at);
    await late.signIn('company');
    const { personId } = (await late.ask('/console/session')).body;
    await world.restart(() => {
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
      copyFileSync(join(world.dataDir, 'kept.db'), file);
    });
    at = meet();
    const secret = late.own().get('__Host-lapel') ?? '';
    const again = createVisitor(at);
    again.own().set('__Host-lapel', secret);
    t.equal((await again.ask('/admin/v1/devices')).code, 'SESSION_ENDED', 'a session from after the backup');
    await again.signIn('company');
    const me = (await again.ask('/console/session')).body;
    t.match(me, { name: 'New', role: 'reader' });
    t.not(me.personId, personId);
    company.state.subject = 'ada';
    const ada = createVisitor(at);
    t.equal(reasonOf(await ada.signIn('company')), null);
    t.equal((await world.admin().get('/admin/v1/people')).body.total, 3);
  });
});
