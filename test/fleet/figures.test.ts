import t from 'tap';
import { run } from '../cli/run.ts';
import { startWorld, WIFI, type World } from '../world.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

t.test('figures of the fleet', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const [one, two, idle] = [
    await world.activatedDevice(tenant),
    await world.activatedDevice(tenant),
    await world.registerDevice(),
  ];
  const admin = world.admin();
  const later = () => world.clock.advance(11 * SECOND);
  const report = async ({ link }: typeof one, status: object): Promise<void> => {
    link.publish('status', status);
    await link.next('puback');
  };
  const breakdown = async (query: string) => {
    const { body } = await admin.get(`/admin/v1/fleet/breakdown?${query}`);
    return { groups: body.groups, others: body.others };
  };

  await t.test('the summary counts devices, waiting work, and receivers', async (t) => {
    const { body } = await admin.get('/admin/v1/fleet/summary');
    t.match(body, {
      at: '2026-11-20T09:30:00.123456Z',
      devices: { total: 3, activated: 2, connected: 2 },
      transactions: { unfinished: 0, oldestAt: null },
      deliveries: { pending: 0, oldestDueAt: null },
      receivers: { failing: 0, slow: 0 },
      nodes: 1,
    });
    t.type(body.commitP99Ms, 'number');
    tenant.receiver.answer({ status: 500 });
    await two.link.drop();
    const made = await tenant.api.put(`${one.path}/settings/wifi`, { json: WIFI });
    await tenant.api.put(`${two.path}/settings/wifi`, { json: WIFI });
    const cancelled = await tenant.api.put(`${one.path}/settings/wifi`, { json: WIFI });
    await one.link.command();
    await one.link.command();
    await tenant.api.delete(`${one.path}/transactions/${cancelled.body.transactionId}`);
    await tenant.event();
    await world.idle();
    t.same((await admin.get('/admin/v1/fleet/summary')).body.transactions.unfinished, 0, 'it is kept for ten seconds');
    t.equal((await admin.get('/admin/v1/fleet/summary')).body.devices.connected, 1, 'but for who is connected');
    later();
    await world.idle();
    t.match((await admin.get('/admin/v1/fleet/summary')).body, {
      transactions: { unfinished: 2, oldestAt: '2026-11-20T09:30:00.123456Z' },
      deliveries: { pending: 1 },
      receivers: { failing: 1, slow: 0 },
    });
    t.ok(made);
    tenant.receiver.answer({});
  });

  await t.test('devices are counted in groups', async (t) => {
    const software = (...items: [name: string, version: string][]) => ({
      software: items.map(([name, version]) => ({ package: name, version, versionCode: 1 })),
    });
    await report(one, {
      firmwareVersion: '9.1',
      battery: { level: 100, charging: false },
      ...software(['com.a', '1'], ['com.b', '1']),
    });
    two.link = await world.connect(two);
    await report(two, { battery: { level: 9, charging: false }, ...software(['com.a', '2']) });
    later();
    t.same(await breakdown('by=firmware'), {
      groups: [
        { value: null, devices: 2 },
        { value: '9.1', devices: 1 },
      ],
      others: 0,
    });
    t.same(await breakdown('by=battery'), {
      groups: [
        { value: '0-9', devices: 1 },
        { value: '90-100', devices: 1 },
        { value: null, devices: 1 },
      ].sort((a, b) => b.devices - a.devices),
      others: 0,
    });
    t.same(await breakdown('by=package'), {
      groups: [
        { value: 'com.a', devices: 2 },
        { value: 'com.b', devices: 1 },
      ],
      others: 0,
    });
    t.same(await breakdown('by=version&package=com.a.x'), { groups: [], others: 0 });
    t.same(await breakdown('by=developer'), { groups: [{ value: 'dev', devices: 3 }], others: 0 });
    t.same(await breakdown('by=application'), {
      groups: [
        { value: 'dev-app', devices: 2 },
        { value: null, devices: 1 },
      ],
      others: 0,
    });
    t.same(await breakdown('by=activation'), {
      groups: [
        { value: 'activated', devices: 2 },
        { value: 'deactivated', devices: 1 },
      ],
      others: 0,
    });
    t.ok(idle);
    for (const query of ['by=version', 'by=firmware&package=com.a.x', 'by=colour', ''])
      t.equal((await admin.get(`/admin/v1/fleet/breakdown?${query}`)).status, 400, query);
    const { addresses, adminToken } = world.service;
    const cli = (...args: string[]) =>
      run(['admin', 'fleet', ...args, '--admin-url', addresses.admin], { env: { LAPEL_ADMIN_TOKEN: adminToken } });
    t.match((await cli('breakdown', 'activation')).stdout, /^VALUE +DEVICES\nactivated +2\ndeactivated +1\n$/);
    t.match((await cli('summary')).stdout, /devices +\{"total":3/);
  });

  await t.test('the largest groups are shown, with the number of devices in all others', async (t) => {
    const file = await world.raw();
    await file.exec(
      Array.from(
        { length: 60 },
        (_, index) => `INSERT INTO device_software VALUES ('d${index}', 'com.many', 'v${index}', 0);`,
      ).join(''),
    );
    const found = await breakdown('by=version&package=com.many');
    t.equal(found.groups.length, 50);
    t.equal(found.others, 10);
  });
});

