import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createExpiry } from '../../src/core/transactions/expiry.ts';
import { createMetrics } from '../../src/metrics.ts';
import { noteSeenTime } from '../../src/platform/database/time-witness.ts';
import { createLog } from '../../src/runtime/log.ts';
import { openDatabaseOf } from '../database/kinds.ts';
import { createFakeClock } from '../fake-clock.ts';
import { startRollouts } from '../rollouts/rollout-world.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const DAY = 86_400_000;
const YEARS = 730 * DAY;
const DAYS = { LAPEL_RETENTION_DAYS: '3', LAPEL_DELIVERY_RETENTION_DAYS: '1' };

type World = Awaited<ReturnType<typeof startWorld>>;
const readyz = (world: World) => world.anonymousAdmin().get('/readyz');
const held = async (world: World): Promise<number | undefined> =>
  (await world.service.metrics.registry.getSingleMetric('lapel_clock_held')?.get())?.values[0]?.value;

async function withRows(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t, { env: DAYS, database: 'sqlite' });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { body } = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const { transactionId } = await device.link.command();
  await device.link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  const rows = async (): Promise<number> => {
    const raw = await world.raw();
    const [row] = await raw.all<{ count: number }>('SELECT count(*) AS count FROM transactions');
    return row?.count ?? 0;
  };
  t.equal(transactionIdOf({ body } as never), transactionId);
  return { world, tenant, device, rows };
}

/** Lets the service sweep, as it does a minute after its start and then every ten minutes. */
async function sweep(world: World): Promise<void> {
  world.clock.advance(660_000);
  await world.idle();
}

t.test('a start with a clock that is years ahead removes nothing before the time is confirmed', async (t) => {
  const { world, rows } = await withRows(t);
  const before = await rows();
  t.ok(before > 0);
  await world.restart(() => world.clock.set(YEARS));
  await sweep(world);
  t.equal(await rows(), before, 'all rows are there');
  t.equal(await held(world), 1);
  t.match(await readyz(world), {
    status: 200,
    body: { status: 'ok', notes: [{ part: 'clock', reason: /730 days ahead of the latest time that was seen/ }] },
  });
  t.match((await world.admin().get('/admin/v1/fleet/alarms')).body.alarms, [
    { level: 'critical', text: /^clock: is 730 days/ },
  ]);

  await t.test('also after another start, although rows have the wrong time meanwhile', async (t) => {
    await world.createTenant('other');
    await world.restart();
    await sweep(world);
    t.equal(await rows(), before);
    t.equal(await held(world), 1);
  });

  await t.test('and then removes what is too old', async (t) => {
    await noteSeenTime(world.dataDir, world.clock.now());
    world.clock.advance(10_000);
    await world.idle();
    t.equal(await held(world), 0);
    t.same((await readyz(world)).body, { status: 'ok' });
    await sweep(world);
    t.equal(await rows(), 0);
  });
});

t.test('a start after an hour without the service needs no confirmation', async (t) => {
  const { world } = await withRows(t);
  await world.restart(() => world.clock.set(3_600_000));
  t.equal(await held(world), 0);
});

t.test('a clock that leaps while the service runs ends nothing', async (t) => {
  const { world, tenant, devices, start, commands, read } = await startRollouts(t, 1, { database: 'sqlite' });
  const rolloutId = await start({ expireIn: 3600 });
  await commands({ silent: true });
  const later = await start({ startAt: '2026-12-20T10:00:00Z' });
  world.clock.set(YEARS);
  world.clock.advance(61_000);
  await world.idle();
  await tenant.renew();
  t.match(await read(rolloutId), { state: 'running', counts: { unfinished: 1 } }, 'no command expires');
  t.match(await read(later), { state: 'scheduled' }, 'no rollout begins');
  await noteSeenTime(world.dataDir, world.clock.now());
  world.clock.advance(10_000);
  await world.idle();
  world.clock.advance(1);
  await world.idle();
  t.match(await read(rolloutId), { counts: { failed: 1 } }, 'the confirmed time counts');
  t.match(await read(later), { state: 'running' });
  t.equal(devices.length, 1);
});

t.test('a clock that leaps in the first minute of a service is not confirmed by rows of after the leap', async (t) => {
  const { world, tenant, device, rows } = await withRows(t);
  world.clock.set(YEARS);
  await tenant.renew();
  t.equal((await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).status, 201);
  const before = await rows();
  for (let look = 0; look < 3; look += 1) {
    world.clock.advance(10_000);
    await world.idle();
  }
  t.equal(await held(world), 1);
  await world.restart();
  await sweep(world);
  t.equal(await held(world), 1, 'also after another start');
  t.equal(await rows(), before);
});

