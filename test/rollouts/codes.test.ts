import t from 'tap';
import { startRollouts } from './rollout-world.ts';

/** The codes that a rollout tells apart, and some devices more. */
const MOST_CODES = 100;

t.test('devices that choose more codes than are told apart do not switch off the rules of a rollout', async (t) => {
  const { start, commands, answer, act, read, members, devices, device, checkCounts, world } = await startRollouts(
    t,
    MOST_CODES + 7,
  );
  const rolloutId = await start({
    maxUnfinished: MOST_CODES + 7,
    abort: { failedPercent: 3, minimumResults: MOST_CODES, codes: ['BROKEN'] },
    retry: { codes: ['BUSY'], attempts: 2, after: 60 },
  });
  const ids = devices.map(({ deviceId }) => deviceId);
  const [late, busy, silent, broken, brokenToo, brokenLast, another] = ids.slice(0, 7) as [string, ...string[]];
  const given = await commands({ silent: true });
  const fail = async (deviceId = '', code = ''): Promise<void> => {
    const command = given.get(deviceId);
    if (!command) throw new Error(`${deviceId} has no command`);
    await answer(deviceId, command, code);
  };
  const codesOfAll = ids.slice(7).map(async (deviceId, index) => {
    const { transactionId } = given.get(deviceId) ?? {};
    await device(deviceId).link.ack({
      transactionId,
      status: 'failed',
      error: { code: `CODE_${index}`, message: 'x' },
    });
  });
  await Promise.all(codesOfAll);
  await world.idle();

  await fail(busy, 'BUSY');
  t.match(await read(rolloutId), { state: 'running', counts: { failed: MOST_CODES, waiting: 1 } }, 'it tries again');
  await fail(another, 'ANOTHER');
  await fail(broken, 'BROKEN');
  await fail(brokenToo, 'BROKEN');
  await fail(brokenLast, 'BROKEN');
  await fail(late, 'BROKEN');
  const paused = await read(rolloutId);
  t.match(paused, { state: 'paused', reason: 'ABORT_RULE' });
  t.match(paused.errors[0], { code: 'BROKEN', devices: 4 });
  const codes = new Map((await members(rolloutId, 'limit=1000')).map(({ deviceId, code }) => [deviceId, code]));
  t.equal(codes.get(another ?? ''), 'OTHER', 'further codes of devices are counted together');

  t.match(paused.counts, { waiting: 1, unfinished: 1, cancelled: 0 }, 'a command that a device may have stays its own');
  await act(rolloutId, 'resume');
  await world.idle();
  const succeeded = (await read(rolloutId)).counts.succeeded;
  await answer(silent ?? '', given.get(silent ?? '') as never);
  t.match((await read(rolloutId)).counts, { succeeded: succeeded + 1, unfinished: 0 }, 'and its result counts');
  await checkCounts(t, rolloutId);
});
