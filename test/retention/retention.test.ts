import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const DAY = 86_400_000;
const SWEEP = 600_000;

const DAYS = { LAPEL_RETENTION_DAYS: '3', LAPEL_DELIVERY_RETENTION_DAYS: '1' };

async function setUp(t: Test, env: Record<string, string> = DAYS, makesPauses = false) {
  const lines: Record<string, unknown>[] = [];
  const destination = new PassThrough().on('data', (line: Buffer) => lines.push(JSON.parse(line.toString())));
  const log = createLog({ level: 'info', destination });
  const world = await startWorld(t, { env, log, makesPauses });
  const file = await world.raw();
  const ids = async (table: string, column: string): Promise<unknown[]> =>
    (await file.all<{ id: unknown }>(`SELECT ${column} AS id FROM ${table} ORDER BY 1`)).map(({ id }) => id);
  /** Moves the time, and waits for the sweep. */
  async function pass(days: number): Promise<void> {
    world.clock.leap(days * DAY);
    await world.idle();
    world.clock.advance(SWEEP);
    await world.idle();
  }
  const metric = async (name: string, labels: Record<string, string>): Promise<number | undefined> => {
    const found = await world.service.metrics.registry.getSingleMetric(`lapel_${name}`)?.get();
    return found?.values.find(({ labels: own }) => Object.entries(labels).every(([key, value]) => own[key] === value))
      ?.value;
  };
  return { world, file, ids, pass, metric, lines };
}

// Each test mostly waits for its own service.
t.jobs = 3;

t.test(
  'finished rows are removed when their days are over; unfinished and pending ones stay',
  { buffered: true },
  async (t) => {
    const { world, ids, pass, metric, lines } = await setUp(t);
    const lastSweep = (kind: string) => metric('retention_last_sweep_timestamp_seconds', { kind });
    t.equal(await lastSweep('transactions'), world.clock.now() / 1_000_000, 'a first sweep that never comes is missed');
    await pass(0);
    t.equal(await lastSweep('transactions'), world.clock.now() / 1_000_000, 'one without a transaction ends, too');
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant); // transaction 1
    const put = async () => transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    const read = async (id: number) => (await tenant.api.get(`${device.path}/transactions/${id}`)).status;
    const done = await put();
    await device.link.ack({ transactionId: (await device.link.command()).transactionId, status: 'succeeded' });
    await tenant.event();
    const unfinished = await put();
    await device.link.command();
    const cancelled = await put();
    await device.link.command();
    await device.link.drop();
    await tenant.api.delete(`${device.path}/transactions/${cancelled}`);
    await tenant.event();
    const telling = await put(); // never published: its cancel ends it at once
    tenant.receiver.answer({ status: 500 });
    await tenant.api.delete(`${device.path}/transactions/${telling}`);
    await tenant.event();
    await world.idle();
    const deliveries = `${tenant.path}/webhooks/deliveries`;
    t.equal((await tenant.api.get(deliveries)).body.total, 4);

    await pass(0.9);
    await tenant.renew();
    t.equal((await tenant.api.get(deliveries)).body.total, 4);
    await pass(0.2);
    await tenant.renew();
    const left = (await tenant.api.get(deliveries)).body;
    t.match(left, { total: 1, deliveries: [{ status: 'pending' }] }, 'of the deliveries the pending one stays');
    t.same(await ids('transactions', 'transaction_id'), [1, done, unfinished, cancelled, telling]);
    t.equal(await metric('retention_removed_total', { kind: 'deliveries' }), 3);

    await pass(2);
    await tenant.renew();
    t.same(await ids('transactions', 'transaction_id'), [unfinished, cancelled, telling]);
    t.same([await read(done), await read(unfinished)], [404, 200]);
    t.match((await tenant.api.get(`${device.path}/transactions`)).body, { total: 3 });
    t.equal(await metric('retention_removed_total', { kind: 'transactions' }), 2);
    t.ok(((await metric('retention_oldest_seconds', { kind: 'transactions' })) ?? 0) > 3 * 86_400);
    t.equal(await metric('retention_behind_seconds', { kind: 'transactions' }), 0);
    const swept = await Promise.all(['transactions', 'objects'].map((kind) => lastSweep(kind)));
    world.clock.advance(SWEEP);
    await world.idle();
    const again = await Promise.all(['transactions', 'objects'].map((kind) => lastSweep(kind)));
    t.ok(again[0]! > swept[0]! && again[1]! > swept[1]!, 'also for objects, which are not due each time');
    t.same(
      lines.filter(({ msg }) => msg === 'expired data was removed').map(({ removed }) => removed),
      [{ deliveries: 3 }, { deliveries: 1, transactions: 2 }], // that of a failing receiver is only in the stream
      'a line for each sweep that removed something',
    );

    // The device comes back and gets its cancels; then these rows are removed as well.
    tenant.receiver.answer({ status: 200 });
    const link = await world.connect(device);
    t.match(await link.command(), { transactionId: unfinished, operation: 'setWifi' });
    const { packet } = await link.command();
    link.puback(packet);
    await link.ack({ transactionId: unfinished, status: 'succeeded' });
    world.clock.advance(DAY); // the refused webhook is sent again
    await world.idle();
    await pass(3.1);
    t.same(await ids('transactions', 'transaction_id'), []);
    await pass(1.1);
    t.same(await ids('deliveries', 'status'), []);
  },
);

