import { join } from 'node:path';
import { Device, DeviceFailure, type Maker, type RunningCommand } from '@lapel/device';
import t, { type Test } from 'tap';
import { until } from '../until.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

/** A world with a tenant, and a device of it that is made anew for each start. */
async function startDevice(t: Test, protocolVersion: 4 | 5 = 4, env: Record<string, string> = {}) {
  const folder = t.testdir({ data: {} });
  const world = await startWorld(t, { dataDir: join(folder, 'data'), env });
  const tenant = await world.createTenant();
  const { deviceId, credential } = await world.registerDevice();
  const path = `${tenant.path}/devices/${deviceId}`;
  const url = world.service.addresses.mqtt;
  const made: Device[] = [];
  t.teardown(() => {
    for (const device of made) device.stop();
  });
  return {
    world,
    tenant,
    path,
    make(maker: Partial<Maker>): Device {
      const file = join(folder, 'device');
      const options = { deviceId, file, service: { url, protocolVersion }, login: { credential } };
      const device = new Device(options, { operations: {}, log: () => {}, ...maker });
      made.push(device);
      return device;
    },
    activate: async () => {
      await tenant.api.post(path, { json: {} });
      return tenant.event();
    },
    setLanguage: (lang: string) => tenant.api.put(`${path}/settings/lang`, { json: { lang } }).then(transactionIdOf),
    result: async () => (await tenant.event()).data.transaction,
  };
}

const activate = (): void => {};

t.test('an error of an operation is the failure of its command, and the next one is carried out', async (t) => {
  const { make, activate: activated, setLanguage, result } = await startDevice(t);
  const errors: unknown[] = [new DeviceFailure('STORAGE_FULL', 'full'), new TypeError('no such thing'), 'a text'];
  const setsLanguage = () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
  };
  make({ operations: { activate, setLanguage: setsLanguage } }).start();
  t.match(await activated(), { data: { transaction: { status: 'succeeded' } } });
  for (const error of [
    { code: 'STORAGE_FULL', message: 'full' },
    { code: 'INTERNAL', message: 'no such thing' },
    { code: 'INTERNAL', message: 'a text' },
  ]) {
    await setLanguage('ja');
    t.match(await result(), { status: 'failed', error });
  }
  await setLanguage('ja');
  t.match(await result(), { status: 'succeeded' });
});

t.test('a command comes again after a restart, with its progress, and an answered one does not', async (t) => {
  const { make, activate: activated, setLanguage, result } = await startDevice(t);
  const begun: RunningCommand[] = [];
  const first = make({
    operations: {
      activate,
      setLanguage(command) {
        begun.push(command);
        command.setProgress({ step: 3 });
        return new Promise<undefined>(() => {});
      },
    },
  });
  first.start();
  await activated();
  const transactionId = await setLanguage('ja');
  await until(() => begun.length === 1);
  t.match(begun[0], { operation: 'setLanguage', parameters: { lang: 'ja' }, transactionId, interrupted: false });
  first.stop();
  t.ok(begun[0]?.signal.aborted, 'the operation is told');
  t.throws(() => begun[0]?.setProgress({}), 'and has no memory any more');
  const second = make({
    operations: {
      activate: () => t.fail('the activation was answered before'),
      setLanguage: (command) => void begun.push(command),
    },
  });
  second.start();
  t.match(await result(), { transactionId, status: 'succeeded' });
  t.match(begun[1], { transactionId, interrupted: true, progress: { step: 3 } });
});

t.test(
  'a request gets its data, or the code of the service, also when it was asked without a connection',
  async (t) => {
    const { make, activate: activated } = await startDevice(t);
    const device = make({ operations: { activate } });
    const file = { fileId: 'file-9', name: 'evening.mp4', size: 7, contentType: 'video/mp4' };
    const early = device.request('fileUploadUrl', file);
    device.start();
    await t.rejects(early, { name: 'DeviceFailure', code: 'NOT_ACTIVATED' });
    await activated();
    await t.rejects(device.request('makeCoffee', {}), { code: 'UNSUPPORTED' });
    await t.rejects(device.request('', {}), { message: /type/ });
    await t.rejects(device.request('fileUploadUrl', file, AbortSignal.abort(new Error('enough'))), {
      message: 'enough',
    });
    device.stop();
    await t.rejects(device.request('fileUploadUrl', file), { message: 'the device was stopped.' });
  },
);

t.test('events and settings outlive a restart, and one device has the file', async (t) => {
  const { make, activate: activated, tenant } = await startDevice(t);
  const first = make({ operations: { activate } });
  first.start();
  await activated();
  first.stop();
  const second = make({});
  t.throws(() => make({}), /another device of this machine uses the file/);
  second.settings.set('lang', 'ja');
  t.type(second.event('custom.sos', { button: 'side' }, 'high'), 'string');
  t.throws(() => second.settings.set('trial', 1), /the library itself/);
  t.throws(() => second.event('sos', {}), /no type/);
  second.stop();
  const third = make({});
  t.equal(third.settings.get('lang'), 'ja');
  third.start();
  t.match(await tenant.event(), { type: 'custom.sos', data: { button: 'side' } });
});