async function pass(world: World, milliseconds: number, step: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += step) {
    world.clock.advance(step);
    await world.idle();
  }
}

t.test('figures over time', async (t) => {
  const world = await startWorld(t, {
    keepsHistory: true,
    env: { LAPEL_RETENTION_DAYS: '0', LAPEL_DELIVERY_RETENTION_DAYS: '0' },
  });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const admin = world.admin();
  const file = await world.raw();
  const start = world.clock.now();
  const points = async (since: string, step = 10) =>
    (await admin.get(`/admin/v1/fleet/history?since=${since}&step=${step}`)).body;
  const steps = async () =>
    (
      await file.all<{ step: number; n: number }>(
        'SELECT step, CAST(count(*) AS INTEGER) AS n FROM fleet_history GROUP BY step ORDER BY step',
      )
    ).map(({ step, n }) => [step, n]);

  await pass(world, 20 * SECOND, 10 * SECOND);
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const { transactionId } = await device.link.command();
  await pass(world, 10 * SECOND, 10 * SECOND);
  await device.link.ack({ transactionId, status: 'failed' });
  await tenant.event();
  await world.idle();
  await pass(world, 10 * SECOND, 10 * SECOND);

  await t.test('every ten seconds states and events are stored', async (t) => {
    const { stepSeconds, points: found } = await points('2026-11-20T09:00:00Z');
    t.equal(stepSeconds, 10);
    const counted = found.map((point: Record<string, unknown>) => [
      point['at'],
      point['created'],
      point['finished'],
      point['failed'],
      point['due'],
    ]);
    t.same(counted, [
      ['2026-11-20T09:30:00.000000Z', 1, 1, 0, 0],
      ['2026-11-20T09:30:10.000000Z', 0, 0, 0, 0],
      ['2026-11-20T09:30:20.000000Z', 1, 0, 0, 1],
      ['2026-11-20T09:30:30.000000Z', 0, 1, 1, 0],
    ]);
    t.match(found.at(-1), {
      devices: 1,
      activated: 1,
      connected: 1,
      pending: 0,
      failingReceivers: 0,
      attemptsFailed: 0,
      oldestDueSeconds: 0,
    });
    t.match((await points('2026-11-20T09:00:00Z', 45)).points, [
      { created: 2, finished: 2, failed: 1, due: 1, connected: 1 },
    ]);
    t.equal((await points('2026-11-20T09:00:00Z', 45)).stepSeconds, 50);
    const { addresses, adminToken } = world.service;
    const shown = await run(['admin', 'fleet', 'history', '2026-11-20T09:00:00Z', '--admin-url', addresses.admin], {
      env: { LAPEL_ADMIN_TOKEN: adminToken },
    });
    t.match(shown.stdout, /^2026-11-20 09:30:20 +1 +1 +1 /m);
  });

  await t.test('points become coarser with time, and no event is lost', async (t) => {
    const begun = { at: '2026-11-20T09:30:00.000000Z', created: 2, finished: 2, failed: 1, due: 1, devices: 1 };
    world.clock.advance(3 * HOUR);
    await world.idle();
    await pass(world, 600 * SECOND, 300 * SECOND);
    t.match(await steps(), [
      [10, Number],
      [60, 1],
    ]);
    const hours = await points('2026-11-20T09:00:00Z');
    t.equal(hours.stepSeconds, 60);
    t.match(hours.points[0], begun);
    world.clock.leap(3 * DAY);
    await world.idle();
    await pass(world, 600 * SECOND, 300 * SECOND);
    const days = await points('2026-11-20T09:00:00Z');
    t.equal(days.stepSeconds, 600);
    t.match(days.points[0], begun);
    t.match((await steps()).at(-1), [600, Number]);
  });

  await t.test('points are removed after thirty days', async (t) => {
    world.clock.leap(30 * DAY);
    await world.idle();
    await pass(world, 1200 * SECOND, 600 * SECOND);
    const [oldest] = await file.all<{ at: number }>('SELECT MIN(at) AS at FROM fleet_history');
    t.ok((oldest?.at ?? 0) > start + 3 * DAY * 1000);
  });
});
