import { peersOf } from '@lapel/device-sim/model/bluetooth';
import { createDevice, type DeviceOptions } from '@lapel/device-sim/model/device';
import { isAtLeast } from '@lapel/device-sim/model/firmware';
import { createStateFile } from '@lapel/device-sim/model/state-file';
import t from 'tap';
import { startFileServer } from '../files/file-server.ts';
import { command, startBroker } from '../plain-broker.ts';

const deviceId = '350000000000006';
const bluetooth = { type: 'bluetooth' };
const [earpiece, button, sensor] = peersOf(deviceId) as [Peer, Peer, Peer];
type Peer = ReturnType<typeof peersOf>[number];

async function wearable(options: Partial<DeviceOptions> = {}) {
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startBroker());
  const device = stack.use(createDevice({ deviceId, credential: 'secret', url: broker.url, seed: 3, ...options }));
  await device.connect();
  let last = 0;
  const parts = stack.move();
  return {
    broker,
    device,
    /** Sends the next command; resolves to its answer. */
    async ask(operation: string, parameters: Record<string, unknown> = bluetooth) {
      last += 1;
      const transactionId = last;
      broker.send(deviceId, command(transactionId, operation, parameters));
      const { result, error } = await broker.until(() =>
        broker.acks.find((ack) => ack.transactionId === transactionId),
      );
      return result ?? error;
    },
    events: () =>
      broker.published
        .filter(({ kind }) => kind === 'events')
        .map(({ body }) => [body['type'], (body['data'] as { name: string }).name]),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

const activation = { applicationId: 'app', clientId: 'c' };
const pairing = ({ macAddress }: Peer): object => ({ macAddress });

t.test('a device sees the same peers whenever it is simulated, and no other device sees them', async (t) => {
  t.strictSame(peersOf(deviceId), [earpiece, button, sensor]);
  const others = peersOf('350000000000014').map(({ macAddress }) => macAddress);
  for (const { name, macAddress } of [earpiece, button, sensor]) {
    t.match(macAddress, /^0A(:[0-9A-F]{2}){5}$/);
    t.ok(name.length > 0);
    t.notOk(others.includes(macAddress));
  }
});

t.test('the pairing flow: state, on, list, pair; then connections and disconnections are reported', async (t) => {
  await using parts = await wearable();
  const { ask, events } = parts;
  await ask('activate', activation);
  t.strictSame(await ask('getConnectivityState'), { type: 'bluetooth', enabled: false });
  t.match(await ask('pairBluetooth', pairing(earpiece) as never), { code: 'UNSUPPORTED', message: /is off/ });
  t.strictSame(await ask('listConnectivity'), { type: 'bluetooth', devices: [] });
  t.strictSame(await ask('setConnectivityState', { ...bluetooth, enabled: true }), {
    type: 'bluetooth',
    enabled: true,
  });
  t.strictSame(await ask('listConnectivity'), {
    type: 'bluetooth',
    devices: [earpiece, button, sensor].map((peer) => ({ ...peer, paired: false, connected: false })),
  });
  t.match(await ask('pairBluetooth', { macAddress: '0A:00:00:00:00:09' }), {
    code: 'INVALID_PARAMETERS',
    message: 'no Bluetooth device 0A:00:00:00:00:09 is in range',
  });
  const small = { macAddress: earpiece.macAddress.toLowerCase() };
  t.strictSame(await ask('pairBluetooth', small), { ...earpiece });
  await ask('pairBluetooth', pairing(sensor) as never);
  await ask('pairBluetooth', pairing(sensor) as never);
  t.match(await ask('listConnectivity'), {
    devices: [
      { ...earpiece, paired: true, connected: true },
      { ...button, paired: false, connected: false },
      { ...sensor, paired: true, connected: true },
    ],
  });
  await ask('setConnectivityState', { ...bluetooth, enabled: false });
  t.match(await ask('listConnectivity'), { devices: [{ name: 'Earpiece', paired: true, connected: false }, {}] });
  await ask('setConnectivityState', { ...bluetooth, enabled: true });
  await parts.broker.until(() => events().length >= 6);
  t.strictSame(events(), [
    ['bluetooth.connected', 'Earpiece'],
    ['bluetooth.connected', 'Body sensor'],
    ['bluetooth.disconnected', 'Earpiece'],
    ['bluetooth.disconnected', 'Body sensor'],
    ['bluetooth.connected', 'Earpiece'],
    ['bluetooth.connected', 'Body sensor'],
  ]);
  const kinds = parts.broker.published.map(({ kind, body }) => (kind === 'events' ? 'events' : body['transactionId']));
  t.ok(kinds.indexOf(7) < kinds.indexOf('events'), 'a pairing is answered before its peer is told of');
  for (const operation of ['getConnectivityState', 'listConnectivity']) {
    t.match(await ask(operation, { type: 'wifi' }), { code: 'INVALID_PARAMETERS' });
  }
  t.match(await ask('setConnectivityState', { ...bluetooth, enabled: 'yes' }), { code: 'INVALID_PARAMETERS' });
  t.match(await ask('pairBluetooth', { macAddress: 'earpiece' }), { code: 'INVALID_PARAMETERS' });
});

t.test('paired peers come and go; a device without an application reports nothing', async (t) => {
  await using parts = await wearable();
  const { device, ask, events } = parts;
  await ask('setConnectivityState', { ...bluetooth, enabled: true });
  await ask('pairBluetooth', pairing(button) as never);
  device.movePeer();
  await device.idle();
  t.strictSame(events(), []);
  t.strictSame(device.state.bluetooth.connected, []);
  device.rememberActivation(activation);
  device.movePeer();
  device.movePeer();
  await parts.broker.until(() => events().length >= 2);
  const name = button.name;
  t.strictSame(events(), [
    ['bluetooth.connected', name],
    ['bluetooth.disconnected', name],
  ]);
  await ask('setConnectivityState', { ...bluetooth, enabled: false });
  device.movePeer();
  t.strictSame(device.state.bluetooth.connected, [], 'nobody comes while it is off');
});

t.test('Bluetooth and language are remembered over a restart of the simulator', async (t) => {
  const folder = t.testdir();
  const journal = () => createStateFile({ folder, deviceId, bound: 10 });
  {
    await using parts = await wearable({ journal: journal() });
    await parts.ask('setConnectivityState', { ...bluetooth, enabled: true });
    await parts.ask('pairBluetooth', pairing(button) as never);
    await parts.ask('setLanguage', { lang: 'fr-CA' });
    await parts.device.idle();
  }
  await using parts = await wearable({ journal: journal() });
  t.match(parts.device.state, { lang: 'fr-CA', bluetooth: { enabled: true, paired: [button.macAddress] } });
});

t.test('an old firmware never answers the Bluetooth operations, until it is updated', async (t) => {
  await using server = await startFileServer(Buffer.alloc(1000));
  await using parts = await wearable({ equipment: { firmwareVersion: '8.900.0', managementClientVersion: '2.2.0' } });
  const { broker, device } = parts;
  const seen: string[] = [];
  device.events.on('command', (_command, reaction) => seen.push(reaction));
  broker.send(deviceId, command(1, 'getConnectivityState', bluetooth));
  broker.send(deviceId, command(2, 'setLanguage', { lang: 'ja' }));
  await broker.acksAre(1);
  broker.send(
    deviceId,
    command(3, 'updateFirmware', { package: 'com.lapel.firmware', version: '9.2.0', ...server.source() }),
  );
  await broker.until(() =>
    broker.acks.some(({ transactionId, status }) => transactionId === 3 && status === 'succeeded'),
  );
  broker.send(deviceId, command(1, 'getConnectivityState', bluetooth, 2));
  const answer = await broker.until(() => broker.acks.find(({ transactionId }) => transactionId === 1));
  t.match(answer, { status: 'succeeded', result: { enabled: false } });
  t.strictSame(seen, ['ignored', 'accepted', 'accepted', 'accepted']);
  t.match(broker.published.filter(({ kind }) => kind === 'status').at(-1)?.body, {
    firmwareVersion: '9.2.0',
    managementClientVersion: '2.3.1',
  });
});

t.test('versions are compared by their numbers', async (t) => {
  for (const [version, wanted, expected] of [
    ['9.001.0', '9.001.0', true],
    ['9.1', '9.001.0', true],
    ['9.2.0', '9.001.0', true],
    ['10.0.0', '9.001.0', true],
    ['9.000.9', '9.001.0', false],
    ['8.900.0', '9.001.0', false],
    ['2.3.0', '2.3.1', false],
    ['unknown', '2.3.1', false],
  ] as const) {
    t.equal(isAtLeast(version, wanted), expected, version);
  }
});
