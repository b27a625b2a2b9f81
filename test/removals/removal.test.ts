import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { deviceIdOf, startWorld, transactionIdOf, WIFI } from '../world.ts';
import { columnsOf, createCustomer, ended, rowsWith } from './customer.ts';

/** The rows that remain of a customer: who changed what, also by device actions, and the removal itself. */
const STAYS = new Set([
  'audit_log',
  'audit_objects',
  'device_actions',
  'device_action_devices',
  'removals',
  'removal_counts',
]);
/** Columns by which a row belongs to a customer. */
const OWNERS = new Set(['developer_id', 'application_id', 'device_id', 'client_id', 'rollout_id', 'package']);

t.test('a developer is removed whole', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  const raw = await world.raw();
  const leaver = await createCustomer(t, world, 'leaver');
  const other = await createCustomer(t, world, 'other');
  const path = '/admin/v1/developers/leaver';
  const beforeOfOther = await rowsWith(world, raw, other.ids);
  let removalId = '';
  let contents: Record<string, unknown> = {};

  await t.test('every table that can have rows of a customer has some in this test', async (t) => {
    const owned = [...(await columnsOf(world, raw))]
      .filter(([table, columns]) => !STAYS.has(table) && columns.some((column) => OWNERS.has(column)))
      .map(([table]) => table);
    const found = await rowsWith(world, raw, leaver.ids);
    t.same(
      owned.filter((table) => !(table in found)),
      [],
    );
  });

  await t.test('what would be removed is counted before', async (t) => {
    const answer = await admin.get(`${path}/contents`);
    t.equal(answer.status, 200);
    const { auditEntries, ...counted } = answer.body;
    t.ok(auditEntries > 0);
    contents = counted;
    t.match(contents, {
      applications: 1,
      applicationsWithKey: 1,
      devices: 3,
      connected: 2,
      transactions: { unfinished: 3 },
      deliveries: { pending: 1 },
      rollouts: { unfinished: 3, ended: 1 },
      idempotencyKeys: 1,
      packages: 2,
      versions: 1,
      storedBytes: leaver.storedBytes,
    });
    t.match(await admin.get('/admin/v1/developers/nobody/contents'), { status: 404 });
  });

  await t.test('only with the identifier or the name, typed again', async (t) => {
    for (const confirmation of ['other', 'Leaver', 'leaver ', '*'])
      t.match(await admin.post(`${path}/removal`, { json: { confirmation } }), {
        status: 400,
        body: { details: [{ loc: ['body', 'confirmation'] }] },
      });
    t.match(await admin.post('/admin/v1/developers/nobody/removal', { json: { confirmation: 'nobody' } }), {
      status: 404,
    });
    t.equal((await leaver.api.get(leaver.path)).status, 200, 'nothing has happened');
  });

  await t.test('from its acceptance on nobody gets in, and no webhook is sent', async (t) => {
    const undo = await raw.breakWrites('DELETE ON devices');
    const sent = () => [leaver.receiver.requests.length, leaver.failing.requests.length];
    const before = sent();
    const answer = await admin.post(`${path}/removal`, { json: { confirmation: 'leaver' } });
    t.match(answer, {
      status: 202,
      body: { developerId: 'leaver', applicationId: null, state: 'running', endedAt: null },
    });
    removalId = answer.body.removalId;
    t.match(String(answer.headers['location']), `/admin/v1/removals/${removalId}`);
    t.match(await leaver.api.get(leaver.path), { status: 403, body: { message: 'application is not registered.' } });
    const basic = Buffer.from(`${leaver.applicationId}:${leaver.secret}`).toString('base64');
    t.equal(
      (
        await world.anonymous().post('/api/v1/authenticate', {
          headers: { authorization: `Basic ${basic}` },
          form: { grant_type: 'client_credentials', scope: 'svc:device:read' },
        })
      ).status,
      401,
    );
    world.clock.advance(3_000); // several nodes wait a moment
    await Promise.all([leaver.device.link.closed, leaver.idleLink.closed]);
    t.equal((await (await world.open(leaver.device)).login()).returnCode, 5, 'not authorized');
    const again = await admin.post(`${path}/removal`, { json: { confirmation: 'leaver' } });
    t.match(again, { status: 202, body: { removalId } }, 'another request is answered with the same removal');
    const small = await admin.post(`/admin/v1/applications/${leaver.applicationId}/removal`, {
      json: { confirmation: leaver.applicationId },
    });
    t.match(small, { status: 202, body: { removalId } }, 'the application leaves with its developer');
    const leaving = { status: 409, body: { message: 'developer is being removed.' } };
    t.match(await admin.patch(path, { json: { name: 'x' } }), leaving);
    t.match(await admin.delete(path), leaving);
    t.match(await admin.post(`${path}/applications`, { json: { name: 'x' } }), leaving);
    const deviceId = deviceIdOf(9_999);
    t.match(await admin.post(`${path}/devices`, { json: { deviceId } }), leaving);
    const imported = await admin.post(`${path}/devices/import`, {
      headers: { 'content-type': 'application/x-ndjson' },
      text: `${JSON.stringify({ deviceId })}\n`,
    });
    t.match(imported, { status: 200 });
    t.match(JSON.stringify(imported.body), 'developer is being removed.', 'each line of an import is refused');
    t.match(
      await admin.patch(`/admin/v1/devices/${other.idle.deviceId}`, { json: { developerId: 'leaver' } }),
      leaving,
    );
    t.match(await admin.post('/admin/v1/developers', { json: { developerId: 'leaver', name: 'x' } }), { status: 409 });
    t.match((await admin.get(path)).body, { removalId });
    t.match((await admin.get(`/admin/v1/removals/${removalId}`)).body, {
      state: 'running',
      step: 'devices',
      contents,
      removed: { connections: 2, devices: 0 },
    });
    t.match((await admin.get('/admin/v1/removals?state=running')).body.removals, [{ removalId }]);
    world.clock.advance(10 * 60_000); // pending deliveries would be tried again
    await world.idle();
    t.same(sent(), before);
    await undo();
  });

  await t.test('then no table holds a row of the customer, except the audit log and the removal', async (t) => {
    const body = await ended(world, removalId);
    t.match(body, { state: 'ended', step: null, endedAt: String });
    t.match(body.removed, {
      connections: 2,
      devices: 3,
      rollouts: 4,
      idempotencyKeys: 1,
      versions: 1,
      packages: 2,
      applications: 1,
      storedBytes: contents['storedBytes'],
    });
    const { transactions, deliveries } = contents as Record<string, Record<string, number>>;
    t.equal(body.removed.transactions, sumOf(transactions));
    t.ok(body.removed.deliveries >= sumOf(deliveries));
    world.clock.advance(11_000); // what is gathered in memory is stored
    await world.idle();
    const left = Object.keys(await rowsWith(world, raw, leaver.ids));
    t.same(
      left.filter((table) => !STAYS.has(table)),
      [],
    );
    t.same(left.sort(), ['audit_log', 'audit_objects', 'removals']);
  });

  await t.test('the rows of others stay as they are, and their devices work', async (t) => {
    const after = await rowsWith(world, raw, other.ids);
    for (const table of ['devices', 'transactions', 'versions', 'packages', 'rollouts', 'rollout_members', 'sessions'])
      t.equal(after[table], beforeOfOther[table], table);
    await other.renew();
    const answer = await other.api.put(`${other.device.path}/settings/wifi`, { json: WIFI });
    t.equal(answer.status, 201);
  });

  await t.test('the audit log tells who removed it, and what was removed', async (t) => {
    const { entries } = (await admin.get('/admin/v1/audit?about=developer:leaver')).body;
    t.match(entries[0], {
      actor: { kind: 'service' },
      action: 'REMOVE /developers/{developerId}',
      resource: path,
      requestId: removalId,
      details: { removed: { devices: 3 } },
    });
    const asked = entries.find(({ action }: { action: string }) => action.endsWith('/removal'));
    t.match(asked, { status: 202, details: { removalId, contents: { devices: 3 } } });
  });

  await t.test('a request for a developer who is gone is answered with the removal', async (t) => {
    t.match(await admin.post(`${path}/removal`, { json: { confirmation: 'leaver' } }), {
      status: 202,
      body: { removalId, state: 'ended' },
    });
    t.match(await admin.get(path), { status: 404 });
  });

  await t.test('the identifiers can be used again, and nothing of before comes back', async (t) => {
    const old = leaver.api;
    const again = await world.createTenant('leaver');
    t.match(await old.get(leaver.path), { status: 401 }, 'a token of before stays invalid');
    t.match((await admin.get(`${path}/contents`)).body, { devices: 0, transactions: { finished: 0, unfinished: 0 } });
    t.match(
      await admin.post(`${path}/devices`, {
        json: { deviceId: leaver.idle.deviceId, credential: leaver.idle.credential },
      }),
      { status: 201 },
    );
    const link = await world.open(leaver.idle);
    t.match(await link.login(), { returnCode: 0, sessionPresent: false });
    t.equal((await again.api.get(`${again.path}/packages`)).body.total, 0);
    const second = await admin.post(`${path}/removal`, { json: { confirmation: 'leaver' } });
    t.equal(second.status, 202);
    t.not(second.body.removalId, removalId, 'this one is removed by another removal');
    await ended(world, second.body.removalId);
    t.match((await admin.get('/admin/v1/removals?developerId=leaver&limit=1')).body.removals, [
      { removalId: second.body.removalId, state: 'ended', removed: { devices: 1 } },
    ]);
  });

  await t.test('its objects are gone, and one that is uploaded afterwards is removed two days later', async (t) => {
    const objects = (): number => readdirSync(join(world.dataDir, 'objects', 'objects')).length;
    t.equal(objects(), 1, 'that of the other developer');
    t.equal((await leaver.put()).status, 200, 'the URL is still valid');
    t.equal(objects(), 2);
    for (const hours of [26, 26]) {
      world.clock.advance(hours * 3_600_000);
      await world.idle();
      world.clock.advance(600_000);
      await world.idle();
    }
    t.equal(objects(), 1);
  });
});

