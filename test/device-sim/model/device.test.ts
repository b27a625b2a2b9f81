import { once } from 'node:events';
import type { Behaviour } from '@lapel/device-sim/model/behaviour';
import { createDevice, type DeviceOptions } from '@lapel/device-sim/model/device';
import { createStateFile } from '@lapel/device-sim/model/state-file';
import { createLink } from '@lapel/device-sim/mqtt/mqtt-link';
import { createPackageLink } from '@lapel/device-sim/mqtt/package-link';
import t from 'tap';
import { command, startBroker, wifi } from '../plain-broker.ts';

const apns = { apns: [{ name: 'a', apn: 'b' }] };

const deviceId = '350000000000001';

async function ring(options: Partial<DeviceOptions> & { behaviour?: Partial<Behaviour> } = {}) {
  const broker = await startBroker();
  const device = createDevice({ deviceId, credential: 'secret', url: broker.url, ...options });
  return {
    broker,
    device,
    async [Symbol.asyncDispose]() {
      await device[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
    },
  };
}

t.test('a command is executed and answered with one message when the latency is 0', async (t) => {
  await using parts = await ring();
  const { broker, device } = parts;
  await device.connect();
  broker.send(deviceId, command(1, 'setWifi', wifi('office')));
  await once(device.events, 'acknowledged');
  t.match(device.state.networks, [{ ssid: 'office', security: 'WPA2' }]);
  t.strictSame(broker.acks, [{ deviceId, transactionId: 1, status: 'succeeded' }]);
});

t.test('a command repeated after a reconnect is executed once and answered twice', async (t) => {
  await using parts = await ring();
  const { broker, device } = parts;
  await device.connect();
  broker.send(deviceId, command(7, 'setWifi', wifi('office')));
  await once(device.events, 'acknowledged');
  await device.disconnect();
  await device.connect();
  broker.send(deviceId, command(7, 'setWifi', wifi('office'), 2));
  const [answer, repeated] = await once(device.events, 'answer');
  await device.idle();
  t.equal(repeated, true);
  t.strictSame(answer, { transactionId: 7, status: 'succeeded' });
  t.equal(device.executions.get(7), 1);
  // Aedes itself delivers it twice if it is published while the offline queue is read; the answer is the same.
  const [first, second] = await broker.acksAre(2);
  t.strictSame(first, second);
});

t.test('answers are remembered over a restart of the simulator', async (t) => {
  const folder = t.testdir();
  await using broker = await startBroker();
  const start = () =>
    createDevice({
      deviceId,
      credential: 'secret',
      url: broker.url,
      behaviour: { failureRate: 1 },
      journal: createStateFile({ folder, deviceId, bound: 10 }),
    });
  {
    await using device = start();
    await device.connect();
    broker.send(deviceId, command(1, 'setWifi', wifi('office')));
    await once(device.events, 'acknowledged');
  }
  await using device = start();
  await device.connect();
  broker.send(deviceId, command(1, 'setWifi', wifi('office'), 2));
  await once(device.events, 'acknowledged');
  t.equal(device.executions.size, 0, 'not executed again');
  t.strictSame(broker.acks[0], broker.acks[1]);
  t.match(broker.acks[1], { status: 'failed', error: { code: 'INTERNAL' } });
});

t.test('it subscribes to its three topics at every login, also while the session is present', async (t) => {
  await using parts = await ring();
  const { broker, device } = parts;
  await device.connect();
  await device.disconnect();
  const [[sessionPresent]] = await Promise.all([once(device.events, 'online'), device.connect()]);
  t.equal(sessionPresent, true);
  const three = ['commands', 'responses', 'errors'].map((topic) => `devices/${deviceId}/${topic}`);
  t.strictSame(broker.subscriptions, [...three, ...three]);
});

t.test('a clean session subscribes on each connection', async (t) => {
  await using parts = await ring({ clean: true });
  const { broker, device } = parts;
  await device.connect();
  await device.disconnect();
  await device.connect();
  t.equal(broker.subscriptions.length, 6);
});

t.test('a lost connection is restored, and an answer from meanwhile is sent then', async (t) => {
  await using parts = await ring({ behaviour: { latency: { min: 30, max: 30 } }, reconnect: { min: 60, max: 60 } });
  const { broker, device } = parts;
  await device.connect();
  broker.send(deviceId, command(1, 'setWifi', wifi('office')));
  await once(device.events, 'command');
  const offline = once(device.events, 'offline');
  for (const socket of broker.sockets) socket.destroy();
  const [, expected] = await offline;
  t.equal(expected, false);
  await once(device.events, 'acknowledged');
  t.match(broker.acks[0], { transactionId: 1, status: 'succeeded' });
  t.equal(device.executions.get(1), 1);
});

t.test(
  'an answer whose acknowledgement was lost is sent again, marked as duplicate, on the next connection',
  async (t) => {
    await using parts = await ring({ reportStatus: false });
    const { broker, device } = parts;
    const seen: boolean[] = [];
    broker.broker.authorizePublish = (client, packet, done) => {
      seen.push(packet.dup);
      // The first time, the connection breaks before the PUBACK.
      if (seen.length > 1) return done(null);
      client?.close();
      done(new Error('cut'));
    };
    await device.connect();
    const offline = once(device.events, 'offline');
    broker.send(deviceId, command(1, 'setApn', apns));
    await offline;
    await once(device.events, 'acknowledged');
    t.strictSame(seen, [false, true]);
    t.equal(broker.acks.length, 1);
  },
);

t.test('a disconnect waits for the acknowledgement of sent answers', async (t) => {
  await using parts = await ring({ reportStatus: false });
  const { broker, device } = parts;
  await device.connect();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    broker.broker.authorizePublish = (_client, _packet, done) => {
      release = () => done(null);
      resolve();
    };
  });
  broker.send(deviceId, command(1, 'setApn', apns));
  await held;
  const gone = device.disconnect();
  t.equal(device.online, true);
  release();
  await gone;
  t.equal(device.outstanding, 0);
  t.equal(device.online, false);
});

