import t from 'tap';
import { transactionIdOf, WIFI } from '../world.ts';
import { startActions } from './action-world.ts';

type Device = Awaited<ReturnType<typeof startActions>>['devices'][number];

t.test('what a device action does to each device', async (t) => {
  const actions = await startActions(t, 3);
  const { world, tenant, run, outcomes, admin } = actions;
  const [one, two, three] = actions.devices as [Device, Device, Device];
  const spare = await world.registerDevice();
  const ofDev = { developerId: 'dev' };
  const tagsOf = async (path: string) => (await tenant.api.get(`${path}/tags`)).body;

  await t.test('it only counts, when asked to', async (t) => {
    const answer = await actions.post({ action: 'delete', filter: ofDev, dryRun: true });
    t.match(answer, { status: 200, body: { matching: 4, limit: 1_000_000 } });
    t.same((await admin.get(actions.base)).body.actions, []);
  });

  await t.test('tags are set and removed; a device that is not activated has none', async (t) => {
    await tenant.api.patch(`${two.path}/tags`, { json: { site: 'osaka' } });
    await tenant.api.patch(`${three.path}/tags`, { json: { wave: '1' } });
    const hostile = '"><script>\u202e\u001b[31m';
    const action = await run({ action: 'tag', filter: ofDev, tags: { site: null, wave: '1', odd: hostile } });
    t.match(action, {
      state: 'completed',
      reason: null,
      devices: 4,
      counts: { waiting: 0, done: 3, unchanged: 0, skipped: 0, refused: 1 },
      reasons: [{ state: 'refused', code: 'DEVICE_NOT_ACTIVATED', devices: 1 }],
      tags: { site: null },
    });
    t.same(await tagsOf(two.path), { odd: hostile, wave: '1' });
    t.same(await outcomes(action.actionId), {
      [one.deviceId]: 'done',
      [two.deviceId]: 'done',
      [three.deviceId]: 'done',
      [spare.deviceId]: 'refused DEVICE_NOT_ACTIVATED',
    });
    const again = await run({ action: 'tag', filter: { tag: ['wave=1'] }, tags: { wave: '1' } });
    t.match(again.counts, { done: 0, unchanged: 3 }, 'a device that has them already stays as it is');
  });

  await t.test(
    'a device that would have too many tags stays as it is, and the others do not wait for it',
    async (t) => {
      const many = Object.fromEntries(Array.from({ length: 29 }, (_, index) => [`k${index}`, 'x']));
      await tenant.api.patch(`${one.path}/tags`, { json: many });
      const action = await run({
        action: 'tag',
        filter: { applicationId: tenant.applicationId },
        tags: { a: '1', b: '1' },
      });
      t.match(action.counts, { done: 2, refused: 1 });
      t.match(action.reasons, [{ code: 'TOO_MANY_TAGS', devices: 1 }]);
      t.same(await outcomes(action.actionId, 'state=refused&code=TOO_MANY_TAGS'), {
        [one.deviceId]: 'refused TOO_MANY_TAGS',
      });
    },
  );

  await t.test('blocked devices are disconnected, refused, found by the list, and let in again', async (t) => {
    await run({ action: 'block', filter: { connected: true } });
    await Promise.all([one, two, three].map(({ link }) => link.closed));
    t.equal((await (await world.open(two)).login()).returnCode, 5);
    const { body } = await admin.get('/admin/v1/devices?blocked=true');
    t.equal(body.devices.length, 3);
    t.equal((await admin.get('/admin/v1/devices?blocked=false')).body.devices.length, 1);
    const action = await run({ action: 'unblock', filter: { blocked: true } });
    t.match(action, { counts: { done: 3 }, filter: { blocked: true } });
    for (const device of [one, two, three]) device.link = await world.connect(device);
  });

  await t.test('unfinished commands are cancelled, and the application is told of each', async (t) => {
    const first = transactionIdOf(await tenant.api.put(`${one.path}/settings/wifi`, { json: WIFI }));
    const second = transactionIdOf(await tenant.api.put(`${two.path}/settings/wifi`, { json: WIFI }));
    for (const { link } of [one, two]) link.puback((await link.command()).packet);
    const action = await run({ action: 'cancel', filter: { applicationId: tenant.applicationId }, confirm: 3 });
    for (const { link } of [one, two]) {
      const command = await link.command();
      t.equal(command.operation, 'cancel', 'a device that has the command is told of the cancel');
      link.puback(command.packet);
    }
    t.match(action.counts, { done: 2, unchanged: 1 });
    const told = [await tenant.event(), await tenant.event()];
    t.same(
      told.map(({ type }) => type),
      ['transaction.cancelled', 'transaction.cancelled'],
    );
    t.same(new Set(told.map(({ data }) => data.transaction['transactionId'])), new Set([first, second]));
  });

  await t.test('moved devices are activated for another application, at whose end they answer', async (t) => {
    const made = await admin.post('/admin/v1/developers/dev/applications', {
      json: { applicationId: 'next-app', name: 'n' },
    });
    const move = { action: 'move', filter: { prefix: one.deviceId }, applicationId: 'next-app', confirm: 1 } as const;
    t.match(
      await actions.post(move),
      {
        status: 400,
        body: { details: [{ loc: ['body', 'applicationId'] }] },
      },
      'not to one that cannot have commands',
    );
    const api = await world.clientOf('next-app', made.body.secret);
    await api.post('/v1/applications/next-app/refresh_authkey');
    await api.patch('/v1/applications/next-app', { json: { deviceEvent: tenant.receiver.url } });
    const waits = transactionIdOf(await tenant.api.put(`${one.path}/settings/wifi`, { json: WIFI }));
    const former = await one.link.command();
    t.equal(former.transactionId, waits);
    one.link.puback(former.packet);
    await admin.patch('/admin/v1/developers/dev', { json: { deviceLimit: 2 } });
    t.match(
      (await run(move)).reasons,
      [{ state: 'refused', code: 'ACTIVATION_LIMIT' }],
      'no more than the contract has',
    );
    await tenant.api.post(`${one.path}/notes`, { json: { text: 'of the former one' } });
    const stays = { activation: 'activated', applicationId: tenant.applicationId };
    t.match((await admin.get(`/admin/v1/devices/${one.deviceId}`)).body, stays, 'it stays as it was');
    await admin.patch('/admin/v1/developers/dev', { json: { deviceLimit: 3 } });
    t.match((await run(move)).counts, { done: 1 }, 'its own place in the contract is free for it');
    const events = [await tenant.event(), await tenant.event()].map(
      ({ type, data }) => `${type} ${String(data.transaction['operation'])}`,
    );
    t.same(events.sort(), ['transaction.cancelled setWifi', 'transaction.succeeded deactivate']);
    const cancel = await one.link.command();
    t.match(cancel, { operation: 'cancel', transactionId: waits });
    one.link.puback(cancel.packet);
    const command = await one.link.command();
    t.match(command, { operation: 'activate', parameters: { applicationId: 'next-app' } });
    one.link.puback(command.packet);
    await one.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    t.match(await tenant.event(), { type: 'transaction.succeeded', data: { applicationId: 'next-app' } });
    const { body } = await api.get(`/v1/applications/next-app/devices/${one.deviceId}/notes`);
    t.same(body, { notes: [] }, 'it sees none of the notes of the former application');
    t.match((await admin.get(`/admin/v1/devices/${one.deviceId}`)).body, {
      activation: 'activated',
      applicationId: 'next-app',
    });
    t.match((await run(move)).counts, { unchanged: 1 });

    const stranger = await world.createTenant('stranger');
    const refused = await run({ ...move, applicationId: stranger.applicationId });
    t.match(
      refused.reasons,
      [{ state: 'refused', code: 'DEVICE_UNAVAILABLE', devices: 1 }],
      'not to another developer',
    );
    t.match(
      (await admin.get(`/admin/v1/devices/${one.deviceId}`)).body,
      { applicationId: 'next-app' },
      'it stays as it was',
    );
  });

  await t.test('deletion spares activated devices unless forced, and says what became of each device', async (t) => {
    const spared = await run({ action: 'delete', filter: ofDev, confirm: 4 });
    t.match(spared, { counts: { done: 1, refused: 3 }, reasons: [{ code: 'DEVICE_IN_USE', devices: 3 }] });
    const filter = { applicationId: tenant.applicationId };
    const forced = await run({ action: 'delete', filter, force: true, confirm: 2 });
    t.match(forced, { counts: { done: 2 }, force: true });
    t.equal((await admin.get(`/admin/v1/devices/${two.deviceId}`)).status, 404);
    t.same(await outcomes(forced.actionId), { [two.deviceId]: 'done', [three.deviceId]: 'done' });
    const events = [await tenant.event(), await tenant.event()];
    t.same(
      events.map(({ data }) => data.transaction['operation']),
      ['deactivate', 'deactivate'],
    );
    const counted = 'SELECT activated FROM activated_counts WHERE application_id = ?';
    t.same(await (await world.raw()).all(counted, tenant.applicationId), [{ activated: 0 }]);
  });

  await t.test(
    'the story of a device has the actions, and the audit log has one entry for each with its counts',
    async (t) => {
      const { body } = await admin.get(`/admin/v1/devices/${one.deviceId}/story`);
      const told = body.entries
        .filter(({ kind }: { kind: string }) => kind === 'action')
        .map(({ action }: { action: { action: string; state: string } }) => `${action.action} ${action.state}`);
      t.same(told, [
        'delete refused',
        'move refused',
        'move unchanged',
        'move done',
        'move refused',
        'cancel done',
        'unblock done',
        'block done',
        'tag refused',
        'tag unchanged',
        'tag done',
      ]);
      const own = (await admin.get(`/admin/v1/audit?about=application:${tenant.applicationId}`)).body.entries;
      t.match(own[0], { action: 'DEVICE-ACTION completed' }, 'the history of the application has it, too');
      const audit = (await admin.get('/admin/v1/audit?resource=device-actions&limit=100')).body.entries;
      t.match(audit[0], {
        action: 'DEVICE-ACTION completed',
        details: { action: 'delete', devices: 2, counts: { done: 2 } },
      });
      t.match(audit[1], {
        action: 'POST /admin/v1/device-actions',
        details: { action: 'delete', filter: { applicationId: tenant.applicationId }, force: true, confirm: 2 },
      });
    },
  );
});
