import t from 'tap';
import { startRollouts } from './rollout-world.ts';

t.test('a stage that no device has carried out does not pass', async (t) => {
  const { devices, tenant, world, start, read, commands, answer, act } = await startRollouts(t, 3);

  await t.test('all failed, and the stage has no share of its own', async (t) => {
    const rolloutId = await start({ stages: [{ count: 2 }] });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', stage: 1, counts: { failed: 2 } });
    t.equal((await act(rolloutId, 'resume')).status, 200, 'somebody lets it pass');
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    t.match(await read(rolloutId), { state: 'completed' });
  });

  await t.test('all were cancelled', async (t) => {
    const rolloutId = await start({ stages: [{ count: 1, continueWhen: { succeededPercent: 50 } }] });
    const [sent] = [...(await commands())];
    const device = devices.find(({ deviceId }) => deviceId === sent![0]);
    await device!.link.ack({ transactionId: sent![1].transactionId, status: 'processing' });
    await tenant.api.delete(`${device!.path}/transactions/${sent![1].transactionId}`);
    await world.idle();
    t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', counts: { cancelled: 1 } });
  });

  await t.test('all were refused', async (t) => {
    const startAt = '2026-11-20T10:00:00Z';
    const chosen = { devices: { devices: [devices[2]!.deviceId] } };
    const rolloutId = await start({ stages: [{ count: 1 }], continuous: true, startAt, ...chosen });
    await tenant.api.delete(devices[2]!.path);
    const { link } = devices[2]!;
    let command = await link.command();
    // It may have been the device of the rollout before, whose cancel lies there.
    while (command.operation !== 'deactivate') command = await link.command();
    await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    await world.idle();
    world.clock.advance(1_800_000);
    await world.idle();
    t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', counts: { refused: 1 } });
  });
});

t.test('a stage whose devices all have the wanted state has nothing to prove, and passes after its soak', async (t) => {
  const { devices, world, start, read, commands, answer } = await startRollouts(t, 3);
  for (const { link } of devices) {
    link.publish('status', { lang: 'de' });
    await link.next('puback');
  }
  const parameters = { lang: 'de' };
  const stages = [{ count: 1, continueWhen: { succeededPercent: 100, soakFor: 600 } }];
  const rolloutId = await start({ stages, parameters });
  t.match(await read(rolloutId), { state: 'running', stage: 1, counts: { unchanged: 1, waiting: 2 } });
  world.clock.advance(600_000);
  await world.idle();
  t.match(await read(rolloutId), { state: 'completed', counts: { unchanged: 3 } });

  await t.test('and unchanged devices beside others are no successes', async (t) => {
    devices[0]!.link.publish('status', { lang: 'en' });
    await devices[0]!.link.next('puback');
    const next = await start({ parameters, stages: [{ count: 2 }, { percent: 1 }], preferConnected: true });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'INTERNAL');
    const { state, stages: all } = await read(next);
    // The order is one of chance, so the device may be in the first stage or behind it.
    if (all[0]!.counts.failed === 1) t.match([state, all[0]], ['paused', { counts: { failed: 1, unchanged: 1 } }]);
    else t.match(all[0], { counts: { unchanged: 2 } });
  });
});

t.test('a stage without a rule has one, which its answer shows', async (t) => {
  const { start, read, commands, answer } = await startRollouts(t, 5);
  const rolloutId = await start({ stages: [{ count: 3 }, { count: 1, continueWhen: { succeededPercent: 50 } }] });
  t.same(
    (await read(rolloutId)).stages.map(({ continueWhen }) => continueWhen),
    [{ succeededPercent: 95, soakFor: 0, minimumResults: 2 }, { succeededPercent: 50, minimumResults: 1 }, null],
  );
  const [first, ...others] = [...(await commands())];
  await answer(...first!, 'INTERNAL');
  for (const other of others) await answer(...other);
  t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', counts: { succeeded: 2, failed: 1 } });
});

