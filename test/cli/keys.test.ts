import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

t.test('keys and secrets are changed on the command line', async (t) => {
  const folder = t.testdir({ data: {} });
  const file = join(folder, 'keys');
  const line = (id: string): string => `${id} ${randomBytes(32).toString('base64')}\n`;
  const first = line('first');
  writeFileSync(file, first);
  const env = { LAPEL_ENCRYPTION_KEY_FILE: file };
  const world = await startWorld(t, { dataDir: join(folder, 'data'), database: 'sqlite', env });
  const { adminToken, addresses } = world.service;
  const own = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const lapel = (...args: string[]) => run(args, { env: own });
  const jsonOf = async (...args: string[]) => JSON.parse((await lapel(...args, '--json')).stdout);
  const { applicationId } = await world.createTenant();

  await t.test('lapel keys status and rotate', async (t) => {
    t.match(await lapel('keys', 'status'), { code: 0, stdout: /^first +current .*\nThere was no rotation yet\.\n$/m });
    writeFileSync(file, `${line('second')}${first}`);
    t.match(await lapel('keys', 'rotate'), { code: 0, stdout: /The rotation to second is \w+; \d+ values/ });
    await until(async () => {
      world.clock.advance(1_000);
      return (await jsonOf('keys', 'status')).rotation.state === 'ended';
    });
    t.match(await lapel('keys', 'status'), { stdout: /All secrets are encrypted with second since / });
    writeFileSync(file, 'x');
    t.match(await lapel('keys', 'rotate'), { code: 1, stderr: /the encryption keys cannot be used: .*line 1/ });
  });

  await t.test('lapel keys signing, renew, and renew-store', async (t) => {
    t.match(await jsonOf('keys', 'signing'), { keys: [{ state: 'signs' }] });
    world.clock.advance(600_000);
    t.match(await jsonOf('keys', 'renew'), { keys: [{ state: 'next' }, { state: 'signs' }] });
    t.match((await jsonOf('keys', 'renew')).keys.length, 2, 'another one would change nothing');
    world.clock.advance(601_000);
    t.match(await jsonOf('keys', 'signing'), { keys: [{ state: 'signs' }, { state: 'former' }] });
    t.equal((await jsonOf('keys', 'renew', '--at-once')).keys.length, 1);
    t.match(await lapel('keys', 'renew-store'), { code: 0, stdout: 'New URLs are signed with a new key.\n' });
  });

  await t.test('lapel admin secret list, issue and end', async (t) => {
    const [former] = (await jsonOf('admin', 'secret', 'list', applicationId)).secrets;
    const issued = await lapel('admin', 'secret', 'issue', applicationId, '--name', 'new servers');
    t.match(issued, { code: 0, stdout: /It is shown only now/ });
    t.match(await lapel('admin', 'secret', 'list', applicationId), { code: 0, stdout: /new servers/ });
    t.match(await lapel('admin', 'secret', 'end', applicationId, former.secretId), { code: 0 });
    t.match(await jsonOf('admin', 'secret', 'list', applicationId), { secrets: [{ name: 'new servers' }] });
  });
});
