import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

t.test('what is stored about a device while it is removed is removed with it', { skip }, async (t) => {
  const world = await startWorld(t, { database: 'postgres' });
  await world.createTenant('dev');
  const device = await world.registerDevice('dev');
  const other = await world.raw();
  const watcher = await world.raw();
  const waits = async (): Promise<boolean> =>
    (await watcher.all("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length > 0;
  const left = (table: string) => watcher.all(`SELECT device_id FROM ${table} WHERE device_id = ?`, device.deviceId);

  await world.connect(device); // its fact is gathered, and stored after a second
  await other.exec(`BEGIN; SELECT 1 FROM devices WHERE device_id = '${device.deviceId}' FOR KEY SHARE`);
  const removed = world.admin().delete(`/admin/v1/devices/${device.deviceId}?force=true`);
  await until(waits);
  world.clock.advance(60_000); // the fact and the presence of the device are stored meanwhile
  await until(async () => (await left('connection_log')).length > 0);
  await other.exec('COMMIT');
  t.equal((await removed).status, 204);
  await world.idle();
  t.same(await left('connection_log'), []);
  t.same(await left('device_presence'), []);
});

t.test('what is counted of a receiver while its application is removed is removed with it', { skip }, async (t) => {
  const world = await startWorld(t, { database: 'postgres' });
  const tenant = await world.createTenant('dev');
  const { applicationId, receiver } = tenant;
  const other = await world.raw();
  const watcher = await world.raw();
  const left = (table: string) => watcher.all(`SELECT 1 FROM ${table} WHERE application_id = ?`, applicationId);
  receiver.answer({ status: 410 });
  await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
  await receiver.next();
  await world.idle(); // its hour is gathered, and stored after ten seconds
  t.same([await left('receiver_hours'), (await left('failing_receivers')).length], [[], 1]);

  await other.exec(`BEGIN; SELECT 1 FROM applications WHERE application_id = '${applicationId}' FOR KEY SHARE`);
  const removal = await world.admin().post(`/admin/v1/applications/${applicationId}/removal`, {
    json: { confirmation: applicationId },
  });
  t.equal(removal.status, 202);
  world.clock.advance(3_000); // the removal begins after two seconds
  await until(
    async () => (await watcher.all("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length > 0,
  );
  world.clock.advance(10_000); // the hour is stored meanwhile
  await until(async () => (await left('receiver_hours')).length > 0);
  await other.exec('COMMIT');
  await until(async () => (await left('applications')).length === 0);
  t.same([await left('receiver_hours'), await left('failing_receivers')], [[], []]);
});
