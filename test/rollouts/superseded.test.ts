import t from 'tap';
import { WIFI } from '../world.ts';
import { speak, startRollouts } from './rollout-world.ts';

t.test('an older rollout gives no command to a device that a newer one of its kind has commanded', async (t) => {
  const rollouts = await startRollouts(t, 4);
  const { read, commands, answer, act, members, checkCounts, world, devices } = rollouts;
  /** Starts a rollout later than those before. */
  const start = (more: object): Promise<string> => {
    world.clock.advance(1_000);
    return rollouts.start(more);
  };
  const [one, other] = devices.map(({ deviceId }) => deviceId) as [string, string];
  const both = { devices: [one, other] };

  await t.test('failed devices are not put back', async (t) => {
    const older = await start({ parameters: { lang: 'de' }, devices: both });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    const newer = await start({ parameters: { lang: 'fr' }, devices: { devices: [one] } });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    t.match(await read(newer), { state: 'completed', counts: { succeeded: 1 } });
    t.match(await act(older, 'retry-failed', {}), { status: 200, body: { devices: 1 } });
    const again = await commands();
    t.same([...again.keys()], [other]);
    t.match(await members(older, 'state=cancelled'), [{ deviceId: one, code: 'SUPERSEDED' }]);
    await answer(other, again.get(other)!);
    t.match(await read(older), { state: 'completed', counts: { succeeded: 1, cancelled: 1, failed: 0 } });
    await checkCounts(t, older);
  });

  await t.test('a completed rollout of which all are superseded stays completed', async (t) => {
    const older = await start({ parameters: { lang: 'it' }, devices: { devices: [one] } });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    await start({ parameters: { lang: 'es' }, devices: { devices: [one] } });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    t.match(await act(older, 'retry-failed', {}), { status: 200, body: { devices: 0 } });
    t.match(await read(older), { state: 'completed', counts: { cancelled: 1, failed: 0 } });
    await checkCounts(t, older);
  });

  await t.test('nor is one that a newer rollout has found unchanged', async (t) => {
    const older = await start({ parameters: { lang: 'da' }, devices: { devices: [one] } });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    await speak(devices[0]!.link, { lang: 'fi' });
    const newer = await start({ parameters: { lang: 'fi' }, devices: { devices: [one] } });
    t.match(await read(newer), { state: 'completed', counts: { unchanged: 1 } });
    t.match(await act(older, 'retry-failed', {}), { status: 200, body: { devices: 0 } });
    t.match(await members(older), [{ state: 'cancelled', code: 'SUPERSEDED' }]);
  });

  await t.test('neither waiting devices nor held commands go out after a resume', async (t) => {
    await devices[2]!.link.drop();
    const older = await start({ parameters: { lang: 'nl' }, stages: [{ count: 4 }] });
    const sent = await commands({ silent: true });
    t.equal(sent.size, 3);
    await act(older, 'pause');
    await world.idle();
    t.match((await read(older)).counts, { waiting: 1, unfinished: 3 });
    // The link is made anew, so that the command without a PUBACK would go out again.
    devices[0]!.link = await world.connect(devices[0]!);
    devices[2]!.link = await world.connect(devices[2]!);
    const pair = { devices: [one, devices[2]!.deviceId] };
    const newer = await start({ parameters: { lang: 'sv' }, devices: pair });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    t.match(await read(newer), { state: 'completed', counts: { succeeded: 2 } });
    await act(older, 'resume');
    await world.idle();
    t.match((await read(older)).counts, { cancelled: 2, unfinished: 2, waiting: 0 });
    const ended = await members(older, 'state=cancelled&code=SUPERSEDED');
    t.same(ended.map(({ deviceId }) => deviceId).toSorted(), pair.devices.toSorted());
    await checkCounts(t, older);
  });

  await t.test('a rollout of another kind is none of them', async (t) => {
    const only = { devices: { devices: [other] } };
    const older = await start({ parameters: { lang: 'pt' }, ...only });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    await start({ operation: 'setWifi', parameters: WIFI, ...only });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    t.match(await act(older, 'retry-failed', {}), { status: 200, body: { devices: 1 } });
  });
});

t.test('a newer rollout that was cancelled before it sent anything has done nothing', async (t) => {
  const { start, read, commands, answer, act, world, devices, tenant } = await startRollouts(t, 1);
  const device = devices[0]!;
  const older = await start({ parameters: { lang: 'da' } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
  await device.link.drop();
  world.clock.advance(1_000);
  const newer = await start({ parameters: { lang: 'fi' } });
  await tenant.api.delete(`${tenant.path}/rollouts/${newer}`);
  await world.idle();
  t.match(await read(newer), { state: 'cancelled', counts: { cancelled: 1 } });
  device.link = await world.connect(device);
  t.match(await act(older, 'retry-failed', {}), { status: 200, body: { devices: 1 } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  t.match(await read(older), { state: 'completed', counts: { succeeded: 1 } });
});
