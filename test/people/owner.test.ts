import t from 'tap';
import { run } from '../cli/run.ts';
import { runMain } from '../flow/service-process.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { startWorld } from '../world.ts';
import { createPerson } from './people-world.ts';

t.test('the command line', async (t) => {
  const world = await startWorld(t);
  const { addresses, adminToken } = world.service;
  const env = { LAPEL_ADMIN_URL: addresses.admin };
  const lapel = (line: string, token = adminToken) =>
    run(['admin', ...line.split(' ')], { env: { ...env, LAPEL_ADMIN_TOKEN: token } });
  const good = async (line: string, token?: string) => {
    const { code, stdout, stderr } = await lapel(`${line} --json`, token);
    t.equal(code, 0, `${line}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  await t.test('makes people and tokens, which act with the role of the person', async (t) => {
    t.match(await good('whoami'), { role: 'owner', personId: null });
    t.match(await good('person create mika --name Mika --role support'), { personId: 'mika', disabled: false });
    const made = await lapel('token create mika --name laptop --days 30');
    t.match(made, { code: 0, stdout: /\ntoken +lapel_\S{43}\nIt is shown only now, and never again/ });
    const [, token = ''] = /token +(lapel_\S+)/.exec(made.stdout) ?? [];
    t.match((await lapel('whoami', token)).stdout, /role +support\npersonId +mika\nname +Mika\ntoken +laptop\n/);
    t.match(await lapel('developer create acme --name Acme', token), {
      code: 1,
      stderr: /403 this needs the role operator; your role is support\./,
    });
    t.match(
      (await lapel('person list')).stdout,
      /^PERSON +ROLE +NAME +DISABLED +TOKENS +USED\nmika +support +Mika +false +1/,
    );
    t.match((await lapel('person show mika')).stdout, /role +support\n.*\n.*\n\nTOKEN +NAME .*\ntoken_\w+ +laptop /);
    const { token: renewed } = await good('token renew', token);
    t.equal((await lapel('whoami', token)).code, 1);
    t.match(await good('whoami', String(renewed)), { role: 'support' });
    t.match(await good('person update mika --role operator'), { role: 'operator' });
    t.match(await good('developer create acme --name Acme', String(renewed)), { developerId: 'acme' });
    t.match(await good('person disable mika'), { disabled: true });
    t.equal((await lapel('whoami', String(renewed))).code, 1);
    await good('person enable mika');
    const { tokens } = (await good('person show mika')) as { tokens: { tokenId: string }[] };
    t.match(await lapel(`token revoke mika ${tokens[0]?.tokenId}`), { code: 0, stdout: /^revoked: mika token_/ });
    t.equal((await lapel('whoami', String(renewed))).code, 1);
    t.match(await lapel('token create mika --name robot --no-days --json'), { stdout: /"expiresAt": ?null/ });
    t.match(await lapel('person delete mika'), { code: 0, stdout: 'deleted: mika\n' });
  });

  await t.test('stores the renewed token where lapel login has stored the old one', async (t) => {
    const { token } = await createPerson(world, { personId: 'nia', role: 'reader' });
    const own = { env: { XDG_CONFIG_HOME: t.testdir() } };
    const login = ['login', '--admin', '--token-stdin', '--admin-url', addresses.admin];
    t.match(await run(login, { ...own, input: token }), { code: 0, stdout: /as Person nia \(reader\): / });
    t.match(await run(['admin', 'token', 'renew'], own), { code: 0, stdout: /It is stored in the profile\./ });
    t.match(await run(['admin', 'whoami'], own), { code: 0, stdout: /personId +nia/ });
    t.equal((await lapel('whoami', token)).code, 1);
  });

  await t.test('lets the administrator token be refused and accepted', async (t) => {
    t.match(await lapel('administrator-token refuse'), { code: 1, stderr: /409 this needs a token of your own/ });
    const { token } = await createPerson(world, { personId: 'ada', role: 'owner' });
    t.match(await good('administrator-token refuse', token), { accepted: false });
    t.equal((await lapel('whoami')).code, 1);
    t.match(await good('administrator-token accept', token), { accepted: true });
    t.match(await good('administrator-token show'), { accepted: true });
  });
});

for (const database of ['sqlite', 'postgres'] as const) {
  const skip = database === 'postgres' && NO_POSTGRES;
  t.test(`somebody on the machine lets an owner in, while the service runs (${database})`, { skip }, async (t) => {
    const world = await startWorld(t, { database });
    const { token, tokenId } = await createPerson(world, { personId: 'ada', role: 'owner' });
    const anybody = world.anonymousAdmin();
    const refuse = { json: { accepted: false }, token };
    t.equal((await anybody.put('/admin/v1/administrator-token', refuse)).status, 200);
    await (await world.raw()).exec(`UPDATE person_tokens SET expires_at = 1 WHERE token_id = '${tokenId}'`);
    for (const lost of [token, world.service.adminToken])
      t.equal((await anybody.get('/admin/v1/me', { token: lost })).status, 401, 'nobody can sign in');
    const env = {
      LAPEL_DATA_DIR: world.dataDir,
      ...(world.databaseUrl !== null && { LAPEL_DATABASE_URL: world.databaseUrl }),
    };
    t.match(await runMain(t, ['owner', '../x'], env), { code: 2, stderr: /^lapel: PERSON: has letters, digits/ });
    t.match(await runMain(t, ['owner'], env), { code: 2, stderr: /^lapel: PERSON: is missing/ });
    for (const personId of ['ada', 'new']) {
      const made = await runMain(t, ['owner', personId], env);
      t.match(made, { code: 0, stdout: new RegExp(`^${personId} is an owner, with this token for 7 days`) });
      const way = made.stdout.trim().split('\n').at(-1) ?? '';
      t.match((await anybody.get('/admin/v1/me', { token: way })).body, { role: 'owner', personId });
      const { entries } = (await anybody.get(`/admin/v1/audit?about=person:${personId}&limit=1`, { token: way })).body;
      t.match(entries, [
        {
          action: 'lapel owner',
          actor: { kind: 'machine' },
          details: { before: personId === 'ada' ? { role: 'owner' } : null },
        },
      ]);
    }
  });
}

t.test('without a database, nobody is let in', async (t) => {
  const env = { LAPEL_DATA_DIR: t.testdir() };
  t.match(await runMain(t, ['owner', 'ada'], env), { code: 1, stderr: /^lapel: there is no database in / });
});
