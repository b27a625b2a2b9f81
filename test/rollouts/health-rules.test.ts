import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { startSoftware } from '../api/software-world.ts';
import { pass, speak, startRollouts } from './rollout-world.ts';
import { SOAK, soaking } from './soaking.ts';

const MINUTE = 60_000;
const _HOUR = 60 * MINUTE;
/** Milliseconds until a device without former absences counts as silent, with a look after it. */
const SILENT = 31 * MINUTE;

/** Devices whose connections have ended. */
async function silence(devices: readonly { link: { drop(): Promise<void> } }[]): Promise<void> {
  for (const { link } of devices) await link.drop();
}

t.test('devices go back by themselves where a rule stops the rollout and it says so', async (t) => {
  const rule = { measure: 'silent', atMost: 20, minimumDevices: 4, within: 600 };
  await t.test('to the settings that they had', async (t) => {
    const { rolloutId, canaries, tenant, shown, read, pass } = await soaking(t, 4, 2, [rule], undefined, {
      before: { lang: 'fr' },
      revert: 'automatic',
    });
    await silence(canaries.slice(0, 1));
    await pass(12 * MINUTE);
    const { state, revertedBy, history } = await shown();
    t.match({ state, history }, { state: 'cancelled', history: [{ event: 'reverted', by: 'service' }] });
    const back = await read(revertedBy as string);
    t.match(back, {
      reverts: rolloutId,
      devices: 4,
      state: 'running',
      history: [{}, {}, { event: 'created', by: 'service' }],
    });
    const { body } = await tenant.api.get(`${tenant.path}/rollouts/${revertedBy}/devices`);
    t.equal(body.devices.length, 4);
  });
  await t.test('and the history says why not, if nothing is known', async (t) => {
    const { canaries, shown, pass } = await soaking(t, 4, 2, [rule], undefined, { revert: 'automatic' });
    await silence(canaries.slice(0, 1));
    await pass(15 * MINUTE);
    t.match(await shown(), {
      state: 'paused',
      reason: 'HEALTH_RULE',
      history: [{ event: 'revertFailed', by: 'service', reason: 'NOTHING_TO_REVERT' }, { event: 'paused' }],
    });
  });
});

t.test('a rollout that somebody has let go on, or paused, before its devices go back stays as it is', async (t) => {
  const rule = { measure: 'silent', atMost: 20, minimumDevices: 4, within: 600 };
  for (const [state, reason] of [
    ['running', null],
    ['paused', 'REQUESTED'],
  ] as const) {
    const more = { before: { lang: 'fr' }, revert: 'automatic' } as const;
    const { world, rolloutId, canaries, tenant, shown, pass } = await soaking(t, 4, 2, [rule], undefined, more);
    const raw = await world.raw();
    // As if they had done it while the service stores the rollout that brings the devices back.
    const [row] = await raw.all<{ plan: string }>('SELECT plan FROM rollouts WHERE rollout_id = ?', rolloutId);
    const plan = JSON.stringify({ ...JSON.parse(row!.plan), healthSince: world.clock.now() + 3_600_000_000 });
    const changes = `state = '${state}', reason = ${reason === null ? 'NULL' : `'${reason}'`}, entries = 9, plan = '${plan}'`;
    await raw.afterWrites('INSERT ON rollouts', `UPDATE rollouts SET ${changes} WHERE rollout_id = '${rolloutId}'`);
    await silence(canaries.slice(0, 1));
    await pass(12 * MINUTE);
    const { revertedBy, history, ...is } = await shown();
    t.match(is, { state, reason });
    t.equal(revertedBy, undefined);
    t.match(history[0], { event: 'paused', reason: 'HEALTH_RULE' });
    const { body } = await tenant.api.get(`${tenant.path}/rollouts`);
    t.equal(body.rollouts.length, 2, 'and no other was made');
  }
});

