import t, { type Test } from 'tap';
import { until } from '../until.ts';
import { startWorld, type World } from '../world.ts';

type WorldOptions = NonNullable<Parameters<typeof startWorld>[1]>;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SWEEP = 600_000;
const GIB = 1024 ** 3;
const ON = { LAPEL_SAMPLE_RETENTION_DAYS: '90' };
const CAMERA = 'com.example.camera';

const camera = (version: string) => ({ software: [{ package: CAMERA, version, versionCode: 1 }] });
const battery = (level: number, charging = false) => ({ battery: { level, charging } });

async function report(device: Awaited<ReturnType<World['activatedDevice']>>, body: object): Promise<void> {
  device.link.publish('status', body);
  await device.link.next('puback');
}

async function setUp(t: Test, env: Record<string, string> = ON, options: WorldOptions = {}) {
  const world = await startWorld(t, { env, ...options });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const raw = await world.raw();
  const start = world.clock.now() / 1000;
  world.clock.leap(HOUR - (start % HOUR)); // the tests begin with an hour
  const rows = (deviceId = device.deviceId) =>
    raw.all<{ hour: number; battery: number | null; changes: string | null }>(
      `SELECT hour, battery, changes FROM device_samples WHERE device_id = '${deviceId}' ORDER BY hour`,
    );
  const samples = async (query = '', deviceId = device.deviceId) =>
    (await world.admin().get(`/admin/v1/devices/${deviceId}/samples${query}`)).body;
  return { world, tenant, device, rows, samples };
}

const iso = (world: World, before = 0): string => new Date(world.clock.now() / 1000 - before).toISOString();

t.test('without the setting nothing is stored, and the answer says so', async (t) => {
  const { world, device, rows, samples } = await setUp(t, {});
  for (const level of [50, 40, 30]) {
    await report(device, { ...battery(level), ...camera(String(level)) });
    world.clock.leap(HOUR);
  }
  t.same(await rows(), []);
  t.match(await samples(), { keptDays: 0, changes: [] });
  t.match((await world.admin().get('/admin/v1/fleet/samples')).body, { keptDays: 0, cohorts: [] });
});

t.test('the last values of an hour are stored when a later hour begins', async (t) => {
  const { world, device, rows, samples } = await setUp(t);
  const hour = Math.floor(world.clock.now() / 1000 / HOUR);
  await report(device, { ...battery(90), storage: { total: 8 * GIB, free: 2 * GIB + 5 } });
  world.clock.leap(HOUR / 2);
  await report(device, { ...battery(88), network: { type: 'wifi', ssid: null, rssi: -61 } });
  t.same(await rows(), [], 'nothing more is stored within the hour');
  const beginning = { battery: 88, isCharging: false, rssi: -61, freeBytes: 2 * GIB };
  t.match((await samples()).points.at(-1), beginning, 'yet it is shown');
  world.clock.leap(2 * HOUR);
  await report(device, battery(80, true));
  t.same(await rows(), [{ hour, battery: 88, changes: null }]);
  const { points } = await samples();
  t.match(points.at(-3), { at: new Date(hour * HOUR).toISOString().replace('.000Z', '.000000Z'), ...beginning });
  t.match(points.at(-2), { battery: null, rssi: null }, 'an hour without a report is a gap');
  t.match(points.at(-1), { battery: 80, isCharging: true, rssi: -61 });
});

