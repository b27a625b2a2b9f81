import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WIFI } from '../world.ts';
import { pass, speak, startRollouts } from './rollout-world.ts';
import { soaking } from './soaking.ts';

const CONFIRMED = { operation: 'setWifi', parameters: WIFI, confirm: { seenAgainWithin: 600 } };

t.test('a rollout whose step fails holds up no other, and goes on when it can', async (t) => {
  const { world, start, read, commands, answer } = await startRollouts(t, 2, { database: 'sqlite' });
  const ids: string[] = [];
  while (ids.length < 3) ids.push(await start({ startAt: '2026-11-20T10:00:00Z' }));
  const raw = await world.raw();
  const broken = ids[1] as string;
  const repair = await raw.breakWrites(`UPDATE ON rollouts WHEN OLD.rollout_id = '${broken}'`);
  world.clock.advance(1_800_000);
  const sent = await commands();
  for (const [deviceId, command] of sent) await answer(deviceId, command);
  const states = async () => Promise.all(ids.map(async (rolloutId) => (await read(rolloutId)).state));
  const begun = (await states()).map((state) => state !== 'scheduled');
  t.same(begun, [true, false, true], 'without any further time');
  await repair();
  world.clock.advance(1_000);
  await world.idle();
  t.equal((await read(broken)).state, 'running');
});

t.test('a result takes its own rollout further, and reads no other', async (t) => {
  const { world, tenant, start, read, commands, answer } = await startRollouts(t, 2, { database: 'sqlite' });
  const other = await start({ startAt: '2027-01-01T00:00:00Z' });
  const rolloutId = await start();
  const sent = await commands();
  const raw = await world.raw();
  await raw.exec(`UPDATE rollouts SET plan = '{' WHERE rollout_id = '${other}'`); // each read of it fails
  for (const [deviceId, command] of sent) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 2 } });
  t.equal((await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).status, 200);
});

t.test('a rollout whose devices cannot be judged holds up the devices of no other', async (t) => {
  const { world, start, read, commands, answer, devices } = await startRollouts(t, 2, { database: 'sqlite' });
  const [broken, other] = [devices[0]!, devices[1]!];
  const startFor = (deviceId: string, seenAgainWithin: number): Promise<string> =>
    start({ ...CONFIRMED, devices: { devices: [deviceId] }, confirm: { seenAgainWithin } });
  // The one that cannot be judged comes first, and those that have to be seen earlier come before others.
  const ids = [await startFor(broken.deviceId, 600), await startFor(other.deviceId, 900)] as const;
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const raw = await world.raw();
  const repair = await raw.breakWrites(`UPDATE ON rollout_members WHEN OLD.rollout_id = '${ids[0]}'`);
  await pass(world, 60_000);
  for (const { link } of devices) await speak(link);
  await pass(world, 30_000);
  t.match((await read(ids[0])).counts, { confirming: 1 });
  t.match((await read(ids[1])).counts, { succeeded: 1 });
  await repair();
  await pass(world, 30_000);
  t.match((await read(ids[0])).counts, { succeeded: 1 });
});

t.test('devices that cannot be confirmed hold up no look at the health of a rollout', async (t) => {
  const { world, start, shown, pass, devices, commands, answer } = await soaking(t, 1, 1, [
    { measure: 'silent', atMost: 50, minimumDevices: 1 },
  ]);
  const last = devices.at(-1)!.deviceId;
  const other = await start({ ...CONFIRMED, devices: { devices: [last] } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const lookedAt = async (): Promise<string> => (await shown()).stages[0]?.health?.at ?? '';
  await pass(60_000);
  const before = await lookedAt();
  const raw = await world.raw();
  await raw.exec(`UPDATE rollouts SET plan = '{' WHERE rollout_id = '${other}'`); // each read of it fails
  await pass(60_000);
  t.ok((await lookedAt()) > before, before);
});

t.test('a rollout that cannot be paused after a restore leaves no other running', async (t) => {
  const { world, tenant, start, devices, read } = await startRollouts(t, 2, { database: 'sqlite' });
  for (const device of devices) await device.link.drop();
  const ids: string[] = [];
  for (const lang of ['de', 'fr']) {
    ids.push(await start({ parameters: { lang } }));
    world.clock.advance(1_000); // they are paused in the order of their ids, which begin with the time
  }
  const [file, kept] = ['lapel.db', 'kept.db'].map((name) => join(world.dataDir, name)) as [string, string];
  await world.restart(() => copyFileSync(file, kept));
  await tenant.renew();
  await tenant.api.delete(`${tenant.path}/rollouts/${ids[0]}`);
  await world.restart(async () => {
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    copyFileSync(kept, file);
    const raw = await world.raw();
    await raw.breakWrites(`UPDATE ON rollouts WHEN OLD.rollout_id = '${ids[0]}'`);
  });
  const raw = await world.raw();
  await tenant.renew();
  t.match(await read(ids[1]!), { state: 'paused', reason: 'DATABASE_RESTORED' }, 'before devices can connect');
  t.match(await read(ids[0]!), { state: 'running' });
  await raw.exec('DROP TRIGGER broken');
  world.clock.advance(1_000);
  await world.idle();
  t.match(await read(ids[0]!), { state: 'paused', reason: 'DATABASE_RESTORED' });
});