t.test('a device that connects while the time is not confirmed hears of the end of its command', async (t) => {
  const { world, tenant, device } = await withRows(t);
  await tenant.api.put(`${device.path}/settings/wifi?expireIn=60`, { json: WIFI });
  const { transactionId } = await device.link.command();
  await device.link.drop();
  world.clock.set(YEARS);
  world.clock.advance(61_000);
  await world.idle();
  t.equal(await held(world), 1);
  const link = await world.connect(device);
  await world.idle();
  t.same(link.pending('publish'), [], 'its time seems to be over');
  await noteSeenTime(world.dataDir, world.clock.now());
  world.clock.advance(10_000);
  await world.idle();
  world.clock.advance(1);
  await world.idle();
  t.equal(link.pending('publish').length, 1, 'at once, and not when somebody looks for what was overlooked');
  t.match(await link.command(), { transactionId, operation: 'cancel' });
});

t.test('after a leap of the clock, an event that is repeated is still the same event', async (t) => {
  const { world, tenant, device } = await withRows(t);
  const [{ type }] = [await tenant.event()];
  t.equal(type, 'transaction.succeeded');
  const send = async (eventId: string): Promise<void> => {
    const occurredAt = '2026-11-20T18:30:00Z';
    device.link.publish('events', { eventId, type: 'custom.sos', occurredAt, data: {} });
    await device.link.next('puback');
    await world.idle();
  };
  await send('once');
  t.match(await tenant.event(), { type: 'custom.sos' });
  world.clock.set(YEARS);
  await send('another');
  t.match(await tenant.event(), { type: 'custom.sos', data: { eventId: 'another' } });
  const before = tenant.receiver.requests.length;
  await send('once');
  t.equal(tenant.receiver.requests.length, before);
});

t.test('after a leap of the clock, a call that is repeated with its key is still the same call', async (t) => {
  const { world, tenant, device } = await withRows(t);
  const call = async (key: string): Promise<number> => {
    const headers = { 'idempotency-key': `"${key}"` };
    return transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI, headers }));
  };
  const first = await call('once');
  world.clock.set(YEARS);
  await tenant.renew();
  t.not(await call('another'), first, 'which forgets keys that are too old');
  t.equal(await call('once'), first);
});

t.test('a clock that was behind at the start is believed when it is put right', async (t) => {
  const { world } = await withRows(t);
  await sweep(world);
  await world.restart(() => world.clock.set(-30 * DAY));
  await sweep(world);
  world.clock.set(30 * DAY);
  for (let look = 0; look < 3; look += 1) {
    world.clock.advance(10_000);
    await world.idle();
  }
  t.equal(await held(world), 0);
});

t.test('the server of the database is a witness whose clock shows that this one is wrong', async (t) => {
  let behind = 0;
  const clock = createFakeClock();
  const world = await startWorld(t, {
    clock,
    database: 'sqlite',
    timeWitness: { hasClock: true, seen: async () => clock.now() - behind, note: async () => undefined },
  });
  t.equal((await readyz(world)).status, 200);
  behind = YEARS * 1000;
  world.clock.set(YEARS);
  t.match(await readyz(world), { status: 503, body: { problems: [{ part: 'clock', reason: /730 days ahead/ }] } });
  behind = 0;
  world.clock.advance(10_000);
  await world.idle();
  t.equal((await readyz(world)).status, 200, 'both have the same time again');
});

t.test('a clock that is half a minute off from that of the database is told', async (t) => {
  let ahead = 0;
  const clock = createFakeClock();
  const world = await startWorld(t, {
    clock,
    database: 'sqlite',
    timeWitness: { hasClock: true, seen: async () => clock.now() - ahead, note: async () => undefined },
  });
  const look = async (): Promise<unknown> => {
    clock.advance(60_000);
    await world.idle();
    return (await readyz(world)).body;
  };
  t.same(await look(), { status: 'ok' });
  ahead = -31_000_000;
  const reason = 'the clock is 31 seconds behind that of the database: set it';
  t.same(await look(), { status: 'ok', notes: [{ part: 'clock', reason }] });
  t.equal((await world.service.metrics.clockAhead.get()).values[0]?.value, -31);
  ahead = 29_000_000;
  t.same(await look(), { status: 'ok' });
});

t.test('webhooks are signed with the time of the machine, and none waits for a future that never comes', async (t) => {
  const { world, tenant, device } = await withRows(t);
  world.clock.set(YEARS);
  world.clock.setBack(YEARS);
  await tenant.renew();
  tenant.receiver.answer(() => ({ status: 500 }));
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const { transactionId } = await device.link.command();
  await device.link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  const last = tenant.receiver.requests.at(-1);
  const signedAt = Number(last?.headers['webhook-timestamp']);
  t.ok(Math.abs(signedAt - world.clock.wall() / 1_000_000) < 60, 'receivers compare it with their own clock');

  tenant.receiver.answer({ status: 200 });
  const seen = tenant.receiver.requests.length;
  await world.restart(() => {
    world.clock.set(-YEARS);
    world.clock.setBack(-YEARS);
  });
  await world.idle();
  t.equal(tenant.receiver.requests.length, seen + 1, 'a start with the right time sends it at once');
});