t.test('an application is removed whole; its developer keeps devices and software', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  const raw = await world.raw();
  const customer = await createCustomer(t, world, 'firm');
  const { body: second } = await admin.post('/admin/v1/developers/firm/applications', {
    json: { applicationId: 'second', name: 'Second' },
  });
  const path = `/admin/v1/applications/${customer.applicationId}`;
  t.match((await admin.get(`${path}/contents`)).body, {
    applications: 1,
    devices: 2,
    connected: 1,
    packages: 0,
    versions: 0,
  });
  t.match(await admin.post(`${path}/removal`, { json: { confirmation: 'second' } }), { status: 400 });
  const { body: asked } = await admin.post(`${path}/removal`, { json: { confirmation: customer.applicationId } });
  t.match(await ended(world, asked.removalId), {
    state: 'ended',
    developerId: 'firm',
    applicationId: customer.applicationId,
    removed: { connections: 1, devices: 2, rollouts: 4, versions: 0, packages: 0, applications: 1 },
  });
  await customer.device.link.closed;
  world.clock.advance(11_000);
  await world.idle();
  const left = Object.keys(await rowsWith(world, raw, [customer.applicationId]));
  t.same(
    left.filter((table) => !STAYS.has(table)),
    [],
  );
  t.match((await admin.get(path)).status, 404);

  await t.test(
    'a device of it logs in again, without commands, and is activated for another application',
    async (t) => {
      t.match((await admin.get(`/admin/v1/devices/${customer.asleep.deviceId}`)).body, {
        activation: 'deactivated',
        applicationId: null,
      });
      const link = await world.connect(customer.asleep);
      await link.ack({ transactionId: customer.waiting, status: 'succeeded' });
      t.match(JSON.parse(String((await link.next('publish')).payload)), { transactionId: customer.waiting });
      const api = await world.clientOf('second', second.secret);
      await api.post('/v1/applications/second/refresh_authkey');
      await api.patch('/v1/applications/second', { json: { deviceEvent: customer.receiver.url } });
      const answer = await api.post(`/v1/applications/second/devices/${customer.asleep.deviceId}`, { json: {} });
      t.equal(answer.status, 201);
      const command = await link.command();
      t.match(command, { operation: 'activate', transactionId: transactionIdOf(answer) });
      t.equal((await api.get('/v1/applications/second/packages')).body.total, 2);
    },
  );

  await t.test('an application that was deleted before is removed with what it left', async (t) => {
    const made = await admin.post('/admin/v1/developers/firm/applications', {
      json: { applicationId: 'third', name: 'Third' },
    });
    t.equal(made.status, 201);
    t.equal((await admin.delete('/admin/v1/applications/third')).status, 204);
    t.match(
      await admin.post('/admin/v1/developers/firm/applications', { json: { applicationId: 'third', name: 'x' } }),
      {
        status: 409,
      },
    );
    const third = await admin.post('/admin/v1/applications/third/removal', { json: { confirmation: 'third' } });
    await ended(world, third.body.removalId);
    t.match(
      await admin.post('/admin/v1/developers/firm/applications', { json: { applicationId: 'third', name: 'x' } }),
      {
        status: 201,
      },
    );
  });

  await t.test('a device that was moved away keeps to its new developer; what it did before is removed', async (t) => {
    await admin.post('/admin/v1/developers', { json: { developerId: 'buyer', name: 'Buyer' } });
    const { deviceId } = customer.device;
    t.equal((await admin.patch(`/admin/v1/devices/${deviceId}`, { json: { developerId: 'buyer' } })).status, 200);
    const firm = await admin.post('/admin/v1/developers/firm/removal', { json: { confirmation: 'firm' } });
    await ended(world, firm.body.removalId);
    t.match((await admin.get(`/admin/v1/devices/${deviceId}`)).body, { developerId: 'buyer' });
    t.match(await admin.get('/admin/v1/developers/firm'), { status: 404 });
  });
});

const sumOf = (numbers: Record<string, number> = {}): number =>
  Object.values(numbers).reduce((sum, one) => sum + one, 0);
