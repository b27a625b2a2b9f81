import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const SOS = { eventId: 'e-1', type: 'custom.sos', occurredAt: '2026-11-20T09:30:00Z', data: {} };
const STATUS = { firmwareVersion: '9.001.0', lang: 'ja', network: { type: 'wifi', ssid: 'home', rssi: -60 } };

t.test('a device that moves to another developer shows none of its earlier reports', async (t) => {
  const world = await startWorld(t);
  const [former, latter] = [await world.createTenant('former'), await world.createTenant('latter')];
  const device = await world.activatedDevice(former);
  const { deviceId, path } = device;
  const own = `/admin/v1/devices/${deviceId}`;
  const at = (tenant: typeof former, rest: string): string => `${tenant.path}/devices/${deviceId}${rest}`;

  device.link.publish('status', STATUS);
  await device.link.next('puback');
  device.link.publish('events', SOS);
  await former.event();
  const earlier = transactionIdOf(await former.api.put(`${path}/settings/wifi`, { json: WIFI }));
  await device.link.command();
  await device.link.ack({ transactionId: earlier, status: 'succeeded', result: { secret: 1 } });
  await former.event();
  t.match((await former.api.get(`${path}/status`)).body, STATUS);
  await former.api.delete(path);
  const { transactionId } = await device.link.command();
  await device.link.ack({ transactionId, status: 'succeeded' });
  await former.event();

  // A half-sent message of QoS 2, and a will: both were meant for the former developer.
  await device.link.drop();
  const topic = `devices/${deviceId}/status`;
  const will = { topic, payload: Buffer.from(JSON.stringify(STATUS)), qos: 1, retain: false };
  const link = await world.connect({ ...device, connect: { will } });
  link.publish('status', STATUS, { qos: 2 });
  await link.next('pubrec');
  link.publish('requests', { requestId: 'r', type: 'softwareDownloadUrl', data: { transactionId: 1 } });
  await link.next('puback');

  t.equal((await world.admin().patch(own, { json: { developerId: 'latter' } })).status, 200);
  await link.closed;
  await world.idle();
  world.clock.advance(120_000); // writes everything that was collected
  await world.idle();
  t.match((await latter.api.get(at(latter, ''))).body, { status: 'deactivated' });
  // The API shows the last-seen time of activated devices only, so the test reads it from the database.
  const database = await world.raw();
  for (const table of ['device_status', 'device_presence', 'device_events', 'device_requests']) {
    t.same(await database.all(`SELECT * FROM ${table} WHERE device_id = ?`, deviceId), [], table);
  }

  const back = await world.open(device);
  t.match(await back.login(), { returnCode: 0, sessionPresent: false }, 'its session is a new one');
  await back.subscribe(`devices/${deviceId}/commands`, `devices/${deviceId}/errors`);
  await latter.api.post(at(latter, ''), { json: {} });
  const activation = await back.command();
  t.match(activation, { operation: 'activate', attempt: 1 });
  await back.ack({ transactionId: activation.transactionId, status: 'succeeded' });
  await latter.event();

  const unknown = { lang: null, firmwareVersion: null, network: null, software: null, reportedAt: null };
  t.match((await latter.api.get(at(latter, '/status'))).body, unknown, 'op 7');
  const { body: list } = await latter.api.get(`${latter.path}/devices/status`);
  t.match(list, { total: 1, devices: [unknown] }, 'op 8');
  t.match((await latter.api.get(at(latter, '/firmware'))).body, { version: null }, 'firmware');
  t.match((await latter.api.get(at(latter, '/transactions'))).body, { total: 1 }, 'its own transaction only');
  t.equal((await latter.api.get(at(latter, `/transactions/${earlier}`))).status, 404);
  back.publish('events', SOS);
  t.match(await latter.event(), { type: 'custom.sos' }, 'an event of the former developer makes none a repetition');
});

t.test('the will of a removed device is not published: registered again, the device has no state', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.registerDevice();
  const { deviceId, credential } = device;
  const payload = Buffer.from(JSON.stringify(STATUS));
  const will = { topic: `devices/${deviceId}/status`, payload, qos: 1, retain: false };
  const link = await world.connect({ ...device, connect: { will } });
  t.equal((await world.admin().delete(`/admin/v1/devices/${deviceId}`)).status, 204);
  await link.closed;
  await world.idle();
  await world.admin().post('/admin/v1/developers/dev/devices', { json: { deviceId, credential } });
  const again = await world.connect(device);
  await tenant.api.post(`${tenant.path}/devices/${deviceId}`, { json: {} });
  const { transactionId } = await again.command();
  await again.ack({ transactionId, status: 'succeeded' });
  await tenant.event();
  t.match((await tenant.api.get(`${tenant.path}/devices/${deviceId}/status`)).body, { lang: null, reportedAt: null });
});
