import { cpSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import t, { type Test } from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { startWorld, type Tenant, type World } from '../world.ts';

// The fake clock's start, in the zone of the tests.
const START = '2026-11-20T18:30:00.123456';
const after = (minutes: number, seconds = 0): string =>
  START.replace('30:00', `${30 + minutes}:${String(seconds).padStart(2, '0')}`);

/**
 * The stored state as a service finds it that starts on a copy of the data folder: as after a crash, with nothing
 * written at the end.
 */
async function afterCrash(t: Test, world: World, tenant: Tenant, deviceId: string) {
  const dataDir = t.testdir();
  await world.idle();
  cpSync(world.dataDir, dataDir, { recursive: true, filter: (file) => !file.includes('lock.db') });
  const other = await startWorld(t, { database: 'sqlite', dataDir, clock: createFakeClock(world.clock.now()) });
  const api = await other.clientOf(tenant.applicationId, tenant.secret);
  return {
    world: other,
    status: async () => (await api.get(`${tenant.path}/devices/${deviceId}/status`)).body,
    list: async () => (await api.get(`${tenant.path}/devices/status`)).body,
  };
}

t.test('presence of a device', async (t) => {
  const world = await startWorld(t, { database: 'sqlite' }); // a crash is simulated by a copy of the folder
  const { clock } = world;
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const file = new Sqlite(`${world.dataDir}/lapel.db`);
  t.teardown(() => file.close());
  file.exec(`CREATE TABLE writes (device_id TEXT);
    CREATE TRIGGER inserted AFTER INSERT ON device_presence BEGIN INSERT INTO writes VALUES (new.device_id); END;
    CREATE TRIGGER updated AFTER UPDATE ON device_presence BEGIN INSERT INTO writes VALUES (new.device_id); END`);
  const writes = () => file.prepare('SELECT count(*) FROM writes').pluck().get() as number;
  const rowsOf = (deviceId: string) =>
    file.prepare('SELECT count(*) FROM device_presence WHERE device_id = ?').pluck().get(deviceId);
  const status = async () => (await tenant.api.get(`${device.path}/status`)).body;
  let { link } = device;
  const ping = async () => {
    link.send({ cmd: 'pingreq' });
    await link.next('pingresp');
  };

  t.test('every packet of a device counts as presence: login, messages, pings, DISCONNECT', async (t) => {
    t.match(await status(), { connected: true, lastSeenAt: START });
    clock.advance(1000);
    t.match(await status(), { lastSeenAt: START }, 'time alone is nothing of the device');
    await ping();
    t.match(await status(), { lastSeenAt: after(0, 1) });
    clock.advance(1000);
    link.publish('status', {}, { qos: 0 });
    await ping();
    t.match(await status(), { lastSeenAt: after(0, 2) });
    clock.advance(1000);
    const ended = link.closed;
    link.send({ cmd: 'disconnect' });
    link.socket.end();
    await ended;
    await world.idle();
    t.match(await status(), { connected: false, lastSeenAt: after(0, 3) });
    clock.advance(1000);
    link = await world.connect(device);
    t.match(await status(), { connected: true, lastSeenAt: after(0, 4) });
  });

  t.test(
    'after a crash no device is connected, and the last-seen time is at most a minute older than the crash',
    async (t) => {
      clock.advance(60_000);
      await world.idle();
      await ping();
      clock.advance(59_000);
      await ping();
      clock.advance(2_000);
      await world.idle();
      await ping();
      t.match(await status(), { connected: true, lastSeenAt: after(2, 5) });
      const crashed = await afterCrash(t, world, tenant, device.deviceId);
      const found = await crashed.status();
      t.match(found, { connected: false, lastSeenAt: after(2, 3) }, 'what the batch of this minute wrote');
      t.same((await crashed.list()).devices, [found]);
      await crashed.world.connect(device);
      t.match(await crashed.status(), { connected: true, lastSeenAt: after(2, 5) });
    },
  );

  t.test('a status report updates the last-seen time even if a crash follows', async (t) => {
    link.publish('status', {});
    await link.next('puback');
    const crashed = await afterCrash(t, world, tenant, device.deviceId);
    t.match(await crashed.status(), { connected: false, lastSeenAt: after(2, 5), reportedAt: after(2, 5) });
  });

  t.test(
    'the presence of a device that leaves is stored within a second, and not again while it is offline',
    async (t) => {
      clock.advance(100_000);
      await world.idle();
      await ping();
      await link.drop();
      await until(async () => !(await status()).connected);
      clock.advance(1000);
      const crashed = await afterCrash(t, world, tenant, device.deviceId);
      t.match(await crashed.status(), { connected: false, lastSeenAt: after(3, 45) });
      const before = writes();
      clock.advance(600_000);
      await world.idle();
      t.equal(writes(), before);
    },
  );

  t.test('many messages in a minute make one write', async (t) => {
    link = await world.connect(device);
    clock.advance(60_000);
    await world.idle();
    const before = writes();
    for (let i = 0; i < 50; i += 1) {
      clock.advance(1000);
      await ping();
    }
    t.equal(writes(), before);
    clock.advance(60_000);
    await world.idle();
    t.equal(writes(), before + 1);
  });

  t.test('a stop in order loses nothing', async (t) => {
    clock.advance(5000);
    await ping();
    const { lastSeenAt } = await status();
    await world.restart();
    await tenant.renew();
    t.match(await status(), { connected: false, lastSeenAt });
  });

  t.test('the presence of a removed device is removed, and a device that is registered again has none', async (t) => {
    const { deviceId, credential } = await world.registerDevice();
    const gone = await world.connect({ deviceId, credential });
    await world.idle();
    clock.advance(60_000);
    await world.idle();
    t.equal(rowsOf(deviceId), 1);
    gone.send({ cmd: 'pingreq' });
    await gone.next('pingresp');
    t.equal((await world.admin().delete(`/admin/v1/devices/${deviceId}`)).status, 204);
    await gone.closed;
    t.equal(rowsOf(deviceId), 0);
    await world.admin().post('/admin/v1/developers/dev/devices', { json: { deviceId } });
    clock.advance(60_000);
    await world.idle();
    t.equal(rowsOf(deviceId), 0);
  });
});
