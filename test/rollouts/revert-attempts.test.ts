import t from 'tap';
import { pass, startRollouts } from './rollout-world.ts';

/** A rollout whose device may have carried out its first command, and waits for the second one, which nobody has published. */
async function startTwice(t: import('tap').Test) {
  const world = await startRollouts(t, 1);
  const { start, commands, answer, read } = world;
  const [device] = world.devices;
  await start({ parameters: { lang: 'de' } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const rolloutId = await start({ expireIn: 60, retry: { codes: ['EXPIRED'], attempts: 3, after: 60 } });
  const [first] = [...(await commands({ silent: true })).values()];
  await device!.link.drop();
  await pass(world.world, 60_000);
  t.match(await read(rolloutId), { counts: { waiting: 1 } });
  await pass(world.world, 60_000);
  t.match(await read(rolloutId), { counts: { unfinished: 1 } });
  return { ...world, device: device!, rolloutId, first: first! };
}

t.test('a device that may have the release by its first command is brought back', async (t) => {
  const { act, rolloutId, read, world, device, members } = await startTwice(t);
  const { status, body } = await act(rolloutId, 'revert', {});
  t.match({ status, body }, { status: 201, body: { devices: 1, leftOut: [] } });
  await world.idle();
  await pass(world, 1_000, 500);
  t.match(await read(rolloutId), { state: 'cancelled', counts: { cancelled: 1 } });
  device.link = await world.connect(device);
  let command = await device.link.command();
  while (command.operation !== 'setLanguage') command = await device.link.command();
  t.match(command, { parameters: { lang: 'de' } });
  t.match(await members(body.rolloutId), [{ state: 'unfinished' }]);
});

t.test('so it is when the second one was taken back by a pause', async (t) => {
  const { act, rolloutId, read, world, members, first } = await startTwice(t);
  await act(rolloutId, 'pause');
  await world.idle();
  t.match(await read(rolloutId), { counts: { waiting: 1 } });
  t.match(await members(rolloutId), [{ transactionId: first.transactionId }]);
  t.match(await act(rolloutId, 'revert', {}), { status: 201, body: { devices: 1, leftOut: [] } });
});

t.test('and its late success counts after the pause', async (t) => {
  const { act, rolloutId, read, world, device, first } = await startTwice(t);
  await act(rolloutId, 'pause');
  await world.idle();
  device.link = await world.connect(device);
  await device.link.ack({ transactionId: first.transactionId, status: 'succeeded' });
  await world.idle();
  t.match(await read(rolloutId), { state: 'paused', counts: { succeeded: 1, waiting: 0 } });
});
