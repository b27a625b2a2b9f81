import t, { type Test } from 'tap';
import { healthEvidence } from '../../src/core/rollouts/health/evidence.ts';
import type { HealthFigures } from '../../src/core/rollouts/health/figures.ts';
import { createHealth } from '../../src/core/rollouts/health/health.ts';
import type { Observed } from '../../src/core/rollouts/health/observation.ts';
import { findHealth, saveHealth, watchDevice } from '../../src/core/rollouts/health/watch-repository.ts';
import { createWatching } from '../../src/core/rollouts/health/watching.ts';
import type { HealthRule, Plan, Rollout } from '../../src/core/rollouts/rollout.ts';
import { findRollout, updateRollout } from '../../src/core/rollouts/rollout-repository.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { storeRollout } from './stored-rollout.ts';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const NOW = 1_000 * HOUR;
const ID = 'rol_1';
const SILENT: HealthRule = { measure: 'silent', atMost: 20, minimumDevices: 2, within: 600 };
const COMPARED: HealthRule = { measure: 'silent', timesControl: 2, minimumDevices: 2, within: 600 };

const observed = (deviceId: string, more: Partial<Observed> = {}): Observed => ({
  deviceId,
  isControl: 0,
  stage: 0,
  since: NOW - 20 * MINUTE,
  usualGap: 10 * MINUTE,
  statusAt: 0,
  level: null,
  levelAt: 0,
  isCharging: null,
  drained: 0,
  drainedMicros: 0,
  freeFirst: null,
  freeFirstAt: 0,
  freeLast: null,
  freeLastAt: 0,
  now: NOW,
  seenAt: NOW,
  listensSince: 0,
  counted: () => ({ reconnects: 0, failedCommands: 0, events: new Map() }),
  ...more,
});

/** A rollout with a device whose health is watched. */
async function watched(t: Test, plan: Partial<Plan>) {
  const { database } = openTestDatabase(t);
  const stages = [{ devices: 2, continueWhen: { succeededPercent: 95 } }, { devices: 2 }];
  const rollout = await storeRollout(database, ID, { deviceIds: ['1', '2'], stage: 0, plan: { stages, ...plan } });
  await database.transact(async (unit) => {
    watchDevice(unit, ID, { deviceId: '1', stage: 0 }, { isControl: false, since: NOW - HOUR });
  });
  return { database, rollout };
}

