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

  await t.test('all have the wanted state already', async (t) => {
    for (const { link } of devices) {
      link.publish('status', { lang: 'de' });
      await link.next('puback');
    }
    const rolloutId = await start({ stages: [{ count: 1 }], parameters: { lang: 'de' } });
    t.match(await read(rolloutId), { state: 'paused', reason: 'STAGE_FAILED', counts: { unchanged: 1, waiting: 2 } });
  });
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
