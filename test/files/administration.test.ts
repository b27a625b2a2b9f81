import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { standOf } from './stand.ts';

const FILE = `administration:
  developers:
    - developerId: acme
      name: Acme
      deviceLimit: 50
      softwareSignatures: optional
      applications:
        - applicationId: patrol
          name: Patrol
          authentication: secret
          secretTo: secrets/patrol
      members:
        - { name: Ann, role: developer, expiresInDays: 30, tokenTo: secrets/ann }
      enrolmentBatches:
        - name: spring
          expiresAt: 2027-03-01T00:00:00Z
          mostDevices: 100
          approval: manual
          codeTo: secrets/spring
  people:
    - { personId: bob, name: Bob, role: support, disabled: true }
`;

t.test('developers, applications, people and batches come from files', async (t) => {
  const stand = await standOf(t);
  const { world, lapel, folder } = stand;
  const admin = world.admin();
  const at = '/admin/v1/developers/acme';
  stand.write({ 'administration.yaml': FILE });

  await t.test('a token of administration is enough, and needed', async (t) => {
    const env = { LAPEL_APPLICATION_SECRET: '', LAPEL_APPLICATION: '', LAPEL_URL: 'http://127.0.0.1:1' };
    t.match(await lapel(`plan -f ${folder}`, { env }), { code: 3, stdout: /^administration at http/ });
    const wrong = { LAPEL_ADMIN_TOKEN: 'lapel_wrong' };
    t.match(await lapel(`plan -f ${folder}`, { env: wrong }), {
      code: 1,
      stderr: /401 administrator token is missing/,
    });
  });

  await t.test('an apply makes all of it in order, with its secrets in files', async (t) => {
    const { steps } = await stand.plan();
    t.same(
      steps.map(({ kind, name, action }) => `${action} ${kind} ${name}`),
      [
        'create developer acme',
        'create application patrol',
        'create member Ann of acme',
        'create enrolment batch spring of acme',
        'create person bob',
      ],
    );
    const applied = await stand.apply();
    t.equal(applied.code, 0, applied.stderr);
    for (const name of ['patrol', 'ann', 'spring']) {
      const path = join(folder, 'secrets', name);
      const text = readFileSync(path, 'utf8').trim();
      t.equal(statSync(path).mode & 0o777, 0o600);
      t.notOk(existsSync(`${path}.pending`));
      t.ok(text.length > 10 && !(applied.stdout + applied.stderr).includes(text), `${name} is in no output`);
    }
    const secret = readFileSync(join(folder, 'secrets/patrol'), 'utf8').trim();
    const url = world.service.addresses.http;
    t.match(await lapel(`endpoint list --application patrol --secret ${secret} --url ${url}`), { code: 0 });
    t.match((await admin.get('/admin/v1/people/bob')).body, { role: 'support', disabled: true });
    t.match(await stand.plan(), { code: 0, steps: [], refused: [], unchanged: 5 });
    t.match(await stand.apply(), { code: 0, stdout: /nothing to change/ });
  });

  await t.test('contracts and people are changed in place', async (t) => {
    stand.write({ 'administration.yaml': FILE.replace('50', '60').replace('role: support', 'role: operator') });
    t.match((await stand.plan()).steps, [
      { kind: 'developer', changes: [{ field: 'deviceLimit', before: 50, after: 60 }] },
      { kind: 'person', changes: [{ field: 'role', before: 'support', after: 'operator' }] },
    ]);
    t.match(await stand.apply(), { code: 0 });
    t.match((await admin.get(at)).body, { deviceLimit: 60 });
  });

  await t.test('what can be made only anew needs replace, and another file for its secret', async (t) => {
    const other = FILE.replace('mostDevices: 100', 'mostDevices: 200').replace('role: developer', 'role: reader');
    stand.write({ 'administration.yaml': other });
    const { code, refused } = await stand.plan();
    t.equal(code, 1);
    t.match(refused, [
      { name: 'Ann of acme', reason: /role: cannot be changed; with replace: true/ },
      { name: 'spring of acme', reason: /mostDevices: cannot be changed; with replace: true/ },
    ]);
    const replaced = other
      .replace('tokenTo: secrets/ann', 'tokenTo: secrets/ann2, replace: true')
      .replace('codeTo: secrets/spring', 'codeTo: secrets/spring2\n          replace: true');
    stand.write({ 'administration.yaml': replaced });
    const applied = await stand.apply();
    t.equal(applied.code, 0, applied.stderr);
    t.match((await admin.get(`${at}/members`)).body, { members: [{ name: 'Ann', role: 'reader' }] });
    const batches = (await admin.get(`${at}/enrolment-batches`)).body.batches;
    t.same(batches.map(({ state, mostDevices }: Record<string, unknown>) => [state, mostDevices]).sort(), [
      ['open', 200],
      ['revoked', 100],
    ]);
    t.match(await stand.plan(), { code: 0 });
  });

  await t.test('a secret that an interrupted apply has lost is made again', async (t) => {
    const names = {
      patrol: 'application patrol',
      ann2: 'member Ann of acme',
      spring2: 'enrolment batch spring of acme',
    };
    for (const [name, object] of Object.entries(names)) {
      const path = join(folder, 'secrets', name);
      const before = readFileSync(path, 'utf8');
      renameSync(path, `${path}.pending`);
      const { steps } = await stand.plan();
      t.same(
        steps.map((one) => `${one.action} ${one.kind} ${one.name}`),
        [`replace ${object}`],
      );
      t.match(await stand.apply(), { code: 0 });
      t.not(readFileSync(path, 'utf8'), before);
      t.match(await stand.plan(), { code: 0 });
    }
  });

  await t.test('a file that exists is never overwritten by a secret', async (t) => {
    writeFileSync(join(folder, 'secrets/third'), 'mine\n');
    const file = `administration:
  developers:
    - developerId: acme
      applications: [{ applicationId: third, name: Third, secretTo: secrets/third }, { applicationId: fourth, name: Fourth }]
`;
    stand.write({ 'administration.yaml': file });
    t.match((await stand.plan()).refused, [
      { name: 'third', reason: 'secrets/third exists, and is not overwritten; move it away' },
      { name: 'fourth', reason: /needs secretTo/ },
    ]);
    t.equal(readFileSync(join(folder, 'secrets/third'), 'utf8'), 'mine\n');
  });

  await t.test('an export makes files whose plan is empty', async (t) => {
    const other = join(folder, 'exported');
    const written = await lapel(`export -f ${other} --only-admin`);
    t.equal(written.code, 0, written.stderr);
    const planned = await lapel(`plan -f ${other}`);
    t.match(planned, { code: 0, stdout: /nothing to change; \d+ as the files say/ }, planned.stdout + planned.stderr);
    t.notMatch(planned.stdout, /Not touched/);
  });

  await t.test('what is absent is removed in order', async (t) => {
    stand.write({ 'administration.yaml': 'administration:\n  developers: [{ developerId: acme, absent: true }]\n' });
    t.match((await stand.plan()).refused, [{ reason: 'it has applications; name each as absent: patrol' }]);
    stand.write({
      'administration.yaml': `administration:
  developers:
    - { developerId: acme, absent: true, applications: [{ applicationId: patrol, absent: true }] }
  people: [{ personId: bob, absent: true }]
`,
    });
    const applied = await stand.apply();
    t.equal(applied.code, 0, applied.stderr);
    t.equal((await admin.get(at)).status, 404);
    t.equal((await admin.get('/admin/v1/people/bob')).status, 404);
    t.match(await stand.plan(), { code: 0, unchanged: 2 });
  });
});
