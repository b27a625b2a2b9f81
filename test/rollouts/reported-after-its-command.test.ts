import t from 'tap';
import { startSoftware } from '../api/software-world.ts';
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

t.test('a late success of a device that has reported the wanted version needs no confirmation', async (t) => {
  const { world, tenant, register, upload, versionPath } = await startSoftware(t);
  const [name, version] = ['com.example.kept', '1.1.0'];
  await register(name, version);
  await upload(name, version);
  await tenant.api.post(`${versionPath(name, version)}/distributions`);
  const { link } = await world.activatedDevice(tenant);
  const json = {
    operation: 'installSoftware',
    parameters: { package: name, version },
    devices: {},
    answerWithin: 60,
    retry: { codes: ['NO_ANSWER'], attempts: 2, after: 60 },
    confirm: { seenAgainWithin: 600, versionKept: true },
  };
  const { rolloutId } = (await tenant.api.post(`${tenant.path}/rollouts`, { json })).body;
  const counts = async () => (await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body.counts;
  const { transactionId, packet } = await link.command();
  link.puback(packet);
  await pass(world, 70_000);
  await speak(link, { software: [{ package: name, version, versionCode: 1 }] });
  await pass(world, 70_000);
  t.match(await counts(), { unchanged: 1 });
  await link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  t.match(await counts(), { unchanged: 0, succeeded: 1 });
  await pass(world, 1_200_000);
  t.match(await counts(), { succeeded: 1, failed: 0 }, 'although nothing was heard of it since');
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