t.test('processing is reported before the answer, if configured', async (t) => {
  await using parts = await ring({ behaviour: { reportProcessing: true } });
  const { broker, device } = parts;
  await device.connect();
  broker.send(deviceId, command(1, 'setApn', apns));
  await device.idle();
  const acks = await broker.acksAre(2);
  t.strictSame(
    acks.map(({ status }) => status),
    ['processing', 'succeeded'],
  );
});

t.test('a cancelled execution never answers, and later commands continue', async (t) => {
  await using parts = await ring({ behaviour: { latency: { min: 50, max: 50 } } });
  const { broker, device } = parts;
  await device.connect();
  broker.send(deviceId, command(1, 'setWifi', wifi('one')));
  broker.send(deviceId, command(2, 'setWifi', wifi('two')));
  broker.send(deviceId, command(1, 'cancel'));
  await once(device.events, 'acknowledged');
  t.strictSame(
    broker.acks.map(({ transactionId }) => transactionId),
    [2],
  );
  t.equal(device.outstanding, 0);
});

t.test('a device that repeats itself sends the same answer twice', async (t) => {
  await using parts = await ring({ behaviour: { duplicateAckRate: 1 } });
  const { broker, device } = parts;
  await device.connect();
  broker.send(deviceId, command(1, 'setWifi', wifi('office')));
  await device.idle();
  const [first, second] = await broker.acksAre(2);
  t.strictSame(first, second);
});

t.test('breaches of the contract by the service are reported', async (t) => {
  await using parts = await ring();
  const { broker, device } = parts;
  const faults: string[] = [];
  device.events.on('violation', (fault) => faults.push(fault));
  await device.connect();
  broker.send(deviceId, { transactionId: 'one', operation: 'setWifi' });
  broker.send(deviceId, command(5, 'setWifi', wifi('office')));
  broker.send(deviceId, command(4, 'setWifi', wifi('office')));
  broker.send(deviceId, command(5, 'setWifi', wifi('office')));
  broker.send(deviceId, { topic: 'acks', reason: 'invalid request.', details: [] }, 'errors');
  const [complaint] = await once(device.events, 'complaint');
  t.equal(complaint.reason, 'invalid request.');
  t.strictSame(faults, [
    'an unreadable command: transactionId is not a positive integer',
    'command 4 came after command 5',
    'command 5 came again with attempt 1, after attempt 1',
  ]);
});

for (const [client, link] of [
  ['lean', createLink],
  ['mqtt', createPackageLink],
] as const) {
  t.test(`a message on a topic that is not its own is a violation that names it (${client})`, async (t) => {
    await using parts = await ring({ createLink: link });
    const { broker, device } = parts;
    await device.connect();
    const [client] = broker.clients();
    const violation = once(device.events, 'violation');
    const payload = Buffer.from(JSON.stringify(command(5, 'setWifi', wifi('office'))));
    const topic = 'devices/350000000000002/commands';
    client?.publish({ cmd: 'publish', topic, payload, qos: 1, retain: false, dup: false } as never, () => {});
    t.strictSame(await violation, [`a message came on ${topic}, which is not a topic of device ${deviceId}`]);
    t.equal(device.executions.size, 0);
  });
}

t.test('a refused credential is an error at once, however many attempts are allowed', async (t) => {
  await using broker = await startBroker({ password: 'right' });
  await using device = createDevice({ deviceId, credential: 'wrong', url: broker.url, connectAttempts: 100 });
  await t.rejects(device.connect(), { message: 'cannot connect: Connection refused: Bad username or password' });
});

t.test('a closed port is an error after the attempts allowed', async (t) => {
  const broker = await startBroker();
  await broker[Symbol.asyncDispose]();
  await using device = createDevice({
    deviceId,
    credential: 'secret',
    url: broker.url,
    connectAttempts: 3,
    reconnect: { min: 1, max: 1 },
  });
  await t.rejects(device.connect(), { message: /^cannot connect: .*ECONNREFUSED/ });
});
