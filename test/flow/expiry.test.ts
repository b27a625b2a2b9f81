import t, { type Test } from 'tap';
import { onBoth } from '../database/kinds.ts';
import type { DatabaseKind } from '../postgres/databases.ts';
import type { RawDevice } from '../raw-device.ts';
import { startWorld, type Tenant, transactionIdOf, WIFI, type World } from '../world.ts';

const SECOND = 1000;

async function setUp(world: World, name: string) {
  const tenant = await world.createTenant(name);
  const device = await world.activatedDevice(tenant);
  const put = async (query = ''): Promise<number> => {
    const answer = await tenant.api.put(`${device.path}/settings/wifi${query}`, { json: WIFI });
    if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return transactionIdOf(answer);
  };
  const read = async (id: number) => (await tenant.api.get(`${device.path}/transactions/${id}`)).body;
  /** Takes the next command, sends its PUBACK, and waits until that is stored. */
  const take = async (link: RawDevice = device.link) => {
    const command = await link.command();
    link.puback(command.packet);
    link.publish('status', {});
    await link.next('puback');
    await world.idle();
    return command;
  };
  /** Moves the clock, and waits until all that became due is done. */
  const pass = async (seconds: number): Promise<void> => {
    await world.idle(); // otherwise an attempt of a webhook in progress would time out
    world.clock.advance(seconds * SECOND);
    await world.idle();
  };
  return { tenant, ...device, put, read, take, pass };
}

/** The types and error codes of all webhooks of a transaction so far. */
async function endsOf(world: World, tenant: Tenant, transactionId: number): Promise<string[]> {
  await world.idle();
  return tenant.receiver.requests
    .map(({ body }) => JSON.parse(body.toString()))
    .filter(({ data }) => data.transaction.transactionId === transactionId)
    .map(({ type, data }) => [type, data.transaction.error?.code].filter(Boolean).join(' '));
}

const metricOf = async (world: World, name: 'lateResults' | 'transactionsEndedEarly', code: string) =>
  (await world.service.metrics[name].get()).values.find(({ labels }) => labels.code === code)?.value ?? 0;

