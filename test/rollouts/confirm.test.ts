import t, { type Test } from 'tap';
import { startSoftware } from '../api/software-world.ts';
import { type Link, pass, speak, startRollouts } from './rollout-world.ts';

const WIFI = {
  operation: 'setWifi',
  parameters: [{ ssid: 'depot', password: 'secret-of-depot', security: 'WPA2' }],
  devices: {},
};
const CONFIRM = { seenAgainWithin: 600 };
/** Milliseconds after the time by which a device has to be seen until it counts as silent. */
const LATE = 30_000;

/** Devices that have answered a rollout with success. */
async function answered(t: Test, count: number, more: object = {}, options: Parameters<typeof startRollouts>[2] = {}) {
  const world = await startRollouts(t, count, options);
  const rolloutId = await world.start({ ...WIFI, confirm: CONFIRM, ...more });
  const sent = [...(await world.commands())];
  for (const [deviceId, command] of sent) await world.answer(deviceId, command);
  const [one, ...others] = sent.map(([deviceId]) => world.device(deviceId));
  return {
    ...world,
    rolloutId,
    one: one!,
    others,
    sent,
    shown: () => world.read(rolloutId),
    pass: (milliseconds: number) => pass(world.world, milliseconds),
    speak: ({ link }: { link: Link }) => speak(link),
  };
}

t.test('a success is final when the device was seen again, and the next stage begins then', async (t) => {
  const { rolloutId, one, tenant, sent, shown, pass, speak, members, checkCounts } = await answered(t, 2, {
    stages: [{ count: 1, continueWhen: { succeededPercent: 100 } }],
  });
  t.match(await shown(), {
    state: 'running',
    stage: 1,
    counts: { confirming: 1, succeeded: 0, waiting: 1 },
    rules: { confirm: CONFIRM },
  });
  await checkCounts(t, rolloutId);
  t.match(await members(rolloutId, 'state=confirming'), [{ deviceId: one.deviceId, status: 'succeeded' }]);
  const { body } = await tenant.api.get(`${one.path}/transactions/${sent[0]![1].transactionId}`);
  t.equal(body.status, 'succeeded', 'the transaction has ended as always');

  await t.test('what it sends at once proves nothing', async (t) => {
    await pass(20_000);
    await speak(one);
    await pass(20_000);
    t.match(await shown(), { stage: 1, counts: { confirming: 1 } });
  });

  await t.test('what it sends later does', async (t) => {
    await speak(one);
    await pass(10_000);
    t.match(await shown(), { state: 'running', stage: 2, counts: { confirming: 0, succeeded: 1, unfinished: 1 } });
    await checkCounts(t, rolloutId);
  });
});

t.test('a device that is not seen again in time has failed, and the abort rule counts it in that commit', async (t) => {
  const { rolloutId, one, others, shown, pass, speak, members, events, checkCounts } = await answered(t, 3, {
    stages: [{ count: 2 }],
    abort: { failedPercent: 50, minimumResults: 2 },
  });
  await pass(60_000);
  await speak(one);
  await pass(530_000);
  t.match(await shown(), { state: 'running', counts: { confirming: 1, succeeded: 1 } }, 'not before its time');
  await pass(10_000 + LATE);
  t.match(await shown(), {
    state: 'paused',
    reason: 'ABORT_RULE',
    counts: { failed: 1, succeeded: 1, waiting: 1 },
    errors: [{ state: 'failed', code: 'SILENT', devices: 1 }],
  });
  t.match(await members(rolloutId, 'state=failed'), [
    { deviceId: others[0]!.deviceId, code: 'SILENT', status: 'succeeded' },
  ]);
  t.same((await events()).at(-1), 'paused 1 ABORT_RULE');
  await checkCounts(t, rolloutId);
  await speak(others[0]!);
  await pass(60_000);
  t.match(await shown(), { counts: { failed: 1 } }, 'it was silent, although it comes back later');
});

t.test('a silent device gets another command where the rule for retries names SILENT', async (t) => {
  const { shown, pass, commands } = await answered(t, 1, { retry: { codes: ['SILENT'], attempts: 2, after: 0 } });
  await pass(600_000 + LATE);
  t.match(await shown(), { state: 'running', counts: { unfinished: 1, failed: 0 } });
  t.equal((await commands()).size, 1);
});

