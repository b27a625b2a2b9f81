import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { createPerson } from './people-world.ts';
import { reasonOf, startTwo } from './sign-in-world.ts';
import { CLIENT } from './test-provider.ts';
import { createVisitor } from './test-visitor.ts';

const MINUTE = 60_000;

/** Begins a sign-in at a page of https://lapel.test, as the proxy of that address passes it on. */
const beginBehindProxy = (visitor: ReturnType<typeof createVisitor>, base: string) =>
  visitor.visit(`${base}/console/sign-in`, {
    method: 'POST',
    headers: {
      origin: 'https://lapel.test',
      'x-forwarded-host': 'lapel.test',
      'sec-fetch-site': 'same-origin',
      'x-lapel-console': '1',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ providerId: 'company' }),
  });

t.test('a provider that is down, slow or broken keeps nobody else out', async (t) => {
  const { world, company } = await startTwo(t);
  const base = world.service.addresses.admin;
  company.state.subject = 'ada';
  company.accounts.set('ada', { roles: ['owners'] });
  const metric = async (outcome: string) =>
    new RegExp(`sign_ins_total\\{provider="company",outcome="${outcome}"\\} (\\d+)`).exec(
      (await world.anonymousAdmin().get('/metrics')).body,
    )?.[1];
  await company.stop();
  const ada = createVisitor(base);
  const unavailable = { status: 503, code: 'SIGN_IN_UNAVAILABLE' };
  t.match(await ada.begin('company'), unavailable, 'it is down');
  const { token } = await createPerson(world, { personId: 'olu', role: 'owner' });
  t.equal((await world.anonymousAdmin().get('/admin/v1/me', { token })).status, 200, 'tokens are good');
  await company.start();
  t.match(await ada.begin('company'), unavailable, 'it is not asked again at once');
  t.equal(company.state.requests, 0);
  world.clock.advance(5_000);

  company.state.isSlow = true;
  const slow = ada.begin('company');
  await until(() => company.waiting() === 1);
  world.clock.advance(5_000);
  t.match(await slow, unavailable, 'it is too slow');
  Object.assign(company.state, { isSlow: false });
  company.release();
  const broken = [
    { status: 500, body: '{}' },
    { status: 200, body: 'x' },
    { status: 200, body: '{}' },
    { status: 200, body: `{"issuer":"${'x'.repeat(300_000)}"}` },
    { status: 200, body: '{"issuer":"https://other.example"}' },
  ];
  for (const answer of broken) {
    world.clock.advance(5_000);
    company.state.answer = answer;
    t.match(await ada.begin('company'), unavailable, answer.body.slice(0, 40));
  }
  world.clock.advance(5_000);
  company.state.answer = null;
  const back = await ada.throughProvider((await ada.begin('company')).url);
  await company.stop();
  t.equal(reasonOf(await ada.visit(back)), 'SIGN_IN_UNAVAILABLE', 'it goes down before the code is exchanged');
  t.equal(await metric('SIGN_IN_UNAVAILABLE'), '1');
  await company.start();
  await ada.signIn('company');
  t.equal(await metric('signed in'), '1');
  await company.stop();
  world.clock.advance(10 * MINUTE);
  t.equal((await ada.ask('/console/session', 'DELETE')).status, 204, 'a sign-out does not need it');
});

t.test('the secret of the client changes in its file, without a restart', async (t) => {
  const folder = t.testdir({ secret: 'a secret of before', data: {} });
  const clientSecretFile = join(folder, 'secret');
  const ofCompany = { clientSecret: undefined, clientSecretFile };
  const { world, company } = await startTwo(t, { dataDir: join(folder, 'data'), ofCompany });
  company.state.subject = 'ada';
  company.accounts.set('ada', { roles: ['owners'] });
  const ada = createVisitor(world.service.addresses.admin);
  const signIn = async () => reasonOf(await ada.visit(await ada.throughProvider((await ada.begin('company')).url)));
  t.equal(await signIn(), 'SIGN_IN_REFUSED');
  rmSync(clientSecretFile);
  t.equal(await signIn(), 'SIGN_IN_REFUSED', 'while it is away, the one of before is used');
  writeFileSync(clientSecretFile, `${CLIENT.client_secret}\n`);
  t.equal(await signIn(), null);
});

t.test('behind a proxy the provider leads back to LAPEL_CONSOLE_URL', async (t) => {
  const { world, company } = await startTwo(t, { env: { LAPEL_CONSOLE_URL: 'https://lapel.test/ops/console/' } });
  const base = world.service.addresses.admin;
  company.register('https://lapel.test/ops', 'company');
  t.match(await createVisitor(base).begin('company'), {
    status: 409,
    code: 'SIGN_IN_ELSEWHERE',
    text: /lapel\.test\/ops/,
  });
  const behind = createVisitor(base);
  const begun = await beginBehindProxy(behind, base);
  const { url } = JSON.parse(begun.text) as { url: string };
  t.equal(new URL(url).searchParams.get('redirect_uri'), 'https://lapel.test/ops/console/sign-in/company');
});

t.test('a sign-in begins at one node and ends at another', { skip: NO_POSTGRES }, async (t) => {
  const { world, company } = await startTwo(t, { nodes: 2, env: { LAPEL_CONSOLE_URL: 'https://lapel.test' } });
  const [first = '', second = ''] = world.nodes.map(({ addresses }) => addresses.admin);
  company.register('https://lapel.test', 'company');
  company.state.subject = 'ada';
  company.accounts.set('ada', { roles: 'owners' });
  const ada = createVisitor('https://lapel.test');
  const begun = await beginBehindProxy(ada, first);
  const back = new URL(await ada.throughProvider((JSON.parse(begun.text) as { url: string }).url));
  const [cookie = ''] = (begun.cookies[0] ?? '').split(';');
  const ended = await createVisitor(second).visit(`${second}${back.pathname}${back.search}`, { headers: { cookie } });
  t.equal(reasonOf(ended), null);
  const session = (ended.cookies[0] ?? '').split(';')[0] ?? '';
  for (const node of [first, second]) {
    const me = await createVisitor(node).visit(`${node}/console/session`, {
      headers: { cookie: session, 'sec-fetch-site': 'same-origin' },
    });
    t.match(JSON.parse(me.text), { role: 'owner', name: 'ada' });
  }
});