async function tests(t: Test, database: DatabaseKind): Promise<void> {
  const world = await startWorld(t, { database });

  await t.test('a command that is not delivered in time ends as failed with EXPIRED, and is never sent', async (t) => {
    const { tenant, link, put, read, take, pass, ...device } = await setUp(world, 'absent');
    await link.drop();
    const id = await put('?expireIn=60');
    t.match(await read(id), { status: 'queued', expiresAt: '2026-11-20T18:31:00.123456' });
    await pass(59);
    t.match(await read(id), { status: 'queued' });
    await pass(1);
    const ended = await read(id);
    t.match(ended, { status: 'failed', attempts: 0, error: { code: 'EXPIRED' }, completedAt: /^2026/ });
    t.notOk('late' in ended);
    t.match((await tenant.event()).data.transaction, { status: 'failed', error: { code: 'EXPIRED' }, expiresAt: /Z$/ });
    const after = await put();
    const again = await world.connect(device);
    t.match(await take(again), { transactionId: after, operation: 'setWifi' });
    t.equal(again.pending('publish').length, 0);
    t.same(await endsOf(world, tenant, id), ['transaction.failed EXPIRED']);
    t.equal(await metricOf(world, 'transactionsEndedEarly', 'EXPIRED'), 1);
  });

  await t.test('a command that was published without a PUBACK expires, and the device gets a cancel', async (t) => {
    const { tenant, link, put, read, pass, ...device } = await setUp(world, 'silent');
    const id = await put('?expireIn=60');
    const command = await link.command();
    await pass(60);
    t.match(await link.command(), {
      transactionId: id,
      operation: 'cancel',
      issuedAt: command.issuedAt,
      parameters: {},
    });
    await link.drop();
    const again = await world.connect(device);
    t.match(await again.command(), { transactionId: id, operation: 'cancel' }, 'until its PUBACK');
    t.match(await read(id), { status: 'failed', error: { code: 'EXPIRED' }, deliveredAt: null });
    t.same(await endsOf(world, tenant, id), ['transaction.failed EXPIRED']);
  });

  await t.test('a PUBACK that is known in memory only counts as a delivery', async (t) => {
    const { link, put, read, ...device } = await setUp(world, 'moment');
    const id = await put('?expireIn=60');
    const command = await link.command();
    world.clock.advance(60 * SECOND - 1);
    link.puback(command.packet);
    link.publish('status', {});
    await link.next('puback');
    world.clock.advance(1);
    await world.idle();
    t.match(await read(id), { status: 'delivered' });
    await device.pass(600);
    t.match(await read(id), { status: 'delivered' }, 'without answerWithin it has all the time');
  });

  await t.test('a delivered command without an answer in time ends with NO_ANSWER', async (t) => {
    const { tenant, link, put, read, take, pass } = await setUp(world, 'mute');
    const id = await put('?expireIn=120&answerWithin=60');
    await take();
    t.match(await read(id), { status: 'delivered', answerWithin: 60, answerBy: /^2026/ });
    await pass(50);
    await link.ack({ transactionId: id, status: 'processing', progress: 50 });
    await pass(9);
    t.match(await read(id), { status: 'processing' });
    await pass(1);
    t.match(await read(id), { status: 'failed', progress: 50, error: { code: 'NO_ANSWER' } });
    t.match(await link.command(), { transactionId: id, operation: 'cancel' });
    t.same(await endsOf(world, tenant, id), ['transaction.failed NO_ANSWER']);
  });

  await t.test('a first report of progress counts as the delivery', async (t) => {
    const { link, put, read, pass } = await setUp(world, 'reports');
    const id = await put('?expireIn=60&answerWithin=120');
    await link.command();
    await link.ack({ transactionId: id, status: 'processing' });
    await pass(119);
    t.match(await read(id), { status: 'processing' });
    await pass(1);
    t.match(await read(id), { status: 'failed', error: { code: 'NO_ANSWER' } });
  });

  await t.test('a result in time ends the transaction as usual', async (t) => {
    const { tenant, link, put, read, take, pass } = await setUp(world, 'intime');
    const id = await put('?expireIn=60&answerWithin=60');
    await take();
    await link.ack({ transactionId: id, status: 'succeeded' });
    await pass(600);
    t.match(await read(id), { status: 'succeeded', error: null });
    await link.ack({ transactionId: id, status: 'failed' });
    t.notOk('late' in (await read(id)), 'a repeated answer is no late result');
    t.same(await endsOf(world, tenant, id), ['transaction.succeeded']);
  });

  await t.test('a result that comes too late changes nothing, and is kept', async (t) => {
    const { tenant, link, put, read, take, pass } = await setUp(world, 'late');
    const id = await put('?answerWithin=60');
    await take();
    await pass(60);
    await take();
    const before = await read(id);
    await pass(5);
    await link.ack({ transactionId: id, status: 'processing', progress: 9 });
    t.same(await read(id), before, 'a report of progress is no result');
    await link.ack({ transactionId: id, status: 'succeeded', result: { joined: 'office' } });
    await link.ack({ transactionId: id, status: 'failed', error: { code: 'INTERNAL', message: 'no' } });
    const after = await read(id);
    t.match(after.late, { status: 'succeeded', at: /^2026-11-20T/, result: { joined: 'office' } }, 'the first one');
    t.same({ ...after, late: undefined }, { ...before, late: undefined });
    t.match((await tenant.api.get(`${tenant.path}/transactions/${id}`)).body, {
      late: { status: 'succeeded', at: /Z$/ },
    });
    t.equal(await metricOf(world, 'lateResults', 'NO_ANSWER'), 1);
    t.same(await endsOf(world, tenant, id), ['transaction.failed NO_ANSWER']);
  });

  await t.test('a late failure is kept with its error', async (t) => {
    const { link, put, read, take, pass } = await setUp(world, 'latefail');
    const id = await put('?answerWithin=60');
    await take();
    await pass(60);
    await link.ack({ transactionId: id, status: 'failed', error: { code: 'STORAGE_FULL', message: 'no room' } });
    t.match((await read(id)).late, { status: 'failed', error: { code: 'STORAGE_FULL', message: 'no room' } });
  });

  await t.test('an error of a device that says EXPIRED takes no late result', async (t) => {
    const { link, put, read, take } = await setUp(world, 'mimic');
    const id = await put('?answerWithin=60');
    await take();
    for (let round = 0; round < 2; round += 1)
      await link.ack({ transactionId: id, status: 'failed', error: { code: 'EXPIRED', message: 'mine' } });
    t.notOk('late' in (await read(id)));
  });

  await t.test('an activation that expires frees the device', async (t) => {
    const tenant = await world.createTenant('activation');
    const { deviceId } = await world.registerDevice('activation');
    const path = `${tenant.path}/devices/${deviceId}`;
    const id = transactionIdOf(await tenant.api.post(`${path}?expireIn=60`, { json: { clientId: 'mine' } }));
    world.clock.advance(60 * SECOND);
    await world.idle();
    t.match((await tenant.api.get(path)).body, { status: 'deactivated' });
    t.same(await endsOf(world, tenant, id), ['transaction.failed EXPIRED']);
    t.equal((await tenant.api.post(path, { json: { clientId: 'mine' } })).status, 201);
  });

  await t.test('a command whose time has passed is not published, even before the service has ended it', async (t) => {
    const { link, put, read, take, pass, ...device } = await setUp(world, 'passed');
    await link.drop();
    const id = await put('?expireIn=60');
    // The timer of the service does not know this time, so the command stays queued until its own.
    await (await world.raw()).exec(`UPDATE transactions SET ends_at = 1 WHERE transaction_id = ${id}`);
    const after = await put();
    const again = await world.connect(device);
    t.match(await take(again), { transactionId: after });
    t.match(await read(id), { status: 'queued', attempts: 0 });
    await pass(60);
    t.match(await read(id), { status: 'failed', error: { code: 'EXPIRED' } });
  });

  await t.test('a deactivation or a removal of the device ends a transaction before its time, once', async (t) => {
    const { tenant, link, put, path, pass, deviceId } = await setUp(world, 'gone');
    const first = await put('?expireIn=60');
    await link.command();
    const deactivation = transactionIdOf(await tenant.api.delete(path));
    await link.ack({ transactionId: deactivation, status: 'succeeded' });
    t.equal((await tenant.api.post(path, { json: {} })).status, 201);
    await world.idle();
    const removed = await world.admin().delete(`/admin/v1/devices/${deviceId}?force=true`);
    t.equal(removed.status, 204);
    await pass(60);
    t.same(await endsOf(world, tenant, first), ['transaction.cancelled']);
  });

  await t.test('a command does not wait for the many that have expired before it', async (t) => {
    const many = await setUp(world, 'many');
    const one = await setUp(world, 'one');
    for (const { link } of [many, one]) await link.drop();
    const first = await many.put('?expireIn=60');
    const copied =
      'device_id, application_id, operation, status, due, attempts, created_at, updated_at, expires_at, ends_at';
    const database = await world.raw();
    await database.exec(
      `INSERT INTO transactions (${copied})
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 700)
       SELECT ${copied} FROM transactions CROSS JOIN numbers WHERE transaction_id = ${first}`,
    );
    const last = await one.put('?expireIn=61');
    const before: number[] = [];
    const counted = many.tenant.receiver.requests.length;
    const told = one.tenant.receiver.next().then(() => before.push(many.tenant.receiver.requests.length - counted));
    await one.pass(61);
    await told;
    t.match(await one.read(last), { status: 'failed', error: { code: 'EXPIRED' } });
    t.equal(many.tenant.receiver.requests.length - counted, 701);
    t.ok(before[0]! < 600, `${before[0]} of 701 webhooks came before`);
  });

  await t.test('what expires while the service is stopped ends at its start, and is not published', async (t) => {
    const { tenant, link, put, path } = await setUp(world, 'restart');
    await link.drop();
    const gone = await put('?expireIn=60');
    const kept = await put('?expireIn=180');
    await world.restart(() => world.clock.advance(60 * SECOND));
    await world.idle();
    await tenant.renew();
    const read = async (id: number) => (await tenant.api.get(`${path}/transactions/${id}`)).body;
    t.match(await read(gone), { status: 'failed', error: { code: 'EXPIRED' } });
    t.match(await read(kept), { status: 'queued' });
    world.clock.advance(120 * SECOND);
    await world.idle();
    t.match(await read(kept), { status: 'failed', error: { code: 'EXPIRED' } });
    t.same(await endsOf(world, tenant, gone), ['transaction.failed EXPIRED']);
  });

  await t.test(
    'with a subscription of QoS 0 only an acknowledgement delivers a command, so it expires unread',
    async (t) => {
      const { tenant, link, put, read, pass, ...device } = await setUp(world, 'deaf');
      t.same(await link.subscribe({ topic: `devices/${device.deviceId}/commands`, qos: 0 }), [0]);
      const answered = await put('?expireIn=60');
      t.match(await link.command(), { transactionId: answered, packet: { qos: 0 } });
      const unread = await put('?expireIn=60');
      await link.command();
      await world.idle();
      t.match(await read(unread), { status: 'queued', deliveredAt: null, attempts: 1 });
      await link.ack({ transactionId: answered, status: 'processing' });
      await pass(60);
      t.match(await read(unread), { status: 'failed', error: { code: 'EXPIRED' } });
      t.match(await read(answered), { status: 'processing' });
      await link.drop();
      const again = await world.connect(device);
      t.match(await again.command(), { transactionId: answered, attempt: 2 });
      t.match(await again.command(), { transactionId: unread, operation: 'cancel' });
      t.same(await endsOf(world, tenant, unread), ['transaction.failed EXPIRED']);
      await again.ack({ transactionId: answered, status: 'succeeded' });
      t.match((await tenant.event()).data.transaction, { transactionId: unread });
      t.match((await tenant.event()).data.transaction, { transactionId: answered, status: 'succeeded' });
    },
  );
}

onBoth(t, tests);