t.test('versions that change are kept with their time, each once', async (t) => {
  const { world, device, rows, samples } = await setUp(t);
  await report(device, { firmwareVersion: '1', ...camera('1.0.0') });
  t.same((await samples()).changes, [], 'a first report is no change');
  world.clock.leap(HOUR / 4);
  await report(device, { ...camera('1.1.0'), ...battery(70) });
  const first = iso(world);
  await report(device, { ...camera('1.1.0'), ...battery(70) });
  world.clock.leap(HOUR / 4);
  await report(device, { firmwareVersion: '2', software: [] });
  const second = iso(world);
  world.clock.leap(HOUR);
  await report(device, battery(60));
  t.equal((await rows()).length, 1, 'in the row of their hour');
  t.match(
    (await samples()).changes.map((change: { at: string }) => ({ ...change, at: change.at.slice(0, 19) })),
    [
      { at: first.slice(0, 19), package: CAMERA, was: '1.0.0', version: '1.1.0' },
      { at: second.slice(0, 19), package: null, was: '1', version: '2' },
      { at: second.slice(0, 19), package: CAMERA, was: '1.1.0', version: null },
    ],
  );

  await t.test('a device that changes them without an end has a bounded row', async (t) => {
    for (let version = 0; version < 30; version += 1) await report(device, camera(String(version)));
    const [, row] = await rows();
    t.equal(JSON.parse(row?.changes ?? '[]').length, 20);
  });
});

t.test('old samples become fewer, and go when their days are over', async (t) => {
  const { world, device, rows } = await setUp(t, { LAPEL_SAMPLE_RETENTION_DAYS: '40' });
  const pass = async (hours: number): Promise<void> => {
    for (let hour = 0; hour < hours; hour += 1) {
      await report(device, battery(hour % 100));
      world.clock.leap(HOUR);
    }
  };
  await pass(1);
  const first = (await rows())[0]?.hour ?? Math.floor(world.clock.now() / 1000 / HOUR) - 1;
  await report(device, camera('1'));
  await report(device, camera('2'));
  await pass(24 * 36 - 1);
  const found = await rows();
  const last = found.at(-1)?.hour ?? 0;
  const between = (from: number, to: number) =>
    found.filter(({ hour, changes }) => changes === null && hour >= last - to * 24 && hour < last - from * 24).length;
  t.equal(between(0, 6), 6 * 24, 'each hour of a week');
  t.equal(between(9, 29), 20 * 4, 'then four a day');
  t.equal(between(32, 35), 3, 'then one a day');
  t.ok(
    found.some(({ hour, changes }) => hour === first + 1 && changes !== null),
    'one with a change of version stays',
  );
  t.ok(found.length < 24 * 8 + 4 * 23 + 8, `${found.length} rows`);

  world.clock.leap(38 * DAY);
  await world.idle();
  // A sweep pauses in real time, and a look that was begun before the leap may come first.
  await until(async () => {
    world.clock.advance(SWEEP);
    await world.idle();
    return (await rows()).length < found.length;
  });
  const left = await rows();
  t.ok(left.length > 0 && left.length < found.length, 'a device that is silent loses what is too old');
  t.ok(left.every(({ hour }) => hour >= world.clock.now() / 1000 / HOUR - 40 * 24 - 1));
});

t.test('a clock that leaps by years thins no samples', async (t) => {
  const { world, device, rows } = await setUp(t, { LAPEL_SAMPLE_RETENTION_DAYS: '3650' });
  for (let hour = 0; hour < 12; hour += 1) {
    await report(device, battery(hour));
    world.clock.leap(HOUR);
  }
  await report(device, battery(50));
  const before = await rows();
  t.equal(before.length, 12);
  world.clock.set(2 * 365 * DAY);
  await report(device, battery(51));
  t.same((await rows()).slice(0, 12), before);
});

t.test('the share of time in which a device was connected', async (t) => {
  const { world, device, samples } = await setUp(t);
  world.clock.leap(2 * HOUR);
  await device.link.drop();
  await until(() => !world.service.isConnected(device.deviceId));
  world.clock.leap(HOUR + HOUR / 4);
  await world.idle();
  device.link = await world.connect(device);
  await report(device, battery(50)); // its connection is known by then
  world.clock.advance(5_000); // and stored
  await world.idle();
  world.clock.leap(HOUR / 2);
  const shares = (await samples()).points.map((point: { connectedShare: number }) => point.connectedShare);
  t.same(shares.slice(-4, -2), [1, 1]);
  t.equal(shares.at(-2), 0);
  t.ok(Math.abs(shares.at(-1) - 2 / 3) < 0.01, String(shares.at(-1)));
});

