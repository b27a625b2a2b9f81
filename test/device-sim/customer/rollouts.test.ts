import { createCustomer } from '@lapel/device-sim/customer/customer';
import { provision } from '@lapel/device-sim/customer/provision';
import type { RolloutPlan } from '@lapel/device-sim/customer/rollout-plan';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { systemTimers } from '@lapel/device-sim/timers';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { startWorld } from '../../world.ts';

const planOf = (body: Partial<RolloutPlan['body']>, more: Partial<RolloutPlan> = {}): RolloutPlan => ({
  body: { operation: 'setWifi', devices: {}, ...body },
  ...(more.release === undefined && { parameters: [{ ssid: 'depot', security: 'OPEN' }] }),
  approve: null,
  resume: null,
  ...more,
});

t.test('the customer of the real service rolls out', async (t) => {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock, env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  const { admin: adminUrl, http: apiUrl, mqtt } = world.service.addresses;
  const names = { developerId: 'fleet', run: 'rollouts', seed: 1, places: [0, 1, 2, 3, 4, 5] };
  const { accounts, application } = await provision({ adminUrl, token: world.service.adminToken, ...names });
  const ids = accounts.map(({ deviceId }) => deviceId);
  const tagsOf = (deviceId: string) => ({ site: ids.indexOf(deviceId) < 2 ? 'osaka' : 'tokyo' });
  const customer = createCustomer({ apiUrl, application, timers: systemTimers, tagsOf });
  t.teardown(() => customer[Symbol.asyncDispose]());
  const isBad = { fault: 'fails', probability: 1, versions: ['2.0.0'], code: 'BOOT_FAILED' } as const;
  const fleet = createFleet({
    members: accounts.map((account, place) => ({ account, place, settings: { group: 'all', faults: [isBad] } })),
    url: mqtt,
  });
  t.teardown(() => fleet[Symbol.asyncDispose]());
  await customer.start();
  customer.follow(fleet);
  await fleet.connect();
  t.equal((await customer.activate(ids, 'begin', 5000)).length, 6);
  const { ledger } = customer;
  const last = () => customer.rollouts().at(-1);
  const troubles = (): string[] => ledger.troubles().map(({ text }) => text);
  t.afterEach(() => t.strictSame(troubles(), []));

  await t.test('to the devices with a tag, and knows the result of each', async (t) => {
    ledger.enter('tags');
    await customer.rollOut(planOf({ label: 'Depots', devices: { tags: { site: 'osaka' } } }), 'tags');
    await customer.settle(5000);
    const counts = { rollouts: 1, rolloutDevices: 2, stages: 1, plannedStages: 1, spared: 0, overshoot: 0 };
    const results = { requests: 3, carriedOut: 1, accepted: 2, delivered: 2, succeeded: 2, unfinished: 0, lost: 0 };
    t.match(ledger.figures('tags'), {
      ...counts,
      ...results,
      violations: 0,
      wrong: 0,
      rolloutStates: { completed: 1 },
    });
    t.equal(ledger.figures('tags', { action: 'rollout' }).succeeded, 2);
    t.equal(ledger.figures('tags').latency.delivered.count, 0, 'nobody asked for these commands one by one');
    t.match(last(), { label: 'Depots', state: 'completed', stages: 1, devices: 2, counts: { succeeded: 2 } });
    const { rolloutId = '' } = last() ?? {};
    const [transactionId = 0] = ledger.transactionsOf(rolloutId).keys();
    const story = ledger.story({ transactionId }).join('\n');
    t.match(story, new RegExp(`service +makes transaction ${transactionId} .* in rollout ${rolloutId}`));
  });

  await t.test('approves a stage when its plan says so', async (t) => {
    ledger.enter('approval');
    const stages = [{ count: 2, approval: true }];
    await customer.rollOut(planOf({ stages }, { approve: 0 }), 'approval');
    await customer.settle(5000);
    t.match(last(), { state: 'completed', stages: 2, plannedStages: 2, counts: { succeeded: 6 } });
    t.match(ledger.figures('approval'), { requests: 8, carriedOut: 2, accepted: 6, succeeded: 6, violations: 0 });
  });

  await t.test('a bad release, whose rollout stops itself', async (t) => {
    ledger.enter('bad');
    const abort = { failedPercent: 50, minimumResults: 1 };
    const bad = planOf(
      { operation: 'installSoftware', stages: [{ count: 1 }], abort },
      { release: { version: '2.0.0' } },
    );
    await customer.rollOut(bad, 'bad');
    await customer.settle(5000);
    t.match(last(), { state: 'paused', reason: 'ABORT_RULE', stages: 1, spared: 5, overshoot: 0 });
    const figures = { failures: { BOOT_FAILED: 1 }, spared: 5, rolloutDevices: 6, rolloutStates: { paused: 1 } };
    t.match(ledger.figures('bad'), { ...figures, violations: 0, accepted: 1 });
  });

  await t.test('lets a paused rollout go on when its plan says so', async (t) => {
    ledger.enter('resumed');
    const abort = { failedPercent: 50, minimumResults: 1 };
    const bad = planOf(
      { operation: 'installSoftware', stages: [{ count: 5 }], abort },
      { release: { version: '2.0.0' }, resume: 0 },
    );
    await customer.rollOut(bad, 'resumed');
    await customer.settle(10_000);
    t.match(last(), { state: 'completed', counts: { failed: 6 }, spared: 0 });
    t.match(ledger.figures('resumed'), { failures: { BOOT_FAILED: 6 }, violations: 0, overshoot: 0 });
  });

  await t.test('again to a device that may try again, and each command has its result', async (t) => {
    ledger.enter('again');
    const retry = { codes: ['BOOT_FAILED'], attempts: 2, after: 0 };
    const devices = { devices: ids.slice(0, 1) };
    const bad = planOf({ operation: 'installSoftware', devices, retry }, { release: { version: '2.0.0' } });
    await customer.rollOut(bad, 'again');
    await customer.settle(10_000);
    t.match(last(), { state: 'completed', counts: { failed: 1 } });
    t.match(ledger.figures('again'), { accepted: 2, failures: { BOOT_FAILED: 2 }, violations: 0, unfinished: 0 });
  });

  await t.test('commands of a device that is away wait for it, and are cancelled with their rollout', async (t) => {
    ledger.enter('away');
    await fleet.devices[0]?.disconnect();
    await customer.rollOut(planOf({ devices: { devices: ids.slice(0, 2) } }), 'away');
    await customer.settle(1000);
    t.match(last(), { state: 'running', counts: { succeeded: 1, unfinished: 1 } });
    t.match(ledger.figures('away'), { accepted: 2, succeeded: 1, cancelled: 1, unfinished: 0, lost: 0, violations: 0 });
    await fleet.devices[0]?.connect();
  });

  await t.test('a rollout that the service refuses counts as a refused call', async (t) => {
    ledger.enter('refused');
    await customer.rollOut(planOf({ stages: [{ percent: 60 }, { percent: 60 }] }), 'refused');
    t.match(ledger.figures('refused'), { requests: 1, refused: { 400: 1 }, rollouts: 0 });
  });

  await t.test('a rollout that has not begun is cancelled at the end', async (t) => {
    const before = customer.rollouts().length;
    await customer.rollOut(planOf({ devices: { devices: ids } }, { startAt: 3_600_000 }), 'later');
    await customer.settle(500);
    t.match(last(), { state: 'scheduled', stages: 0, counts: { waiting: 6 } });
    t.equal(customer.rollouts().length, before + 1, 'each rollout is compared once');
  });
});
