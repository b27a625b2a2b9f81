import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { startActions } from './action-world.ts';

const HOLD = 'UPDATE ON device_action_devices';
const SECOND = 1_000;

t.test('what an action does not do', async (t) => {
  const actions = await startActions(t, 3, {
    env: { LAPEL_DEVICE_ACTION_LIMIT: '5', LAPEL_AUDIT_RETENTION_DAYS: '1' },
  });
  const { world, tenant, devices, run, post, base, admin, read, outcomes } = actions;
  const ids = devices.map(({ deviceId }) => deviceId);
  const [one = '', two = '', three = ''] = ids;
  const all = { applicationId: tenant.applicationId };
  const raw = await world.raw();
  const bound = async (name: string): Promise<number> => {
    const found = await world.service.metrics.registry.getSingleMetric('lapel_device_actions_refused_total')?.get();
    return found?.values.find(({ labels }) => labels['bound'] === name)?.value ?? 0;
  };
  const goOn = async (): Promise<void> => {
    world.clock.advance(SECOND);
    await world.idle();
  };

  await t.test('a filter that matches nothing ends at once', async (t) => {
    t.match(await run({ action: 'block', filter: { prefix: '9' } }), {
      state: 'completed',
      devices: 0,
      counts: { done: 0 },
    });
  });

  await t.test('what cannot be undone needs the number of devices, and is refused when more match', async (t) => {
    const filter = { prefix: '35' };
    const move = { action: 'move', filter } as const;
    t.match(await post({ action: 'cancel', filter }), {
      status: 400,
      body: { details: [{ loc: ['body', 'confirm'], type: 'missing' }] },
    });
    t.match(await post(move), { status: 400, body: { details: [{ loc: ['body', 'applicationId'] }] } });
    t.equal((await post({ ...move, applicationId: 'nobody' })).status, 404);
    t.match(await post({ action: 'tag', filter }), { status: 400, body: { details: [{ loc: ['body', 'tags'] }] } });
    t.match(await post({ action: 'block', filter: { tag: ['a=1', '!a'] } }), {
      status: 400,
      body: { details: [{ loc: ['body', 'filter', 'tag'] }] },
    });
    const action = await run({ action: 'delete', filter, force: true, confirm: 2 });
    t.match(action, { state: 'refused', reason: 'MORE_THAN_CONFIRMED', devices: 3, counts: { waiting: 3, done: 0 } });
    t.equal((await admin.get('/admin/v1/devices')).body.devices.length, 3);
  });

  await t.test('an action of too many devices changes none, and a metric counts it', async (t) => {
    for (let more = 0; more < 3; more += 1) await world.registerDevice();
    t.match(await run({ action: 'block', filter: {} }), { state: 'refused', reason: 'TOO_MANY_DEVICES' });
    t.equal((await admin.get('/admin/v1/devices?blocked=true')).body.devices.length, 0);
    t.equal(await bound('devices'), 1);
  });

  await t.test('the same request with the same key begins one action', async (t) => {
    const headers = { 'idempotency-key': 'tonight' };
    const body = { action: 'tag', filter: all, tags: { a: '1' } } as const;
    const first = await post(body, headers);
    t.match(await post(body, headers), { status: 201, body: { actionId: first.body.actionId } });
    t.match(await post({ ...body, tags: { a: '2' } }, headers), { status: 422 });
    await world.idle();
    t.match(await read(first.body.actionId), { state: 'completed', counts: { done: 3 } });
  });

  await t.test('what changes between the begin of an action and its turn is skipped, with the reason', async (t) => {
    const mend = await raw.breakWrites(HOLD);
    const { body } = await post({ action: 'tag', filter: { ...all, tag: ['a=1'] }, tags: { late: 'yes' } });
    const stopped = await post({ action: 'block', filter: all });
    await world.idle();
    t.match(await read(body.actionId), { state: 'running', devices: 3, counts: { waiting: 3 } });
    await tenant.api.patch(`${tenant.path}/devices/${one}/tags`, { json: { a: null } });
    t.equal((await admin.delete(`/admin/v1/devices/${two}?force=true`)).status, 204);
    t.equal((await admin.post(`${base}/${stopped.body.actionId}/stop`)).body.state, 'stopped');
    t.equal((await admin.post(`${base}/${stopped.body.actionId}/stop`)).status, 409, 'it can be stopped once');
    const joins = await world.activatedDevice(tenant);
    await tenant.api.patch(`${joins.path}/tags`, { json: { a: '1' } });
    await mend();
    await goOn();
    t.same(await outcomes(body.actionId), {
      [one]: 'skipped NO_LONGER_MATCHES',
      [two]: 'skipped DEVICE_NOT_FOUND',
      [three]: 'done',
    });
    t.match(await read(body.actionId), { state: 'completed', counts: { done: 1, skipped: 2, waiting: 0 } });
    t.match(await read(stopped.body.actionId), { reason: 'REQUESTED', counts: { waiting: 3, done: 0 } });
    t.equal((await admin.get('/admin/v1/devices?blocked=true')).body.devices.length, 0, 'a stop is final');
  });

  await t.test('two actions for the same devices both come to each of them', async (t) => {
    const begun = [
      await post({ action: 'tag', filter: all, tags: { x: '1' } }),
      await post({ action: 'block', filter: all }),
    ];
    await world.idle();
    for (const { body } of begun) t.match(await read(body.actionId), { state: 'completed', counts: { done: 3 } });
    await run({ action: 'unblock', filter: all });
  });

  await t.test('commands of a rollout are cancelled as by a single cancel', async (t) => {
    const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };
    const { rolloutId } = (await tenant.api.post(`${tenant.path}/rollouts`, { json })).body;
    await world.idle();
    t.match((await run({ action: 'cancel', filter: all, confirm: 3 })).counts, { done: 3 });
    const rollout = (await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body;
    t.match(rollout, { state: 'completed', counts: { cancelled: 3, unfinished: 0, waiting: 0 } });
  });

  const skip = world.databaseUrl !== null && 'its trigger is written for SQLite';
  await t.test('an error that nobody foresaw refuses its device and holds up no other', { skip }, async (t) => {
    await raw.exec(`CREATE TRIGGER odd BEFORE INSERT ON device_tags WHEN NEW.device_id = '${three}'
      BEGIN SELECT RAISE(ABORT, 'odd'); END`);
    const action = await run({ action: 'tag', filter: all, tags: { odd: '1' } });
    await raw.exec('DROP TRIGGER odd');
    t.match(action, { state: 'completed', counts: { done: 2, refused: 1 }, reasons: [{ code: 'INTERNAL' }] });
  });

  await t.test('devices whose number cannot be stored are found again later', async (t) => {
    const mend = await raw.breakWrites('INSERT ON device_action_counts');
    const { actionId } = (await post({ action: 'tag', filter: all, tags: { later: '1' } })).body;
    await world.idle();
    t.match(await read(actionId), { state: 'gathering', devices: 0 });
    await mend();
    await goOn();
    t.match(await read(actionId), { state: 'completed', devices: 3, counts: { done: 3, waiting: 0 } });
  });

  await t.test('ten actions are at work at most; they go on when they can', async (t) => {
    const mend = await raw.breakWrites('UPDATE ON device_actions');
    const begun: string[] = [];
    for (let more = 0; more < 10; more += 1) begun.push((await post({ action: 'block', filter: {} })).body.actionId);
    t.match(await post({ action: 'block', filter: {} }), {
      status: 409,
      headers: { 'lapel-error-code': 'TOO_MANY_DEVICE_ACTIONS' },
    });
    t.equal(await bound('at_work'), 1);
    await world.idle();
    await mend();
    await goOn();
    for (const actionId of begun) t.equal((await read(actionId)).state, 'refused');
    const page = await admin.get(`${base}?limit=4`);
    t.equal(page.body.actions.length, 4);
    const next = /after=(act_[0-9a-f]+)/.exec(String(page.headers['link']))?.[1];
    t.equal(next, page.body.actions[3].actionId, 'the list has pages');
  });

  await t.test('an action is removed with its devices when its days are over', async (t) => {
    world.clock.advance(3_600_000);
    await world.idle();
    const { values } = await world.service.metrics.retentionOldest.get();
    const age = values.find(({ labels }) => labels.kind === 'device_actions')?.value ?? 0;
    t.ok(age >= 3_600, 'a metric has the age of the oldest');
    world.clock.advance(24 * 3_600_000);
    await world.idle();
    world.clock.advance(600_000);
    await world.idle();
    for (const table of ['device_actions', 'device_action_devices', 'device_action_counts'])
      t.same(await raw.all(`SELECT * FROM ${table}`), [], table);
  });
});

