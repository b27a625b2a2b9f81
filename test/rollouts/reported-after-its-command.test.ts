import t from 'tap';
import { LANG, pass, speak, startRollouts } from './rollout-world.ts';

for (const [code, terms, isSilent] of [
  ['NO_ANSWER', { answerWithin: 60 }, false],
  ['EXPIRED', { expireIn: 60 }, true],
] as const)
  t.test(`a device that reports the wanted state after ${code} is unchanged until its answer comes`, async (t) => {
    const { world, devices, start, commands, read, members, checkCounts } = await startRollouts(t, 1);
    const { link } = devices[0]!;
    const rolloutId = await start({ ...LANG, ...terms, retry: { codes: [code], attempts: 2, after: 60 } });
    const [command] = (await commands({ silent: isSilent })).values();
    await pass(world, 70_000);
    t.match((await read(rolloutId)).counts, { waiting: 1 }, 'it is tried again');
    await speak(link);
    await pass(world, 70_000);
    t.match(await members(rolloutId), [{ state: 'unchanged' }], 'it gets no second command');
    t.match(await read(rolloutId), { state: 'completed' });
    await link.ack({ transactionId: command!.transactionId, status: 'succeeded' });
    await world.idle();
    t.match(await members(rolloutId), [{ state: 'succeeded' }]);
    t.match(await read(rolloutId), { state: 'completed', counts: { succeeded: 1, unchanged: 0 } });
    await checkCounts(t, rolloutId);
  });

t.test('a late success counts for a device that could get no further command', async (t) => {
  const { world, tenant, devices, start, commands, members, checkCounts } = await startRollouts(t, 1);
  const { link, path } = devices[0]!;
  const retry = { codes: ['NO_ANSWER'], attempts: 2, after: 60 };
  const rolloutId = await start({ ...LANG, answerWithin: 60, retry });
  const [command] = (await commands()).values();
  await pass(world, 70_000);
  t.equal((await link.command()).operation, 'cancel');
  t.equal((await tenant.api.delete(path)).status, 201);
  await link.ack({ transactionId: (await link.command()).transactionId, status: 'succeeded' });
  await pass(world, 70_000);
  t.match(await members(rolloutId), [{ state: 'refused', code: 'DEVICE_NOT_ACTIVATED' }]);
  await link.ack({ transactionId: command!.transactionId, status: 'succeeded' });
  await world.idle();
  t.match(await members(rolloutId), [{ state: 'succeeded' }]);
  await checkCounts(t, rolloutId);
});
