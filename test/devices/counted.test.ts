import t from 'tap';
import { startWorld } from '../world.ts';

const item = (name: string, version: string) => ({ package: name, version, versionCode: 1 });
t.test('the fields that a fleet is counted by are stored as last reported', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { deviceId } = device;
  const database = await world.raw();
  const start = world.clock.now();
  const report = async (body: object): Promise<void> => {
    device.link.publish('status', body);
    await device.link.next('puback');
  };
  const counted = () => database.all('SELECT firmware, battery FROM device_status WHERE device_id = ?', deviceId);
  const installed = () =>
    database.all('SELECT package, version, since FROM device_software WHERE device_id = ? ORDER BY package', deviceId);
  const row = (name: string, version: string, seconds: number) => ({
    package: name,
    version,
    since: start + seconds * 1_000_000,
  });

  await report({ lang: 'en' });
  t.same(await counted(), [{ firmware: null, battery: null }]);
  await report({
    firmwareVersion: '9.1',
    battery: { level: 0, charging: false },
    software: [item('a', '1'), item('b', '1')],
  });
  t.same(await counted(), [{ firmware: '9.1', battery: 0 }]);
  t.same(await installed(), [row('a', '1', 0), row('b', '1', 0)]);

  world.clock.advance(1000);
  await report({ battery: { level: 51, charging: true } });
  t.same(await counted(), [{ firmware: '9.1', battery: 51 }]);
  await report({ software: [item('c', '1'), item('b', '2'), item('b', '3'), item('a', '1')] });
  t.same(await counted(), [{ firmware: '9.1', battery: 51 }], 'what a report leaves out stays');
  t.same(
    await installed(),
    [row('a', '1', 0), row('b', '3', 1), row('c', '1', 1)],
    'of a name that comes twice the last',
  );
  await report({ software: [] });
  t.same(await installed(), []);
  // More devices than any database has room for, which does not matter here.
  await report({ software: [{ ...item('a', '2'), versionCode: 1e300 }] });
  t.same(await installed(), [row('a', '2', 1)]);

  await world.admin().delete(`/admin/v1/devices/${deviceId}?force=true`);
  await tenant.event();
  t.same([...(await counted()), ...(await installed())], [], 'with the device it goes');
});
