import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startSoftware } from '../api/software-world.ts';
import { startRollouts } from './rollout-world.ts';

t.test('a rollout goes on where it was after the service was stopped', async (t) => {
  const { world, tenant, devices, start, read, commands, answer, checkCounts } = await startRollouts(t, 3);
  const rolloutId = await start({ stages: [{ count: 1 }] });
  const [first] = [...(await commands())];
  for (const { link } of devices) await link.drop();
  await world.restart();
  await tenant.renew();
  for (const device of devices) device.link = await world.connect(device);
  await world.idle();
  t.match((await read(rolloutId)).counts, { unfinished: 1, waiting: 2 });
  const repeated = await devices.find(({ deviceId }) => deviceId === first?.[0])!.link.command();
  t.equal(repeated.attempt, 2, 'its command is repeated, as any other');
  await answer(first![0], repeated);
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 3 } });
  await checkCounts(t, rolloutId);
});

t.test('after a restore, a rollout that had run is paused before it sends anything', async (t) => {
  const { world, tenant, start, read, commands, act } = await startRollouts(t, 3, { database: 'sqlite' });
  const rolloutId = await start({ stages: [{ count: 1 }] });
  t.equal((await commands({ silent: true })).size, 1, 'a command that no device has confirmed');
  const kept = join(world.dataDir, 'kept.db');
  await world.restart(() => copyFileSync(join(world.dataDir, 'lapel.db'), kept));
  await tenant.renew();
  await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`);
  await world.restart(() => {
    for (const end of ['-wal', '-shm']) rmSync(join(world.dataDir, `lapel.db${end}`), { force: true });
    copyFileSync(kept, join(world.dataDir, 'lapel.db'));
  });
  const [found] = await (await world.raw()).all<{ state: string }>('SELECT state FROM rollouts');
  t.equal(found?.state, 'paused', 'before devices can connect');
  await tenant.renew();
  await world.idle();
  t.match(await read(rolloutId), {
    state: 'paused',
    reason: 'DATABASE_RESTORED',
    counts: { waiting: 2, unfinished: 1 },
  });
  t.equal((await act(rolloutId, 'resume')).status, 200, 'somebody who knows lets it go on');
});

t.test('a rollout whose version cannot be installed any more is paused with that reason', async (t) => {
  const { world, tenant, register, upload, versionPath } = await startSoftware(t);
  const device = await world.activatedDevice(tenant);
  const away = await world.activatedDevice(tenant);
  await away.link.drop();
  const name = 'com.example.rolled';
  await register(name, '1.0.0', '1.1.0');
  await upload(name, '1.0.0');
  await tenant.api.post(`${versionPath(name, '1.0.0')}/distributions`);
  const json = {
    operation: 'installSoftware',
    parameters: { package: name, version: '1.0.0' },
    devices: {},
    stages: [{ count: 1, approval: true }],
  };
  const wanted = (more: object) => tenant.api.post(`${tenant.path}/rollouts`, { json: { ...json, ...more } });
  t.match(
    await wanted({ parameters: { package: name, version: '1.0.1' } }),
    { status: 404, body: { reason: 'version not found.' } },
    'a mistyped version is refused as for a single device',
  );
  t.match(await wanted({ parameters: { package: 'com.example.roled', version: '1.0.0' } }), { status: 404 });
  const parameters = { package: name, version: '1.1.0' };
  t.match(await wanted({ parameters }), { status: 400, body: { reason: 'distribution is not started.' } });
  const later = await wanted({ parameters, startAt: '2027-01-01T00:00:00Z' });
  t.equal(later.status, 201, 'but it can be distributed before a later start');
  const { rolloutId } = (await wanted({})).body;
  const read = async () => (await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body;
  await world.idle();
  await tenant.api.delete(`${versionPath(name, '1.0.0')}/distributions`);
  world.clock.advance(60_000);
  await world.idle();
  t.match(await read(), { state: 'paused', reason: 'DISTRIBUTION_STOPPED', subject: `${name}@1.0.0` });
  await tenant.api.post(`${versionPath(name, '1.0.0')}/distributions`);
  await tenant.api.post(`${tenant.path}/rollouts/${rolloutId}/resume`);
  await world.idle();
  t.match(await read(), { state: 'running' });
  t.ok(device.link);
});

t.test('ended rollouts are removed with the transactions, and running ones stay', async (t) => {
  const { world, tenant, start, commands, answer } = await startRollouts(t, 2, { env: { LAPEL_RETENTION_DAYS: '3' } });
  const done = await start();
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const stays = await start({ parameters: { lang: 'en' }, continuous: true });
  for (let day = 0; day < 4; day += 1) {
    world.clock.advance(86_400_000);
    await world.idle();
  }
  world.clock.advance(600_000);
  await world.idle();
  await tenant.renew();
  const listed = (await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts;
  t.same(
    listed.map(({ rolloutId }: { rolloutId: string }) => rolloutId),
    [stays],
  );
  const file = await world.raw();
  for (const table of ['rollout_members', 'rollout_counts', 'rollout_times', 'rollout_entries'])
    t.same(await file.all(`SELECT 1 AS one FROM ${table} WHERE rollout_id = '${done}'`), [], table);
});