t.test('a result that is no JSON is the failure of its command, and the next one is carried out', async (t) => {
  const { make, activate: activated, setLanguage, result } = await startDevice(t);
  const results: object[] = [{ size: 1n }, { size: 1 }];
  make({ operations: { activate, setLanguage: () => results.shift() } }).start();
  await activated();
  await setLanguage('ja');
  t.match(await result(), { status: 'failed', error: { code: 'INTERNAL', message: /BigInt/ } });
  await setLanguage('ja');
  t.match(await result(), { status: 'succeeded', result: { size: 1 } });
});

t.test(
  'an event, a setting and a request are as they were told, whatever the maker does with his object',
  async (t) => {
    const { make, activate: activated, tenant } = await startDevice(t);
    const first = make({ operations: { activate } });
    first.start();
    await activated();
    first.stop();
    const second = make({});
    const place = { at: 1 };
    second.settings.set('place', place);
    second.event('custom.place', place);
    place.at = 2;
    second.event('custom.place', place);
    place.at = 3;
    t.same(second.settings.get('place'), { at: 1 });
    second.settings.get<{ at: number }>('place')!.at = 4;
    t.same(second.settings.get('place'), { at: 1 });
    second.start();
    t.match((await tenant.event()).data, { at: 1 });
    t.match((await tenant.event()).data, { at: 2 });
  },
);

t.test('a device that was stopped changes nothing in the file that another one has', async (t) => {
  const { make } = await startDevice(t);
  const first = make({});
  first.settings.set('lang', 'en');
  first.stop();
  const second = make({});
  second.settings.set('lang', 'ja');
  for (let i = 0; i < 3; i += 1) {
    t.throws(() => first.event('custom.sos', {}), { message: 'the device was stopped.' });
    t.throws(() => first.settings.set('lang', 'de'), { message: 'the device was stopped.' });
  }
  second.settings.set('volume', 7);
  second.stop();
  const third = make({});
  t.equal(third.settings.get('lang'), 'ja');
  t.equal(third.settings.get('volume'), 7);
});

t.test('a method of the maker that throws loses nothing that comes behind it', async (t) => {
  const { make, activate: activated, setLanguage, result, tenant, path } = await startDevice(t);
  const throws = (): never => {
    throw new Error('a fault of the maker');
  };
  const begun: string[] = [];
  const maker = { useNetworks: throws, networkInUse: throws, connection: throws, log: throws };
  const setLang = ({ parameters }: RunningCommand): void => void begun.push(parameters['lang']);
  make({ operations: { activate, setLanguage: setLang }, ...maker }).start();
  t.match(await activated(), { data: { transaction: { status: 'succeeded' } } });
  transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
  t.match(await result(), { operation: 'setWifi', status: 'succeeded' });
  await setLanguage('ja');
  t.match(await result(), { status: 'succeeded' });
  t.same(begun, ['ja']);
});

t.test('a progress that comes behind the end of its command is not that of the next one', async (t) => {
  const { make, activate: activated, setLanguage, result } = await startDevice(t);
  const begun: RunningCommand[] = [];
  const setLang = (command: RunningCommand): undefined | Promise<undefined> =>
    begun.push(command) === 1 ? undefined : new Promise<undefined>(() => {});
  const first = make({ operations: { activate, setLanguage: setLang } });
  first.start();
  await activated();
  await setLanguage('ja');
  await result();
  await setLanguage('de');
  await until(() => begun.length === 2);
  t.throws(() => begun[0]?.setProgress({ step: 1 }), { message: 'the command has ended.' });
  first.stop();
  const second = make({ operations: { activate, setLanguage: (command) => void begun.push(command) } });
  second.start();
  t.match(await result(), { status: 'succeeded' });
  t.equal(begun[2]?.progress, undefined);
});

t.test('with MQTT 5, an event above the rate comes again, on the same connection', async (t) => {
  const { make, activate: activated, tenant, world } = await startDevice(t, 5, { LAPEL_DEVICE_RATE_LIMIT: '10' });
  const connections: boolean[] = [];
  const device = make({
    operations: { activate },
    connection: (isConnected) => void connections.push(isConnected),
  });
  device.start();
  await activated();
  const told = new Set<unknown>();
  for (let i = 0; i < 60; i += 1) device.event('custom.place', { i });
  const all = (async () => {
    while (told.size < 60) told.add(((await tenant.event()).data as { i?: number }).i);
  })();
  await until(() => {
    world.clock.advance(1000); // the service counts by it
    return told.size === 60;
  });
  await all;
  t.same(connections, [true]);
});
