import t from 'tap';
import { open } from '../console/feed-client.ts';
import { createPerson } from '../people/people-world.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const MINUTE = 60_000;

t.test('reads of secrets and payloads are in the audit log', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const olu = await createPerson(world, { personId: 'olu', role: 'operator' });
  const sam = await createPerson(world, { personId: 'sam', role: 'support' });
  const client = world.anonymousAdmin();
  const file = await world.raw();
  const reads = () =>
    file.all<{ action: string; resource: string; person_id: string | null; status: number; position: number }>(
      `SELECT action, resource, person_id, status, position FROM audit_log WHERE action LIKE 'GET %' ORDER BY audit_id`,
    );
  const path = `/admin/v1/transactions/${transactionId}`;
  const deliveryId = (await world.admin().get('/admin/v1/deliveries')).body.deliveries[0].deliveryId;
  const delivery = `/admin/v1/applications/${tenant.applicationId}/deliveries/${deliveryId}`;

  await t.test('the first of a person, of an object, within a minute', async (t) => {
    for (let each = 0; each < 3; each += 1) {
      t.equal((await client.get(path, { token: olu.token })).status, 200);
      t.equal((await client.get(delivery, { token: olu.token })).status, 200);
    }
    t.equal((await client.get(path, { token: sam.token })).status, 200, 'support sees no payload');
    t.match(await reads(), [
      { action: 'GET /admin/v1/transactions/{transactionId}', resource: path, person_id: 'olu', status: 200 },
      { resource: delivery, person_id: 'olu', status: 200 },
    ]);
    t.equal((await reads()).length, 2);
    const { entries } = (await world.admin().get(`/admin/v1/audit?about=device:${device.deviceId}&limit=1`)).body;
    t.match(entries, [{ resource: path, actor: { personId: 'olu' } }], 'the history of the device has it');
    world.clock.advance(MINUTE);
    await client.get(path, { token: olu.token });
    t.equal((await reads()).length, 3);
    t.ok(
      (await reads()).every(({ position }) => position > 0),
      'the entries are sealed',
    );
  });

  await t.test('a read that fails does not hide the next one', async (t) => {
    const rea = await createPerson(world, { personId: 'rea', role: 'operator' });
    t.equal((await client.get(`${path}?unknown=1`, { token: rea.token })).status, 400);
    t.equal((await client.get(path, { token: rea.token })).status, 200);
    t.match(
      (await reads()).filter(({ person_id }) => person_id === 'rea'),
      [{ status: 400 }, { status: 200 }],
    );
  });

  await t.test('messages of a device, when somebody begins to see them', async (t) => {
    const before = (await reads()).length;
    const topics = `device:${device.deviceId}`;
    for (const token of [olu.token, olu.token, sam.token]) {
      const feed = await open(t, `${world.service.addresses.admin}/admin/v1/feed?topics=${topics}`, {
        authorization: `Bearer ${token}`,
      });
      await feed.next('snapshot');
      feed.stop();
    }
    const made = (await reads()).slice(before);
    t.match(made, [{ action: 'GET /admin/v1/feed', person_id: 'olu', status: 200 }]);
    t.equal(made.length, 1);
  });

  await t.test('the key of an application, once an hour, which it sees itself', async (t) => {
    for (let each = 0; each < 3; each += 1) {
      t.ok((await tenant.api.get(tenant.path)).body.authenticationKey);
      world.clock.advance(10 * MINUTE);
    }
    const { entries } = (await tenant.api.get(`${tenant.path}/audit`)).body as { entries: { action: string }[] };
    const own = entries.filter(({ action }) => action.startsWith('GET '));
    t.match(own, [
      { action: 'GET /v1/applications/{applicationId}', by: 'application', status: 200 },
      { action: /deliveries/, by: 'administration' },
    ]);
    const keyless = await world.createTenant('keyless', { key: false });
    await keyless.api.get(keyless.path);
    const none = (await keyless.api.get(`${keyless.path}/audit`)).body as { entries: { action: string }[] };
    t.notOk(
      none.entries.some(({ action }) => action.startsWith('GET ')),
      'without a key nothing is shown',
    );
  });
});