/** Looks once. `meanwhile` is called while the devices are read. Returns the reasons of the pauses. */
async function lookAt(
  { database }: Pick<Awaited<ReturnType<typeof watched>>, 'database'>,
  devices: Observed[],
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<string[]> {
  const pauses: string[] = [];
  const { look } = createHealth({
    database,
    log: { error: ({ err }: { err: unknown }) => t.fail(String(err)) } as never,
    transitions: {
      async pause(_unit, rollout, { reason }) {
        pauses.push(reason);
        return rollout;
      },
    },
    watching: {
      observe: async () => meanwhile().then(() => devices),
      enrol: async () => undefined,
    },
    wake: () => undefined,
  });
  await look(NOW, 0, () => undefined);
  return pauses;
}

t.test(
  'a rule stops no rollout if somebody has accepted how it is, or changed the rules, during the look',
  async (t) => {
    const silent = ['1', '2'].map((deviceId) => observed(deviceId, { seenAt: NOW - 20 * MINUTE }));
    for (const [about, plan, reasons] of [
      ['as it was', {}, ['HEALTH_RULE']],
      ['accepted', { healthSince: NOW }, []],
      ['with other rules', { health: [COMPARED] }, []],
    ] as const) {
      const { database } = await watched(t, { health: [SILENT] });
      const change = async (): Promise<void> =>
        database.transact(async (unit) => {
          const current = (await findRollout(unit, ID))!;
          await updateRollout(unit, { ...current, plan: { ...current.plan, ...plan } });
        });
      t.same(await lookAt({ database }, silent, change), reasons, about);
    }
  },
);

t.test(
  'the groups are compared again after a quarter more of observation, or when a resume has begun anew',
  async (t) => {
    const devices = ['1', '2', '3', '4'].map((deviceId, index) => observed(deviceId, { isControl: index < 2 ? 0 : 1 }));
    for (const [before, looks] of [
      [40 * MINUTE, 3],
      [33 * MINUTE, 3],
      [32 * MINUTE, 4],
      [49 * MINUTE, 3],
      [51 * MINUTE, 4],
    ] as const) {
      const { database } = await watched(t, { health: [COMPARED] });
      await database.transact(async (unit) =>
        saveHealth(unit, ID, { figures: '{"stages":[]}', looks: 3, observed: before }),
      );
      await lookAt({ database }, devices);
      t.match(await findHealth(database.read, ID), { looks }, `${before / MINUTE} minutes before`);
    }
  },
);

t.test('a comparison that could stop nothing is made again when the rollout goes on', async (t) => {
  const bad = Array.from({ length: 8 }, (_, index) => observed(`bad ${index}`, { seenAt: NOW - 20 * MINUTE }));
  const devices = [...bad, ...bad.map((_, index) => observed(`well ${index}`, { isControl: 1 }))];
  const { database, rollout } = await watched(t, { health: [COMPARED] });
  const change = (state: Rollout['state']): Promise<void> =>
    database.transact(async (unit) => updateRollout(unit, { ...rollout, state }));
  await change('paused');
  t.same(await lookAt({ database }, devices), [], 'somebody has paused it');
  t.match(await findHealth(database.read, ID), { looks: 0, observed: 0, figures: /"fires":true/ });
  await lookAt({ database }, bad.slice(0, 1));
  t.match(await findHealth(database.read, ID), { looks: 0, figures: /"judged":1/ }, 'the figures are the newest');
  await change('running');
  t.same(await lookAt({ database }, devices), ['HEALTH_RULE']);
  t.match(await findHealth(database.read, ID), { looks: 1 });
});

t.test('the next stage begins when a look after the soak knows enough of all that have the release', async (t) => {
  const soakedAt = NOW - HOUR;
  const known = (treated: number, control: number, more: Partial<HealthFigures> = {}) => ({
    at: NOW,
    listensSince: 0,
    of: [COMPARED],
    rules: [{ treated: { devices: treated, value: 0 }, control: { devices: control, value: 0 } }],
    judged: 9,
    ...more,
  });
  for (const [about, figures, evidence, healthSince] of [
    ['no look', undefined, 'later'],
    ['enough', known(2, 2), 'known'],
    ['a look before the end of the soak', known(2, 2, { at: soakedAt - 1 }), 'later'],
    ['too few with the release', known(1, 2), 'later'],
    ['all that have it, although they are few', known(1, 2, { judged: 1 }), 'known'],
    ['too few that wait', known(2, 1), 'later'],
    ['nobody to judge, since somebody has accepted all', known(0, 0, { judged: 0 }), 'known', NOW],
    ['nobody left to judge', known(0, 0, { judged: 0 }), 'later'],
    ['other rules', known(2, 2, { of: [SILENT] }), 'later'],
    ['too few for a day', known(1, 2, { at: soakedAt + 24 * HOUR }), 'never'],
    ['after a stop', known(1, 2, { at: soakedAt + 24 * HOUR, listensSince: soakedAt + 23.5 * HOUR }), 'later'],
  ] as const) {
    const accepted = healthSince === undefined ? {} : { healthSince };
    const { database, rollout } = await watched(t, { health: [COMPARED], ...accepted });
    if (figures)
      await database.transact(async (unit) =>
        saveHealth(unit, ID, { figures: JSON.stringify(figures), looks: 1, observed: 1 }),
      );
    const found = await healthEvidence(database.read, rollout, soakedAt, NOW);
    t.equal(typeof found === 'number' ? 'later' : found, evidence, about);
  }
});

t.test('devices are compared that were heard of just now, or are connected', async (t) => {
  const { database } = openTestDatabase(t);
  const rollout = await storeRollout(database, ID, { deviceIds: ['1', '2', '3', '4'] });
  const heardAt: Record<string, number> = { 1: NOW - 2 * MINUTE, 2: NOW - 2 * MINUTE - 1, 3: NOW - HOUR };
  const { enrol } = createWatching({
    database,
    presence: { newerThanStored: (deviceId) => heardAt[deviceId] },
    connected: () => new Set(['3']),
  });
  await enrol(rollout, [observed('9')], NOW);
  const text = 'SELECT device_id AS "deviceId" FROM rollout_watch WHERE is_control = 1 ORDER BY device_id';
  t.same(await database.read.all(text), [{ deviceId: '1' }, { deviceId: '3' }]);
});

t.test('a look that takes long says in between that the service lives', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const deviceIds = Array.from({ length: 1_001 }, (_, index) => String(10_000 + index));
  await storeRollout(database, ID, { deviceIds, stage: 0 });
  await database.transact(async (unit) => {
    for (const deviceId of deviceIds) watchDevice(unit, ID, { deviceId, stage: 0 }, { isControl: false, since: 1 });
  });
  const slow = {
    ...database,
    aside: {
      ...database.aside,
      async all<Row>(...asked: Parameters<typeof database.aside.all>) {
        if (asked[0].includes('FROM rollout_watch w')) clock.advance(5_000);
        return database.aside.all<Row>(...asked);
      },
    },
  };
  const parts = { presence: { newerThanStored: () => undefined }, connected: () => new Set<string>() };
  const { look } = createHealth({
    database: slow,
    log: { error: ({ err }: { err: unknown }) => t.fail(String(err)) } as never,
    transitions: { pause: async (_unit, rollout) => rollout },
    watching: createWatching({ ...parts, database: slow }),
    wake: () => undefined,
  });
  const times = [clock.now()];
  await look(clock.now(), 0, () => times.push(clock.now()));
  const gaps = times.slice(1).map((at, index) => (at - times[index]!) / 1_000_000);
  t.ok(Math.max(...gaps) < 30, `it has seemed to stand still for ${Math.max(...gaps)} s`);
});