t.test('rows stay for a hundredth of their time longer, so that a sweep finds many', { buffered: true }, async (t) => {
  const { world, ids, pass } = await setUp(t);
  await world.activatedDevice(await world.createTenant());
  const days = Number(DAYS.LAPEL_RETENTION_DAYS);
  await pass(days - 0.5); // a look that finds nothing
  await pass(0.5 + 0.5 * (days / 100));
  t.equal((await ids('transactions', 'transaction_id')).length, 1, 'it is too old by half of that, and stays');
  await pass(0.6 * (days / 100));
  t.equal((await ids('transactions', 'transaction_id')).length, 0);
});

t.test('0 days keep everything', { buffered: true }, async (t) => {
  const { world, ids, pass } = await setUp(t, { LAPEL_RETENTION_DAYS: '0', LAPEL_DELIVERY_RETENTION_DAYS: '0' });
  await world.activatedDevice(await world.createTenant());
  await pass(5);
  t.same(await ids('transactions', 'status'), ['succeeded']);
  t.same(await ids('deliveries', 'status'), ['delivered']);
});

t.test('old events and Idempotency-Keys are forgotten', { buffered: true }, async (t) => {
  const { world, file, ids, pass, metric } = await setUp(t);
  const now = world.clock.now();
  const event = 'INSERT INTO device_events (device_id, event_id, received_at) VALUES (?, ?, ?)';
  await file.exec('BEGIN');
  for (let device = 0; device < 600; device += 1) await file.all(event, `d${1000 + device}`, 'e', now);
  await file.all(event, 'd1003', 'later', now + 20 * DAY * 1000);
  const key = `INSERT INTO idempotency_keys VALUES ('a', ?, ?, '{}', ?)`;
  for (let number = 0; number < 3; number += 1) await file.all(key, Buffer.from(`${number}`), Buffer.from('r'), now);
  await file.exec('COMMIT');
  await pass(0.9);
  t.equal((await ids('idempotency_keys', 'created_at')).length, 3);
  await pass(0.2);
  t.equal((await ids('idempotency_keys', 'created_at')).length, 0);
  await pass(28);
  t.equal((await ids('device_events', 'event_id')).length, 601);
  await pass(2);
  t.same(await ids('device_events', 'event_id'), ['later']);
  t.equal(await metric('retention_removed_total', { kind: 'device_events' }), 600);
});