t.test('after a restore, no devices go back by themselves: somebody may have decided since the backup', async (t) => {
  const rule = { measure: 'silent', atMost: 20, minimumDevices: 2, within: 600 };
  const more = { before: { lang: 'fr' }, revert: 'automatic', database: 'sqlite' } as const;
  const { world, rolloutId, tenant, shown, act } = await soaking(t, 2, 1, [rule], undefined, more);
  const [file, kept] = ['lapel.db', 'kept.db'].map((name) => join(world.dataDir, name)) as [string, string];
  await world.restart(() => copyFileSync(file, kept));
  await tenant.renew();
  await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`);
  await world.restart(() => {
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    copyFileSync(kept, file);
    const database = new Sqlite(file);
    // The backup was made when a rule had stopped the rollout, and its devices were about to go back.
    database.exec(`UPDATE rollouts SET state = 'paused', reason = 'HEALTH_RULE', publishes = 0
      WHERE rollout_id = '${rolloutId}'`);
    database.close();
  });
  await tenant.renew();
  await world.idle();
  t.match(await shown(), {
    state: 'paused',
    reason: 'HEALTH_RULE',
    revertedBy: undefined,
    history: [{ event: 'revertFailed', by: 'service', reason: 'DATABASE_RESTORED' }],
  });
  t.match(await act(rolloutId, 'revert', {}), { status: 201 }, 'somebody who knows brings them back');
});

t.test('figures are shown where no rule is set, also of the version', async (t) => {
  const { world, tenant, register, upload, versionPath } = await startSoftware(t);
  const name = 'com.example.kept';
  await register(name, '1.1.0');
  await upload(name, '1.1.0');
  await tenant.api.post(`${versionPath(name, '1.1.0')}/distributions`);
  const devices = [];
  for (let number = 0; number < 3; number += 1) devices.push(await world.activatedDevice(tenant));
  const { body } = await tenant.api.post(`${tenant.path}/rollouts`, {
    json: {
      operation: 'installSoftware',
      parameters: { package: name, version: '1.1.0' },
      devices: {},
      stages: [{ count: 2, continueWhen: { succeededPercent: 50, soakFor: SOAK } }],
    },
  });
  await world.idle();
  const read = async () => (await tenant.api.get(`${tenant.path}/rollouts/${body.rolloutId}`)).body;
  t.equal((await read()).stages[0].health, null);
  const { body: listed } = await tenant.api.get(`${tenant.path}/transactions?unfinished=true`);
  const treated = devices.filter(({ deviceId }) =>
    listed.transactions.some((one: { deviceId: string }) => one.deviceId === deviceId),
  );
  for (const { link } of treated) {
    const { transactionId } = await link.command();
    await link.ack({ transactionId, status: 'succeeded' });
  }
  await speak(treated[0]!.link, { software: [{ package: name, version: '1.1.0', versionCode: 1 }] });
  await pass(world, SILENT);
  t.match(await read(), {
    stages: [{ health: { treated: { devices: 2, seen: 2, silent: 0, versionKept: 50 }, control: { devices: 1 } } }],
  });
  await tenant.api.delete(`${tenant.path}/rollouts/${body.rolloutId}`);
  await pass(world, MINUTE);
  const raw = await world.raw();
  t.same(await raw.all('SELECT device_id FROM rollout_watch'), [], 'nobody is watched after its end');
});

t.test('a paused rollout takes other rules, and a rule that can never know enough is warned of', async (t) => {
  const { tenant, act } = await startRollouts(t, 3);
  const rule = { measure: 'silent', timesControl: 2, minimumDevices: 20 };
  const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, stages: [{ count: 1 }] };
  const { body } = await tenant.api.post(`${tenant.path}/rollouts`, { json: { ...json, health: [rule] } });
  const warned = body.warnings.filter(({ code }: { code: string }) => code === 'HEALTH_RULE_OUT_OF_REACH');
  t.match(warned, [{ message: /stops no stage/ }, { message: /pauses the rollout with HEALTH_UNKNOWN/ }]);
  const path = `${tenant.path}/rollouts/${body.rolloutId}`;
  t.equal((await act(body.rolloutId, 'pause')).status, 200);
  const other = { measure: 'silent', atMost: 20, minimumDevices: 1 };
  t.match(await tenant.api.patch(path, { json: { health: [other] } }), {
    status: 200,
    body: { rules: { health: [other] } },
  });
  t.match(await tenant.api.patch(path, { json: { health: [{ measure: 'silent', minimumDevices: 1 }] } }), {
    status: 400,
    body: { details: [{ loc: ['body', 'health', '0', 'atMost'] }] },
  });
  const { body: without } = await tenant.api.patch(path, { json: { health: null } });
  t.notOk('health' in without.rules);
});

t.test('a rule that cannot be meant is refused with its member', async (t) => {
  const { tenant } = await startRollouts(t, 1);
  const where = async (rule: object) => {
    const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, health: [rule] };
    const { status, body } = await tenant.api.post(`${tenant.path}/rollouts`, { json });
    t.equal(status, 400);
    return body.details.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(1).join('.')} ${type}`);
  };
  const silent = { measure: 'silent', minimumDevices: 1 };
  const alone = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, revert: 'automatic' };
  t.match(await tenant.api.post(`${tenant.path}/rollouts`, { json: alone }), {
    status: 400,
    body: { details: [{ loc: ['body', 'revert'], type: 'extra_forbidden' }] },
  });
  t.same(await where(silent), ['health.0.atMost missing']);
  t.same(await where({ ...silent, atMost: 1, timesControl: 2 }), ['health.0.timesControl extra_forbidden']);
  t.same(await where({ ...silent, atMost: 100 }), ['health.0.atMost less_than_equal']);
  t.same(await where({ ...silent, atMost: 1, types: ['custom.a'] }), ['health.0.types extra_forbidden']);
  t.same(await where({ measure: 'events', minimumDevices: 1, atMost: 1 }), ['health.0.types missing']);
  t.same(await where({ measure: 'batteryDrop', minimumDevices: 1, atMost: 1, within: 600 }), [
    'health.0.within extra_forbidden',
  ]);
});