t.test('cohorts compare versions: battery, connection, storage', async (t) => {
  const { world, tenant, device, samples } = await setUp(t);
  const other = await world.activatedDevice(tenant);
  const lone = await world.activatedDevice(tenant); // without the package
  const free = (gib: number) => ({ storage: { total: 32 * GIB, free: gib * GIB } });
  const hours = async (list: readonly (readonly [object, object])[]): Promise<void> => {
    for (const [first, second] of list) {
      await report(device, first);
      await report(other, second);
      await report(lone, { firmwareVersion: 'f1', ...battery(50) });
      world.clock.leap(HOUR);
    }
  };
  await hours([
    [
      { ...battery(90), ...camera('1.0.0'), ...free(4) },
      { ...battery(90), ...camera('1.0.0'), ...free(6) },
    ],
    [battery(88), battery(88)],
    [battery(86), battery(86)],
    [{ ...battery(84), ...camera('1.1.0') }, battery(84)],
    [{ ...battery(78), ...free(2) }, battery(82)],
    [battery(72), battery(100, true)], // charged
    [battery(66), battery(99)],
  ]);
  const cohorts = async (query: string) => (await world.admin().get(`/admin/v1/fleet/samples?${query}`)).body;
  const found = await cohorts(`package=${CAMERA}`);
  t.match(found, { keptDays: 90, package: CAMERA, devices: 2, isWhole: true });
  t.match(
    found.cohorts.map(({ points: _points, ...cohort }: { points: unknown }) => cohort),
    [
      { version: '1.0.0', devices: 2, batteryDropPerHour: 2, freeBytes: 5 * GIB, connectedShare: 1 },
      { version: '1.1.0', devices: 1, batteryDropPerHour: 6, freeBytes: 2 * GIB, connectedShare: 1 },
    ],
  );
  t.ok(found.cohorts[0].points.length > 0);
  t.match((await cohorts('')).cohorts, [{ version: 'f1', devices: 1, batteryDropPerHour: 0 }], 'of the firmware');
  t.match((await cohorts(`package=${CAMERA}&prefix=${other.deviceId}`)).cohorts, [{ version: '1.0.0', devices: 1 }]);
  t.match(await cohorts(`package=${CAMERA}&developerId=other`), { devices: 0, cohorts: [] });
  t.equal((await samples('?step=86400')).stepSeconds, 86_400);
});

t.test('a removed device leaves no samples', async (t) => {
  const { world, device, rows } = await setUp(t);
  await report(device, battery(9));
  world.clock.leap(HOUR);
  await report(device, battery(8));
  t.equal((await rows()).length, 1);
  await world.admin().delete(`/admin/v1/devices/${device.deviceId}?force=true`);
  t.same(await rows(), []);
});

t.test('a service that keeps no samples any more removes those there are', async (t) => {
  const { world, device, rows } = await setUp(t);
  await report(device, battery(9));
  world.clock.leap(HOUR);
  await report(device, battery(8));
  t.equal((await rows()).length, 1);
  await world.service[Symbol.asyncDispose]();
  const env = world.databaseUrl === null ? {} : { LAPEL_DATABASE_URL: world.databaseUrl };
  const again = await startWorld(t, { dataDir: world.dataDir, clock: world.clock, env });
  again.clock.advance(SWEEP);
  await again.idle();
  t.same(await rows(), []);
});

t.test('a connection can be older than the log of connections, which has none of a new device yet', async (t) => {
  const { world, samples } = await setUp(t);
  world.clock.advance(5_000); // the connection is in the log
  await world.idle();
  const lastShare = async (): Promise<number> => (await samples()).points.at(-1).connectedShare;
  await (await world.raw()).all('DELETE FROM connection_log');
  world.clock.leap(HOUR / 2);
  t.equal(await lastShare(), 0, 'the log would have it');
  await (await world.raw()).all('UPDATE devices SET created_at = 0');
  t.equal(await lastShare(), 1);
});
