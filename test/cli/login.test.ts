import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createPrompt } from '@lapel/cli/account/prompt';
import t from 'tap';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

t.test('profiles', async (t) => {
  const world = await startWorld(t);
  const { applicationId, secret } = await world.createTenant();
  const { addresses, adminToken } = world.service;
  const folder = t.testdir();
  const file = join(folder, 'lapel', 'credentials.json');
  const base = { XDG_CONFIG_HOME: folder };
  const lapel = (line: string, more: Parameters<typeof run>[1] = {}) =>
    run(line.split(' '), { ...more, env: { ...base, ...more.env } });

  t.test('an application logs in by answering questions, and every command uses its profile then', async (t) => {
    const { code, stdout, stderr } = await lapel('login', { answers: [addresses.http, applicationId, secret] });
    t.equal(code, 0, stderr);
    t.equal(stdout, `Logged in to ${addresses.http} as ${applicationId}: profile "default" in ${file}\n`);
    t.match(stderr, /^REST API \[http:\/\/127\.0\.0\.1:8080\]: Application: Secret \(is not shown\): $/);
    t.equal(statSync(file).mode & 0o777, 0o600);
    t.equal(statSync(join(folder, 'lapel')).mode & 0o777, 0o700);
    t.match(await lapel('settings show --json'), { code: 0 });
    t.match(await lapel('settings show --profile default'), { code: 0 });
  });

  t.test('a secret on standard input is accepted; a wrong one is not stored', async (t) => {
    const line = `login --url ${addresses.http} --application ${applicationId} --secret-stdin --profile ci`;
    const wrong = await lapel(line, { input: '-wrong\n' });
    t.match(wrong, { code: 1, stderr: /cannot get an access token \(to log in\): 401/ });
    t.match(
      (await lapel('profiles')).stdout,
      /^PROFILE +APPLICATION +REST API +ADMINISTRATION\ndefault +dev-app .*\n$/,
    );
    t.match(await lapel(line, { input: `${secret}\n` }), { code: 0 });
    t.notMatch((await lapel('profiles --json')).stdout, secret, 'secrets are shown nowhere');
    const made = JSON.stringify({ ok: true, applicationId, secret });
    t.match(await lapel(line, { input: `${made}\n` }), { code: 0 }, 'the answer that showed the secret');
    for (const input of ['{"ok":true}', '{"secret":1}', '{secret}'])
      t.match(await lapel(line, { input }), {
        code: 2,
        stderr: /--secret-stdin: standard input is JSON without "secret"/,
      });
    const empty = await lapel(line);
    t.match(empty, { code: 2, stderr: /^lapel: --secret-stdin: standard input is empty/ });
    const twice = await lapel(`${line} --secret x`, { input: 'x' });
    t.match(twice, { code: 2, stderr: /^lapel: --secret-stdin: cannot be combined with --secret/ });
    t.match(await lapel('login'), { code: 2, stderr: /^lapel: --url: is needed|--application: is needed/ });
  });

  t.test('an access token is printed for calls without the command line', async (t) => {
    const { code, stdout } = await lapel('token');
    t.equal(code, 0);
    const answer = await fetch(`${addresses.http}/v1/applications/${applicationId}`, {
      headers: { authorization: `Bearer ${stdout.trim()}` },
    });
    t.equal(answer.status, 200);
    t.equal(stdout.split('\n').length, 2, 'one line');
    t.match(await lapel('token --secret wrong'), { code: 1, stdout: '', stderr: /401/ });
  });

  t.test('the administrator logs in beside the application', async (t) => {
    const admin = `login --admin --admin-url ${addresses.admin} --token-stdin`;
    t.match(await lapel(admin, { input: adminToken }), { code: 0, stdout: /as the administrator/ });
    t.match(await lapel('admin developer list'), { code: 0 });
    t.match(await lapel('settings show'), { code: 0 }, 'the application is still there');
    t.match(await lapel(admin, { input: 'wrong' }), { code: 1, stderr: /cannot log in: 401/ });
  });

  t.test('the command line takes precedence over the environment, and that over the profile', async (t) => {
    const env = { LAPEL_APPLICATION_SECRET: 'of another' };
    t.match(await lapel('settings show', { env }), { code: 1, stderr: /: 401 / });
    t.match(await lapel('settings show --profile ci', { env }), { code: 0 }, 'a profile that is named is meant');
    t.match(await run(['settings', 'show', '--secret', secret], { env: { ...base, ...env } }), { code: 0 });
    t.match(await lapel('settings show', { env: { LAPEL_PROFILE: 'ci' } }), { code: 0 });
    const unknown = await lapel('settings show --profile production');
    t.match(unknown, {
      code: 2,
      stderr: /there is no profile "production" \(profiles: default, ci\); create it with lapel login --profile prod/,
    });
  });

  t.test('a stored secret goes to no other service and for no other application', async (t) => {
    for (const option of ['--url http://127.0.0.1:9', '--application other']) {
      t.match(await lapel(`settings show ${option}`), { code: 2, stderr: /^lapel: --secret: is needed/ }, option);
    }
    const asked = await lapel(`settings show --application other`, { answers: ['typed'] });
    t.match(asked, { code: 1, stderr: /^Secret of other \(is not shown\): lapel: cannot get an access token/ });
    const env = { LAPEL_DATA_DIR: join(world.dataDir, 'nowhere') };
    const elsewhere = await lapel('admin developer list --admin-url http://127.0.0.1:9', { env });
    t.match(elsewhere, { code: 2, stderr: /^lapel: --token: is needed/ });
  });

  t.test('logout removes the profile', async (t) => {
    t.match(await lapel('logout --profile ci'), { code: 0, stdout: /^Removed: ci / });
    t.match(await lapel('logout --profile ci'), { code: 2, stderr: /there is no profile "ci"/ });
    t.match(await lapel('logout --all --json'), { code: 0, stdout: /"forgotten":\["default"\]/ });
    t.equal(JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))), '{"profiles":{}}');
    t.match(await lapel('profiles'), { code: 0, stdout: 'There are none; add one with lapel login\n' });
    writeFileSync(file, 'not JSON');
    t.match(await lapel('settings show'), { code: 1, stderr: /was not written by lapel login\n {2}remove it/ });
  });
});

t.test('a person is asked on the terminal; hidden input is not shown', async (t) => {
  const { TERM = '' } = process.env;
  process.env['TERM'] = 'xterm'; // a dumb terminal, which some builders set, has no key to delete characters
  t.teardown(() => {
    process.env['TERM'] = TERM;
  });
  const input = new PassThrough();
  const output = new PassThrough();
  let interruptions = 0;
  const ask = createPrompt({ input, output }, () => {
    interruptions += 1;
  });
  const shown = (): string => (output.read() as Buffer | null)?.toString() ?? '';
  const secret = ask('Secret: ', { hidden: true });
  input.write('-open ses\u007fsame\r');
  t.equal(await secret, '-open sesame');
  t.equal(shown(), 'Secret: \n');
  const name = ask('Name: ', { hidden: false });
  input.write('patrol\n');
  t.equal(await name, 'patrol');
  t.match(shown(), /^Name: .*p.*a.*t.*r.*o.*l/s);
  const late = ask('Again: ', { hidden: true });
  input.write('\u0003');
  await new Promise(setImmediate);
  t.equal(interruptions, 1);
  input.end();
  await t.rejects(late, { message: 'there was no answer' });
});
