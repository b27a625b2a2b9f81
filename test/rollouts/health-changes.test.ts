import t from 'tap';
import { pass, speak, startRollouts } from './rollout-world.ts';
import { soaking } from './soaking.ts';

const MINUTE = 60_000;

t.test('a stage of unchanged devices is passed over under health rules, too', async (t) => {
  const { devices, world, start, read } = await startRollouts(t, 6);
  for (const { link } of devices) await speak(link, { lang: 'de' });
  const health = [{ measure: 'silent', atMost: 20, minimumDevices: 2 }];
  const stages = [{ count: 2, continueWhen: { succeededPercent: 100, soakFor: 600 } }];
  const rolloutId = await start({ stages, parameters: { lang: 'de' }, health });
  t.match(await read(rolloutId), { state: 'running', stage: 1, counts: { unchanged: 2, waiting: 4 } });
  await pass(world, 10 * MINUTE, 30_000);
  t.match(await read(rolloutId), { state: 'completed', counts: { unchanged: 6 } });
});

t.test('a rule that was changed knows nothing of what an earlier one has seen', async (t) => {
  const [known, unknown] = ['failedCommands', 'storageFree'].map((measure) => ({
    measure,
    atMost: 1_000,
    minimumDevices: 2,
  })) as [object, object];
  const { tenant, rolloutId, act, shown, world, ...soak } = await soaking(t, 2, 3, [known, unknown], 600);
  await soak.pass(16 * MINUTE);
  t.match(await shown(), { state: 'running', stage: 1 });
  t.equal((await act(rolloutId, 'pause')).status, 200);
  t.match(await tenant.api.patch(`${tenant.path}/rollouts/${rolloutId}`, { json: { health: [unknown] } }), {
    status: 200,
  });
  t.equal((await act(rolloutId, 'resume')).status, 200);
  await world.idle();
  t.match(await shown(), { state: 'running', stage: 1 });
  await soak.pass(MINUTE);
  t.match(await shown(), { state: 'running', stage: 1 });

  await t.test('and without rules there is nothing to know', async (t) => {
    await act(rolloutId, 'pause');
    await tenant.api.patch(`${tenant.path}/rollouts/${rolloutId}`, { json: { health: null } });
    await act(rolloutId, 'resume');
    await world.idle();
    t.match(await shown(), { state: 'running', stage: 2 });
  });
});

t.test('a stage whose devices cannot be looked at any more passes unseen neither at once nor later', async (t) => {
  const rule = { measure: 'silent', atMost: 50, minimumDevices: 2, within: 1200 };
  const HOUR = 60 * MINUTE;
  for (const why of ['a newer rollout has commanded them', 'no look can be stored'] as const) {
    const { world, shown, pass, start, commands, answer, canaries, ...soak } = await soaking(t, 2, 2, [rule], 600);
    if (why === 'no look can be stored') {
      const raw = await world.raw();
      await raw.exec('DELETE FROM rollout_health');
      await raw.breakWrites('INSERT ON rollout_health');
    } else {
      const devices = canaries.map(({ deviceId }) => deviceId);
      world.clock.advance(1_000);
      await start({ parameters: { lang: 'fr' }, devices: { devices } });
      for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    }
    await pass(20 * MINUTE);
    t.match(await shown(), { state: 'running', stage: 1 }, why);
    world.clock.leap(24 * HOUR);
    await pass(50 * MINUTE);
    t.match(await shown(), { state: 'running', stage: 1 }, 'after a stop, there is an hour to look');
    await pass(15 * MINUTE);
    t.match(await shown(), { state: 'paused', reason: 'HEALTH_UNKNOWN', stage: 1 }, why);
    t.equal((await soak.act(soak.rolloutId, 'resume')).status, 200);
    await pass(MINUTE);
    t.match(await shown(), { state: 'running', stage: 2 });
  }
});