t.test('many rows are removed in small steps with pauses, and a restart continues', { buffered: true }, async (t) => {
  const { world, file, pass } = await setUp(t, DAYS, true);
  const ROWS = 9_000;
  const at = world.clock.now();
  await file.exec('BEGIN');
  const insert = `INSERT INTO transactions (device_id, application_id, operation, status, due, attempts, created_at, updated_at, completed_at)
       VALUES (?, 'a', 'setWifi', ?, ?, 1, ?, ?, ?)`;
  for (let row = 0; row < ROWS; row += 1) {
    const isQueued = row % 3 === 0;
    await file.all(
      insert,
      `d${row % 50}`,
      isQueued ? 'queued' : 'succeeded',
      isQueued ? 1 : 0,
      at,
      at,
      isQueued ? null : at,
    );
  }
  await file.exec('COMMIT');
  const count = async (): Promise<number> =>
    (await file.all<{ n: number }>('SELECT count(*) AS n FROM transactions'))[0]?.n ?? 0;
  await pass(1);
  t.equal(await count(), ROWS);
  world.clock.leap(3 * DAY);
  const probe = world.anonymousAdmin();
  const problems: { part: string }[] = [];
  async function look(): Promise<void> {
    const { status, body } = await probe.get('/readyz');
    if (status !== 200) problems.push(...(body.problems ?? [{ part: `status ${status}` }]));
  }
  while ((await count()) === ROWS) await look();
  await look();
  // On several nodes, the leap of the clock makes a check for lost hints that had just begun look late.
  t.same(
    problems.filter(({ part }) => part !== 'node'),
    [],
    'the service stays ready',
  );
  await world.restart();
  t.ok((await count()) > ROWS / 3, 'it was broken off');
  await pass(1);
  t.equal(await count(), ROWS / 3, 'and what is unfinished stays');
});

t.test('an object that no version refers to is removed after a day, and no other', { buffered: true }, async (t) => {
  const { world, file, ids, pass, lines } = await setUp(t);
  const tenant = await world.createTenant();
  const packages = `${tenant.path}/packages`;
  await tenant.api.post(packages, { json: { package: 'com.example.camera' } });
  const versions = `${packages}/com.example.camera/versions`;
  const upload = async (version: string): Promise<string> => {
    await tenant.api.post(versions, { json: { version } });
    return (await tenant.api.post(`${versions}/${version}/binaries`)).body.urlList[0].uploadUrl;
  };
  const put = async (url: string) => (await fetch(url, { method: 'PUT', body: 'binary' })).status;
  const told = (): number => lines.filter(({ msg }) => /will be removed in a day/.test(String(msg))).length;
  const objects = (): number => readdirSync(join(world.dataDir, 'objects', 'objects')).length;
  t.equal(await put(await upload('1.0.0')), 200);
  const url = await upload('2.0.0');
  t.equal((await tenant.api.delete(`${versions}/2.0.0`)).status, 204);
  t.equal(await put(url), 200, 'the URL is valid, though its version is gone');
  t.equal(objects(), 2);
  await pass(0.9);
  t.equal(objects(), 2);
  const mend = await file.breakWrites('INSERT ON orphaned_objects');
  await pass(0.3);
  const before = told();
  t.ok(before > 0, 'it is found');
  await mend();
  t.same(await ids('orphaned_objects', 'binary_id'), [], 'and not remembered, because the disk is full');
  await pass(0);
  t.equal(objects(), 2, 'now it is known');
  t.equal(told(), before + 1, 'again');
  await world.restart();
  await pass(1.1);
  t.equal(objects(), 1);
  await tenant.renew();
  t.match((await tenant.api.get(`${versions}/1.0.0/binaries`)).body, { appFileExists: true });
  await pass(3);
  t.equal(objects(), 1, 'what a version refers to stays');
  await tenant.renew();
  t.equal((await ids('binary_contents', 'binary_id')).length, 1);
  t.equal((await tenant.api.delete(`${versions}/1.0.0/binaries`)).status, 204);
  t.equal((await tenant.api.delete(`${versions}/1.0.0`)).status, 204);
  t.equal((await ids('binary_contents', 'binary_id')).length, 0, 'what was found in a binary goes with its version');
});