t.test('after a restore, an action that was at work is stopped before it changes anything', async (t) => {
  const { world, devices } = await startActions(t, 2, { database: 'sqlite' });
  const stored = join(world.dataDir, 'lapel.db');
  const kept = join(world.dataDir, 'kept.db');
  const run = (file: string, script: string): void => {
    const database = new Sqlite(file);
    database.exec(script);
    database.close();
  };
  const hold = `CREATE TRIGGER held BEFORE ${HOLD} BEGIN SELECT RAISE(ABORT, 'held'); END`;
  await world.restart(() => run(stored, hold));
  const asked = { action: 'delete', filter: {}, force: true, confirm: 2 } as const;
  const { body } = await world.admin().post('/admin/v1/device-actions', { json: asked });
  await world.idle();
  await world.restart(() => {
    copyFileSync(stored, kept);
    run(kept, 'DROP TRIGGER held');
  });
  await world.restart(() => {
    for (const end of ['-wal', '-shm']) rmSync(`${stored}${end}`, { force: true });
    copyFileSync(kept, stored);
  });
  await world.idle();
  const path = `/admin/v1/device-actions/${body.actionId}`;
  t.match((await world.admin().get(path)).body, {
    state: 'stopped',
    reason: 'DATABASE_RESTORED',
    counts: { waiting: 2 },
  });
  for (const { deviceId } of devices) t.equal((await world.admin().get(`/admin/v1/devices/${deviceId}`)).status, 200);
});