t.test('a share of few results proves too little', async (t) => {
  const { devices, world, start, read, commands, answer } = await startRollouts(t, 6);
  for (const { link } of devices.slice(0, 4)) await link.drop();
  /** A rollout of which four devices are switched off, after their commands have expired. */
  async function afterExpiry(rule: object): Promise<string> {
    const stage = { percent: 99, continueWhen: { succeededPercent: 100, ...rule } };
    const rolloutId = await start({ stages: [stage], continuous: true, expireIn: 60 });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    t.match(await read(rolloutId), { stage: 1, counts: { succeeded: 2, unfinished: 4 } }, 'four are switched off');
    world.clock.advance(60_000);
    await world.idle();
    return rolloutId;
  }
  t.match(await read(await afterExpiry({})), { state: 'paused', reason: 'STAGE_FAILED' }, 'two of six say too little');
  t.match(
    await read(await afterExpiry({ minimumResults: 2 })),
    { state: 'running', stage: 2 },
    'or enough, by the rule',
  );
});

t.test('a command that expired says nothing about its stage', async (t) => {
  const { devices, world, start, read, commands, answer } = await startRollouts(t, 3);
  await devices[0]!.link.drop();
  const rolloutId = await start({
    expireIn: 60,
    stages: [{ percent: 100, continueWhen: { succeededPercent: 100 } }],
    continuous: true,
  });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  world.clock.advance(60_000);
  await world.idle();
  t.match(await read(rolloutId), { state: 'running', counts: { succeeded: 2, failed: 1 } });
});

t.test('a soak begins anew when the share was lost and is found again', async (t) => {
  const { devices, world, start, read, commands, answer, act, device } = await startRollouts(t, 3);
  const rolloutId = await start({
    expireIn: 60,
    stages: [{ count: 2, continueWhen: { succeededPercent: 100, soakFor: 600 } }],
  });
  const [one, other] = [...(await commands({ silent: true }))];
  await answer(...one!);
  world.clock.advance(60_000);
  await world.idle();
  t.match(await read(rolloutId), { stage: 1, counts: { succeeded: 1, failed: 1 } }, 'it soaks');
  t.equal((await device(other![0]).link.command()).operation, 'cancel');
  world.clock.advance(300_000);
  t.match(await act(rolloutId, 'retry-failed'), { body: { devices: 1 } });
  const [again] = [...(await commands())];
  t.equal(again![0], other![0]);
  await answer(...again!);
  world.clock.advance(599_000);
  await world.idle();
  t.match(await read(rolloutId), { stage: 1, counts: { succeeded: 2 } }, 'longer than it had to soak at first');
  world.clock.advance(1_000);
  await world.idle();
  t.match(await read(rolloutId), { stage: 2 });
  t.equal(devices.length, 3);
});

t.test('devices that join a continuous rollout are in its last stage, and disturb no canary', async (t) => {
  const { world, tenant, devices, start, read, commands, answer, members } = await startRollouts(t, 4);
  const tag = ({ path }: { path: string }) => tenant.api.patch(`${path}/tags`, { json: { ring: 'new' } });
  await tag(devices[0]!);
  const rolloutId = await start({
    continuous: true,
    devices: { tags: { ring: 'new' } },
    stages: [{ count: 1, continueWhen: { succeededPercent: 100, soakFor: 600 } }],
  });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  for (const device of devices.slice(1)) await tag(device);
  world.clock.advance(60_000);
  t.equal((await commands()).size, 0, 'the canary soaks');
  t.match(await read(rolloutId), { stage: 1, devices: 4, counts: { succeeded: 1, waiting: 3 } });
  t.match(await members(rolloutId, 'state=waiting'), [{ stage: 2 }, { stage: 2 }, { stage: 2 }]);
  world.clock.advance(540_000);
  t.equal((await commands()).size, 3);
});