t.test('a rollout that ends while it is being confirmed is judged all the same', async (t) => {
  const { rolloutId, one, tenant, shown, pass, speak } = await answered(t, 2);
  t.equal((await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`)).status, 200);
  await pass(60_000);
  await speak(one);
  await pass(600_000);
  t.match(await shown(), { state: 'cancelled', counts: { succeeded: 1, failed: 1, confirming: 0 } });
});

t.test('a device that the application has no longer is neither a success nor a failure', async (t) => {
  const { one, tenant, shown, pass } = await answered(t, 1);
  await tenant.api.delete(one.path);
  const { operation, transactionId } = await one.link.command();
  t.equal(operation, 'deactivate');
  await one.link.ack({ transactionId, status: 'succeeded' });
  await pass(30_000);
  t.match(await shown(), { counts: { confirming: 0, cancelled: 1, failed: 0 } });
});

t.test('time in which the service could hear nobody makes no device silent', async (t) => {
  await t.test('it was stopped, and starts after their time', async (t) => {
    const { world, tenant, devices, one, shown, pass, speak } = await answered(t, 2);
    for (const { link } of devices) await link.drop();
    await world.restart();
    world.clock.leap(3_600_000);
    await tenant.renew();
    await pass(60_000);
    t.match(await shown(), { counts: { confirming: 2 } }, 'they have to come back first');
    one.link = await world.connect(one);
    await speak(one);
    await pass(300_000);
    t.match(await shown(), { counts: { succeeded: 1, failed: 1 } });
  });

  await t.test('its machine stood still', async (t) => {
    const { world, shown, pass, speak, one } = await answered(t, 2);
    await pass(60_000);
    world.clock.leap(600_000);
    await pass(20_000);
    t.match(await shown(), { counts: { confirming: 2 } });
    await speak(one);
    await pass(300_000);
    t.match(await shown(), { counts: { succeeded: 1, failed: 1 } });
  });
});

t.test('with versionKept the device has to report the version', async (t) => {
  const { world, tenant, register, upload, versionPath } = await startSoftware(t);
  const name = 'com.example.kept';
  await register(name, '1.1.0');
  await upload(name, '1.1.0');
  await tenant.api.post(`${versionPath(name, '1.1.0')}/distributions`);
  const links = await Promise.all([1, 2, 3].map(async () => (await world.activatedDevice(tenant)).link));
  const { body } = await tenant.api.post(`${tenant.path}/rollouts`, {
    json: {
      operation: 'installSoftware',
      parameters: { package: name, version: '1.1.0' },
      devices: {},
      confirm: { seenAgainWithin: 600, versionKept: true },
    },
  });
  const read = async () => (await tenant.api.get(`${tenant.path}/rollouts/${body.rolloutId}`)).body;
  for (const link of links) {
    const { transactionId } = await link.command();
    await link.ack({ transactionId, status: 'succeeded' });
  }
  await pass(world, 60_000);
  for (const [index, version] of ['1.1.0', '1.0.0'].entries())
    await speak(links[index]!, { software: [{ package: name, version, versionCode: 1 }] });
  await pass(world, 20_000);
  t.match(await read(), { counts: { succeeded: 1, confirming: 2 } });
  await pass(world, 600_000);
  t.match(await read(), {
    state: 'completed',
    counts: { succeeded: 1, failed: 2 },
    errors: [
      { code: 'SILENT', devices: 1 },
      { code: 'VERSION_LOST', devices: 1 },
    ],
  });
});

t.test('a confirmation that no device could give is refused, and a rollout without one is warned of', async (t) => {
  const { tenant } = await startRollouts(t, 1);
  const create = (json: object) => tenant.api.post(`${tenant.path}/rollouts`, { json });
  const language = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };
  t.match(await create({ ...language, confirm: CONFIRM }), {
    status: 400,
    body: { details: [{ loc: ['body', 'confirm'], type: 'extra_forbidden' }] },
  });
  t.match(await create({ ...WIFI, confirm: { ...CONFIRM, versionKept: true } }), {
    status: 400,
    body: { details: [{ loc: ['body', 'confirm', 'versionKept'] }] },
  });
  t.match(await create({ ...WIFI, confirm: { seenAgainWithin: 59 } }), {
    status: 400,
    body: { details: [{ loc: ['body', 'confirm', 'seenAgainWithin'] }] },
  });
  const codes = async (json: object): Promise<string[]> =>
    (await create(json)).body.warnings
      .map(({ code }: { code: string }) => code)
      .filter((code: string) => code !== 'OVERLAP');
  const abort = { failedPercent: 10, minimumResults: 1 };
  t.same(await codes({ ...WIFI, abort }), ['NOT_CONFIRMED']);
  t.same(await codes({ ...WIFI, abort, confirm: CONFIRM }), []);
  t.same(await codes(language), ['NO_ABORT_RULE']);
  t.same(await codes({ ...language, abort: { ...abort, minimumResults: 20 } }), ['ABORT_RULE_OUT_OF_REACH']);
  t.same(await codes({ ...language, abort, devices: { tags: { ring: 'none' } } }), ['NO_DEVICES']);
});