t.test('a leap that is put right while the service runs needs a restart, and nothing else', async (t) => {
  const { world, rows } = await withRows(t);
  const before = await rows();
  world.clock.set(YEARS);
  await sweep(world);
  t.match((await readyz(world)).body, { status: 'ok', notes: [{ part: 'clock', reason: /lapel clock confirm/ }] });
  world.clock.setBack(YEARS);
  await sweep(world);
  const wrong = /^is 730 days ahead of the machine's, which was put back; restart the service$/;
  const { status, body } = await readyz(world);
  t.match({ status, body }, { status: 503, body: { problems: [{ part: 'clock', reason: wrong }] } });
  await noteSeenTime(world.dataDir, world.clock.wall());
  await sweep(world);
  t.equal(await held(world), 1, 'to confirm the time does not help');
  t.equal(await rows(), before, 'nothing is judged by a clock that is ahead');
  await world.restart(() => {
    world.clock.set(-YEARS);
    world.clock.setBack(-YEARS);
  });
  t.same((await readyz(world)).body, { status: 'ok' });
  t.equal(await held(world), 0);
});

t.test('a start with a clock that is behind moves no end and makes no retry due early', async (t) => {
  const { world, tenant, device } = await withRows(t);
  tenant.receiver.answer(() => ({ status: 500 }));
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const { transactionId } = await device.link.command();
  await device.link.ack({ transactionId, status: 'succeeded' });
  await world.idle();
  const made = await tenant.api.put(`${device.path}/settings/wifi?expireIn=3600`, { json: WIFI });
  const endOf = async () =>
    (await tenant.api.get(`${device.path}/transactions/${transactionIdOf(made)}`)).body.expiresAt;
  const end = await endOf();
  t.type(end, 'string');
  const tries = tenant.receiver.requests.length;
  const BEHIND = 40 * 3_600_000;
  await world.restart(() => world.clock.set(-BEHIND));
  await world.idle();
  t.equal(tenant.receiver.requests.length, tries, 'a retry keeps its time');
  await tenant.renew();
  t.equal(await endOf(), end, 'a command keeps its end');
  world.clock.set(BEHIND);
  tenant.receiver.answer({});
  world.clock.advance(120_000);
  await world.idle();
  t.equal(tenant.receiver.requests.length, tries + 1);
});

t.test('the end of a command that was stored while the clock was ahead is moved once, not at each start', async (t) => {
  const { world, tenant, device } = await withRows(t);
  world.clock.set(YEARS);
  world.clock.setBack(YEARS);
  await tenant.renew();
  const made = await tenant.api.put(`${device.path}/settings/wifi?expireIn=3600`, { json: WIFI });
  await world.restart(() => {
    world.clock.set(-YEARS);
    world.clock.setBack(-YEARS);
  });
  await tenant.renew();
  const read = async () => (await tenant.api.get(`${device.path}/transactions/${transactionIdOf(made)}`)).body;
  const { status, expiresAt } = await read();
  t.equal(status, 'queued');
  await world.restart();
  await world.idle();
  await tenant.renew();
  t.match(await read(), { status: 'queued', expiresAt }, 'after another start it has not expired');
});

t.test('a folder that does not say until when the service lived keeps the time of its rows', async (t) => {
  const { world, tenant, device, rows } = await withRows(t);
  const before = await rows();
  await world.restart(() => {
    world.clock.set(YEARS);
    rmSync(join(world.dataDir, 'seen-time'));
  });
  t.equal(await held(world), 1);
  await tenant.renew();
  t.equal((await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).status, 201);
  await world.restart();
  t.equal(await held(world), 1, 'rows with a wrong time do not confirm it');
  await sweep(world);
  t.equal(await rows(), before + 1);
});

t.test('what waits for the time to be confirmed waits once, however often it looks', async (t) => {
  const database = await openDatabaseOf('sqlite', t);
  const clock = createFakeClock();
  const tasks = new Set<() => void>();
  const expiry = createExpiry({
    database,
    clock,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    throttle: async () => undefined,
    leads: () => true,
    trust: { isHeld: () => true, latest: clock.now, whenBelieved: (task) => tasks.add(task) },
    expireIn: async () => undefined,
  });
  t.teardown(expiry.stop);
  await expiry.start();
  for (let looks = 0; looks < 5; looks += 1) {
    expiry.expect(clock.now());
    clock.advance(1);
    await expiry.idle();
  }
  t.equal(tasks.size, 1);
});
