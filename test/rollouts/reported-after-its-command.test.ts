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
