import t, { type Test } from 'tap';
import { findSetting } from '../../src/core/devices/setting-repository.ts';
import { keepTaken } from '../../src/core/rollouts/taken-settings.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { pass, startRollouts } from './rollout-world.ts';

const wifi = (ssid: string) => [{ ssid, password: `secret-of-${ssid}`, security: 'WPA2' }];
const WIFI = { operation: 'setWifi', parameters: wifi('new'), devices: {} };

/** Devices that have taken a list of their own; then a rollout of another list that they try for five minutes. */
async function started(t: Test, count: number, more: object = {}) {
  const world = await startRollouts(t, count);
  const { tenant, devices, commands, answer } = world;
  for (const { path, deviceId } of devices)
    await tenant.api.put(`${path}/settings/wifi?revertAfter=60`, { json: wifi(`of-${deviceId}`) });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  const rolloutId = await world.start({ ...WIFI, revertAfter: 300, ...more });
  return { ...world, rolloutId };
}

t.test('the devices of a rollout get the time, and one that went back has failed with REVERTED', async (t) => {
  const { rolloutId, commands, answer, read, members, checkCounts } = await started(t, 3, {
    retry: { codes: ['REVERTED'], attempts: 2, after: 0 },
  });
  t.match(await read(rolloutId), { rules: { revertAfter: 300 } });
  const first = [...(await commands())];
  for (const [, { parameters }] of first) t.strictSame(parameters, { networks: wifi('new'), revertAfter: 300 });
  const [[back, failing], ...others] = first as [(typeof first)[0], (typeof first)[0]];
  for (const [deviceId, command] of others) await answer(deviceId, command);
  await answer(back, failing, 'REVERTED');
  const second = [...(await commands())];
  t.strictSame(
    second.map(([deviceId, { parameters }]) => [deviceId, parameters]),
    [[back, { networks: wifi('new'), revertAfter: 300 }]],
    'another attempt has the same time',
  );
  await answer(...second[0]!, 'REVERTED');
  t.match(await read(rolloutId), {
    state: 'completed',
    counts: { succeeded: 2, failed: 1 },
    errors: [{ state: 'failed', code: 'REVERTED', devices: 1, examples: [back] }],
  });
  t.match(await members(rolloutId, 'state=failed&code=REVERTED'), [{ deviceId: back }]);
  await checkCounts(t, rolloutId);
});

t.test('REVERTED counts for the abort rule', async (t) => {
  const { rolloutId, commands, answer, read } = await started(t, 4, {
    stages: [{ count: 2 }],
    abort: { failedPercent: 50, minimumResults: 2 },
  });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command, 'REVERTED');
  t.match(await read(rolloutId), { state: 'paused', reason: 'ABORT_RULE', counts: { failed: 2, waiting: 2 } });
});

t.test('a revert gives back the former list, also to devices that had gone back, with the same time', async (t) => {
  const { rolloutId, devices, commands, answer, act, read, start, world } = await started(t, 2);
  const first = [...(await commands())];
  const [[taken, taking], [back, failing]] = first as [(typeof first)[0], (typeof first)[0]];
  await answer(taken, taking);
  await answer(back, failing, 'REVERTED');
  const made = await act(rolloutId, 'revert', {});
  t.match(made, { status: 201, body: { devices: 1 } }, 'a device that went back has nothing to give back');
  world.clock.advance(1_000);
  const sent = [...(await commands())];
  t.strictSame(
    sent.map(([deviceId, { parameters }]) => [deviceId, parameters]),
    [[taken, { networks: wifi(`of-${taken}`), revertAfter: 300 }]],
  );
  t.match(await read(made.body.rolloutId), { rules: { revertAfter: 300 } });
  for (const each of sent) await answer(...each);

  await t.test('and what a device took last is the list of the rollout before', async (t) => {
    const id = await start({ ...WIFI, parameters: wifi('newer') });
    for (const [deviceId, command] of await commands()) await answer(deviceId, command);
    const again = await act(id, 'revert', { revertAfter: 30 });
    t.match(again, { status: 201, body: { devices: 2, leftOut: [] } });
    world.clock.advance(1_000);
    const given = new Map([...(await commands())].map(([deviceId, { parameters }]) => [deviceId, parameters]));
    for (const { deviceId } of devices)
      t.strictSame(given.get(deviceId), { networks: wifi(`of-${deviceId}`), revertAfter: 30 });
  });
});

t.test('a rollout or a revert that cannot have it is refused with the name of the member', async (t) => {
  const { tenant, act, start } = await startRollouts(t, 1);
  const post = (json: object) => tenant.api.post(`${tenant.path}/rollouts`, { json });
  const fault = (type: string) => ({ status: 400, body: { details: [{ loc: ['body', 'revertAfter'], type }] } });
  t.match(await post({ ...WIFI, revertAfter: 29 }), fault('greater_than_equal'));
  t.match(await post({ ...WIFI, revertAfter: 3601 }), fault('less_than_equal'));
  const language = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };
  t.match(await post({ ...language, revertAfter: 60 }), fault('extra_forbidden'));
  const rolloutId = await start();
  t.match(await act(rolloutId, 'revert', { revertAfter: 60 }), fault('extra_forbidden'));
});

