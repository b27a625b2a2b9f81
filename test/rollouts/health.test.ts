import t from 'tap';
import { soaking } from './soaking.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Milliseconds until a device without former absences counts as silent, with a look after it. */
const SILENT = 31 * MINUTE;

/** Devices whose connections have ended. */
async function silence(devices: readonly { link: { drop(): Promise<void> } }[]): Promise<void> {
  for (const { link } of devices) await link.drop();
}

t.test('devices that go silent after the release pause it, although all have succeeded', async (t) => {
  const rule = { measure: 'silent', atMost: 20, minimumDevices: 4 };
  const { rolloutId, canaries, tenant, shown, pass, events, world } = await soaking(t, 4, 2, [rule]);
  await silence(canaries.slice(0, 1));
  await pass(SILENT - 2 * MINUTE);
  t.match(await shown(), { state: 'running', stages: [{ health: { treated: { devices: 4, silent: null } } }] });
  await pass(3 * MINUTE);
  t.match(await shown(), {
    state: 'paused',
    reason: 'HEALTH_RULE',
    counts: { succeeded: 4 },
    history: [
      {
        event: 'paused',
        by: 'service',
        reason: 'HEALTH_RULE',
        health: { rule, treated: { devices: 4, value: 25 }, control: { devices: 2, value: 0 }, probability: null },
      },
    ],
    stages: [
      { health: { treated: { devices: 4, silent: 25 }, control: { devices: 2, silent: 0, versionKept: null } } },
    ],
  });
  t.same((await events()).at(-1), 'paused 1 HEALTH_RULE');
  const told = tenant.receiver.requests.map(({ body }) => JSON.parse(body.toString())).at(-1);
  t.match(told.data.health, { rule, treated: { value: 25 } }, 'the webhook says what was seen');

  await t.test('a resume accepts how these devices are', async (t) => {
    await world.restart();
    await tenant.renew();
    t.equal((await tenant.api.post(`${tenant.path}/rollouts/${rolloutId}/resume`)).status, 200);
    await pass(2 * SILENT);
    t.match(await shown(), { state: 'running', stage: 1 });
  });
});

t.test('a device that a newer rollout has commanded is not judged for the older one', async (t) => {
  const rule = { measure: 'silent', atMost: 20, minimumDevices: 2, within: 600 };
  const { start, commands, answer, canaries, shown, pass } = await soaking(t, 4, 2, [rule]);
  const newer = canaries.slice(0, 2);
  const ids = newer.map(({ deviceId }) => deviceId);
  await pass(MINUTE);
  await start({ parameters: { lang: 'fr' }, devices: { devices: ids } });
  for (const [deviceId, command] of await commands()) await answer(deviceId, command);
  await silence(newer);
  await pass(15 * MINUTE);
  t.match(await shown(), { state: 'running', stages: [{ health: { treated: { devices: 2, silent: 0 } } }] });
});

t.test('a rule against the devices that wait', async (t) => {
  const rule = { measure: 'silent', timesControl: 2, minimumDevices: 8, within: 600 };

  await t.test('stops what only the release does', async (t) => {
    const { canaries, shown, pass } = await soaking(t, 10, 20, [rule]);
    await silence(canaries);
    await pass(11 * MINUTE);
    const { state, reason, history } = await shown();
    t.match({ state, reason }, { state: 'paused', reason: 'HEALTH_RULE' });
    const { health } = history[0]!;
    t.match(health, { treated: { devices: 10, value: 100 }, control: { value: 0 } });
    t.ok(health!.probability! < 0.001, `${health!.probability}`);
  });

  await t.test('stops nothing in an outage that hits both', async (t) => {
    const { devices, shown, pass } = await soaking(t, 10, 20, [rule]);
    await pass(MINUTE);
    await silence(devices);
    await pass(20 * MINUTE);
    t.match(await shown(), {
      state: 'running',
      stage: 1,
      stages: [{ health: { treated: { silent: 100 }, control: { silent: 100 } } }],
    });
  });
});

t.test('the next stage begins when a rule has seen enough, and not before', async (t) => {
  const rule = { measure: 'silent', atMost: 50, minimumDevices: 2, within: 1200 };
  const { shown, pass } = await soaking(t, 2, 2, [rule], 60);
  await pass(10 * MINUTE);
  t.match(
    await shown(),
    { state: 'running', stage: 1, stages: [{ soakEndsAt: '2026-11-20T09:31:00.123456Z' }, { soakEndsAt: null }] },
    'its soak is over, and nobody can be silent yet',
  );
  await pass(11 * MINUTE);
  t.match(await shown(), { state: 'running', stage: 2 });
});

t.test('a rule that never sees enough pauses the rollout, and a resume lets the stage pass', async (t) => {
  const rule = { measure: 'batteryDrop', atMost: 5, minimumDevices: 2 };
  const { world, rolloutId, act, shown, pass } = await soaking(t, 2, 2, [rule], 60);
  world.clock.leap(23 * HOUR);
  await pass(MINUTE);
  t.match(await shown(), { state: 'running', stage: 1 });
  world.clock.leap(2 * HOUR);
  await pass(50 * MINUTE);
  t.match(await shown(), { state: 'running', stage: 1 }, 'after a stop, the devices are observed first');
  await pass(11 * MINUTE);
  t.match(await shown(), { state: 'paused', reason: 'HEALTH_UNKNOWN', stage: 1 });
  t.equal((await act(rolloutId, 'resume')).status, 200);
  await pass(MINUTE);
  t.match(await shown(), { state: 'running', stage: 2 });
});
