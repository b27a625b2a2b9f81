import { join } from 'node:path';
import t from 'tap';
import { skip as withoutOpenssl } from '../broker/authority.ts';
import { startSecured } from '../broker/secured-world.ts';
import { missing } from '../installed.ts';
import { until } from '../until.ts';
import { startWorld, transactionIdOf } from '../world.ts';
import { drive } from './driven.ts';
import { compiled } from './java.ts';

const skip = missing.java();

t.test('a device in Java talks with the service', { skip }, async (t) => {
  const folder = t.testdir({ data: {} });
  const classes = await compiled();
  const world = await startWorld(t, { dataDir: join(folder, 'data') });
  const tenant = await world.createTenant();
  const { deviceId, credential } = await world.registerDevice();
  const { hostname, port } = new URL(world.service.addresses.mqtt);
  const path = `${tenant.path}/devices/${deviceId}`;
  const given = [hostname, port, deviceId, join(folder, 'file')];
  const device = drive(t, { classes, given, credential });

  device.start();
  await until(() => world.service.isConnected(deviceId));
  device.call({
    call: 'request',
    type: 'fileUploadUrl',
    data: { fileId: 'f', name: 'n', size: 1, contentType: 'a/b' },
  });
  t.equal(await device.next('failure'), 'NOT_ACTIVATED', 'the code of a refused request');

  await tenant.api.post(path, { json: {} });
  t.match(await tenant.event(), { data: { transaction: { operation: 'activate', status: 'succeeded' } } });
  t.match((await tenant.api.get(`${path}/status`)).body, { lang: 'en' });

  const data = { text: 'カメラ 🎥 "\\ \n', number: 1, list: [null, true, {}] };
  device.call({ call: 'event', type: 'custom.a', data });
  const eventId = await device.next('event');
  const event = await tenant.event();
  t.match(event, { type: 'custom.a', data: { ...data, eventId } }, 'the event as it was told');

  const second = drive(t, { classes, given, credential });
  second.start();
  await until(() => second.errors() !== '');
  t.match(second.errors(), /in use by another process/, 'the file belongs to one process');

  await device.stop();
  t.same(device.told.at(-1), { stopped: true });
  await until(() => !world.service.isConnected(deviceId));
  const waiting = transactionIdOf(await tenant.api.put(`${path}/settings/lang`, { json: { lang: 'ja' } }));
  device.start();
  t.match((await tenant.event()).data.transaction, { transactionId: waiting, status: 'succeeded' });
  t.same(
    device.told.filter(({ error, warn }) => error ?? warn),
    [],
    'nothing was wrong',
  );
});

t.test(
  'a device in Java checks whose certificate the service has, and shows its own',
  { skip: skip || withoutOpenssl },
  async (t) => {
    const { world, folder, authority, mqtts } = await startSecured(t);
    const classes = await compiled();
    await world.createTenant();
    const { deviceId } = await world.registerDevice();
    const { certFile, keyFile } = authority.sign(deviceId);
    const { hostname, port } = new URL(mqtts);
    const start = (host: string, file: string, ...files: string[]) => {
      const given = [host, port, deviceId, join(folder, file), ...files];
      const device = drive(t, { classes, given });
      device.start();
      return device;
    };
    const known = start(hostname, 'known', authority.ca, certFile, keyFile);
    await until(() => world.service.isConnected(deviceId));
    await known.stop();
    const elsewhere = start('localhost', 'elsewhere', authority.ca, certFile, keyFile);
    t.match(await elsewhere.next('info'), /no connection: .*localhost/i, 'a certificate for another name');
    const stranger = start(hostname, 'stranger', certFile, certFile, keyFile);
    t.match(await stranger.next('info'), /no connection: .*certification path/i, 'a certificate of another CA');
    const nobody = start(hostname, 'nobody', authority.ca);
    t.match(await nobody.next('info'), /the login was refused with 4/, 'a login without anything');
    t.equal(elsewhere.count('connected') + stranger.count('connected') + nobody.count('connected'), 0);
  },
);
