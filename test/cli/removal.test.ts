import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { startWorld } from '../world.ts';
import { type Run, run } from './run.ts';

t.test('a developer and an application are removed', async (t) => {
  const world = await startWorld(t);
  const raw = await world.raw();
  const { addresses, adminToken } = world.service;
  const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const pause = async (): Promise<void> => {
    world.clock.advance(1_000);
    await setImmediate();
  };
  const admin = (line: string, how: Parameters<typeof run>[1] = {}): Promise<Run> =>
    run(['admin', ...line.split(' ')], { env, pause, ...how });
  for (const name of ['firm', 'acme']) await world.createTenant(name);
  await world.registerDevice('acme');
  const isThere = async (): Promise<boolean> => (await admin('developer show acme')).code === 0;

  await t.test('only if the identifier is typed', async (t) => {
    const wrong = await admin('developer remove acme', { answers: ['yes'] });
    t.match(wrong, { code: 1, stdout: '', stderr: /not confirmed: this is not acme; nothing was removed/ });
    t.match(wrong.stderr, /cannot be undone[\s\S]*devices +1, 0 connected\n[\s\S]*Type acme to remove all of it: /);
    t.match(await admin('developer remove acme'), { code: 2, stderr: /--confirm: is needed/ });
    t.match(await admin('developer remove nobody --confirm nobody'), { code: 1, stderr: /404 developer not found/ });
    t.ok(await isThere());
  });

  await t.test('an application, with the identifier as an option', async (t) => {
    const done = await admin('application remove firm-app --confirm firm-app --json');
    t.equal(done.code, 0, done.stderr);
    t.match(JSON.parse(done.stdout), {
      ok: true,
      state: 'ended',
      applicationId: 'firm-app',
      removed: { applications: 1 },
    });
    t.match(done.stderr, /devices +0, 0 connected; they are deactivated and stay\n/);
    t.equal((await admin('developer show firm')).code, 0);
  });

  await t.test('Ctrl-C ends the command and not the removal, which can be followed again', async (t) => {
    const undo = await raw.breakWrites('DELETE ON devices');
    const ctrlC = new AbortController();
    const ended = await admin('developer remove acme', {
      answers: ['acme'],
      interrupted: ctrlC.signal,
      onWrite: (text) => text.includes('removing') && ctrlC.abort(),
    });
    t.equal(ended.code, 130);
    const [, removalId = ''] =
      /Removal (\S+) goes on without this command; it cannot be stopped/.exec(ended.stderr) ?? [];
    t.match(ended.stderr, `lapel admin removal watch ${removalId}`);
    t.match((await admin('removal list --state running')).stdout, new RegExp(`${removalId} +developer acme +running `));
    t.match((await admin(`removal show ${removalId}`)).stdout, /^developer acme \(acme\): being removed, 0 %\n/);
    await undo();
    const watched = await admin(`removal watch ${removalId}`, { tty: true });
    t.equal(watched.code, 0, watched.stderr);
    t.match(watched.stdout, /^developer acme \(acme\): removed\n[\s\S]*devices +1 of 1\n/);
    t.notOk(await isThere());
  });

  await t.test('without waiting', async (t) => {
    const done = await admin('developer remove firm --confirm firm --no-wait --json');
    t.match(JSON.parse(done.stdout), { ok: true, state: 'running', developerId: 'firm', applicationId: null });
  });
});
