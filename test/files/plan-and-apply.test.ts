import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { standOf } from './stand.ts';

const FILES = {
  'settings.yaml': `application: dev-app
settings:
  deviceEvent: https://events.example/hook
  callEvent: \${env:CALL_URL}
`,
  'endpoints.yaml': `endpoints:
  - description: billing
    url: https://billing.example/x
    types: [transaction.*]
    ratePerSecond: 20
    secretTo: secrets/billing
  - description: audit
    url: https://audit.example/x
    signatures: [v1a]
`,
};
const env = { CALL_URL: 'https://calls.example/hidden-token-4711' };

t.test('settings and endpoints come from files', async (t) => {
  const stand = await standOf(t);
  const { tenant, lapel, folder } = stand;
  stand.write(FILES);
  const endpoints = async () => (await tenant.api.get(`${tenant.path}/endpoints`)).body.endpoints;

  await t.test('a plan says in words what would change, and changes nothing', async (t) => {
    const { code, stdout } = await lapel(`plan -f ${folder}`, { env });
    t.equal(code, 3);
    t.match(
      stdout,
      /change {2}settings {2}.*settings\.yaml:2\n {10}deviceEvent: .* -> https:\/\/events\.example\/hook\n/,
    );
    t.match(stdout, /callEvent: null -> \$\{env:CALL_URL\}/);
    t.match(stdout, /create {2}endpoint billing {2}.*endpoints\.yaml:2\n/);
    t.match(stdout, /2 to create, 1 to change; 0 as the files say/);
    t.same(await endpoints(), []);
  });

  await t.test('apply needs somebody who says yes', async (t) => {
    t.match(await lapel(`apply -f ${folder}`, { env }), {
      code: 2,
      stderr: /--yes: is needed without a terminal/,
    });
    t.match(await lapel(`apply -f ${folder}`, { env, answers: ['n'] }), {
      code: 1,
      stderr: /not applied; nothing was/,
    });
    t.same(await endpoints(), []);
  });

  await t.test('a plan is empty after its apply, and a second apply does nothing', async (t) => {
    const applied = await lapel(`apply -f ${folder}`, { env, answers: ['y'] });
    t.match(applied, { code: 0, stdout: 'applied: 2 to create, 1 to change; 0 as the files say\n' }, applied.stderr);
    t.match(await lapel(`plan -f ${folder}`, { env }), { code: 0, stdout: /nothing to change; 3 as the files say/ });
    const before = await endpoints();
    t.match(await lapel(`apply -f ${folder} --yes`, { env }), { code: 0, stdout: /nothing to change/ });
    t.same(await endpoints(), before);
    t.match((await tenant.api.get(tenant.path)).body, {
      deviceEvent: 'https://events.example/hook',
      callEvent: env.CALL_URL,
    });
  });

  await t.test('the secret is in its file, for its owner only, and in no output', async (t) => {
    const path = join(folder, 'secrets/billing');
    t.match(readFileSync(path, 'utf8'), /^whsec_\S+\n$/);
    t.equal(statSync(path).mode & 0o777, 0o600);
    t.notOk(existsSync(`${path}.pending`));
    for (const line of ['plan', 'plan --json', 'apply --yes --json']) {
      const [word, ...rest] = line.split(' ');
      const { stdout, stderr } = await lapel([word, '-f', folder, ...rest].join(' '), { env });
      t.notMatch(stdout + stderr, /whsec_|hidden-token/, line);
    }
  });

  await t.test('what no file names is not touched, and is named', async (t) => {
    await lapel('endpoint add https://other.example/ --description by-hand');
    const { code, stdout } = await lapel(`plan -f ${folder}`, { env });
    t.equal(code, 0);
    t.match(stdout, /Not touched: no file names them\n {2}1 endpoint: by-hand\n/);
  });

  await t.test('a removal is said by the file, or by an exclusive list', async (t) => {
    stand.write({ 'endpoints.yaml': 'endpoints:\n  - description: by-hand\n    absent: true\n' });
    t.match(await lapel(`apply -f ${folder} --yes`, { env }), { code: 0, stderr: /removed endpoint by-hand/ });
    t.equal((await endpoints()).length, 2);
    stand.write({
      'endpoints.yaml': FILES['endpoints.yaml'].replace(/ {2}- description: audit[\s\S]*$/, 'exclusive: [endpoints]\n'),
    });
    t.match(await lapel(`apply -f ${folder} --yes`, { env }), {
      code: 0,
      stderr: /remove {2}endpoint audit\n.*\n {10}\(the list of endpoints is exclusive\)/,
    });
    t.equal((await endpoints()).length, 1);
  });

  await t.test('an export makes files whose plan is empty', async (t) => {
    const other = join(folder, 'exported');
    await lapel('endpoint add https://other.example/ --description $' + '{odd}');
    await lapel('endpoint add https://one.example/');
    const written = await lapel(`export -f ${other}`);
    t.equal(written.code, 0, written.stderr);
    t.match(written.stdout, /endpoints\.yaml\n {2}The secrets are shown by nothing/);
    t.match(
      readFileSync(join(other, 'endpoints.yaml'), 'utf8'),
      /^# yaml-language-server: \$schema=lapel\.schema\.json\n/,
    );
    const planned = await lapel(`plan -f ${other}`);
    t.match(planned, { code: 0, stdout: /nothing to change; 4 as the files say/ }, planned.stdout + planned.stderr);
    t.match(await lapel(`export -f ${other}`), { code: 2, stderr: /--replace: is needed/ });
  });
});