t.test('the warnings name rules that do not fit', async (t) => {
  const { tenant } = await startRollouts(t, 1);
  const codesOf = async (json: object): Promise<string[]> => {
    const { body } = await tenant.api.post(`${tenant.path}/rollouts`, { json: { ...WIFI, ...json, dryRun: true } });
    return body.warnings.map(({ code }: { code: string }) => code);
  };
  const retry = { codes: ['REVERTED'], attempts: 2, after: 0 };
  t.ok((await codesOf({ retry })).includes('CODE_NEVER_COMES'));
  t.notOk((await codesOf({ retry, revertAfter: 60 })).includes('CODE_NEVER_COMES'));
  t.ok((await codesOf({ revertAfter: 60, answerWithin: 60 })).includes('NO_ANSWER_BEFORE_REVERT'));
  t.notOk((await codesOf({ revertAfter: 60, answerWithin: 120 })).includes('NO_ANSWER_BEFORE_REVERT'));
});

t.test('an answer that comes after the service has ended its command', async (t) => {
  for (const [late, order, leftOut] of [
    ['succeeded', 'before the next list', []],
    ['succeeded', 'after the next list', [{ code: 'FORMER_UNKNOWN', devices: 1 }]],
    ['succeeded', 'without another list', [{ code: 'FORMER_UNKNOWN', devices: 1 }]],
    ['REVERTED', 'without another list', []],
  ] as const)
    await t.test(`${late} ${order}`, async (t) => {
      const world = await startRollouts(t, 2);
      const { tenant, devices, commands, answer, act, start } = world;
      const [device, other] = devices.map(({ path, deviceId }) => ({ path, deviceId }));
      const put = (path: string, ssid: string, query = '') =>
        tenant.api.put(`${path}/settings/wifi${query}`, { json: wifi(ssid) });
      for (const { path, deviceId } of [device!, other!]) await put(path, `of-${deviceId}`);
      for (const [deviceId, command] of await commands()) await answer(deviceId, command);

      await put(device!.path, 'tried', '?revertAfter=60&answerWithin=60');
      const tried = (await commands()).get(device!.deviceId)!;
      await pass(world.world, 70_000);
      const { body } = await tenant.api.get(`${device!.path}/transactions/${tried.transactionId}`);
      t.match(body, { error: { code: 'NO_ANSWER' } });
      t.match(await devices[0]!.link.command(), { operation: 'cancel', transactionId: tried.transactionId });
      const answerLate = () => answer(device!.deviceId, tried, late === 'REVERTED' ? late : undefined);
      const putNext = async (): Promise<void> => {
        await put(device!.path, 'next');
        for (const each of await commands()) await answer(...each);
      };
      if (order === 'after the next list') await putNext();
      await answerLate();
      if (order === 'before the next list') await putNext();

      const rolloutId = await start(WIFI);
      for (const each of await commands()) await answer(...each);
      t.match(await act(rolloutId, 'revert', {}), { status: 201, body: { devices: 2, leftOut } });
      await pass(world.world, 1_000);
      const given = (await commands()).get(device!.deviceId)?.parameters;
      const former = late === 'REVERTED' ? `of-${device!.deviceId}` : 'next';
      t.strictSame(given, leftOut.length > 0 ? undefined : { networks: wifi(former) });
    });
});

t.test('a list that a device took by an unknown way between two attempts is not given back', async (t) => {
  const { rolloutId, world, devices, tenant, commands, answer, act } = await started(t, 2);
  const [{ path, deviceId, link }] = devices as [(typeof devices)[0]];
  for (const [id, command] of await commands()) await answer(id, command, 'REVERTED');
  await tenant.api.put(`${path}/settings/wifi?revertAfter=60&answerWithin=60`, { json: wifi('in between') });
  const between = (await commands()).get(deviceId)!;
  await pass(world, 70_000);
  t.match(await link.command(), { operation: 'cancel' });
  await answer(deviceId, between);
  await act(rolloutId, 'retry-failed', {});
  for (const each of await commands()) await answer(...each);
  t.match(await act(rolloutId, 'revert', {}), {
    status: 201,
    body: { devices: 2, leftOut: [{ code: 'FORMER_UNKNOWN', devices: 1 }] },
  });
});

t.test('the settings of a device are kept without the time in which it tried them', async (t) => {
  const { database } = openTestDatabase(t);
  const parameters = { networks: wifi('tried') };
  const settings = { ...parameters, revertAfter: 60 };
  const finished = { deviceId: 'd', operation: 'setWifi', subject: null, transactionId: 1, rolloutId: null, settings };
  await database.transact(async (unit) => void keepTaken(unit, finished as never));
  t.strictSame((await findSetting(database.read, 'd', 'setWifi'))?.parameters, parameters);
});
