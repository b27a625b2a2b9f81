import { once } from 'node:events';
import { createChances } from '@lapel/device-sim/faults/chances';
import type { FaultRule } from '@lapel/device-sim/faults/fault';
import { createDevice, type DeviceOptions } from '@lapel/device-sim/model/device';
import { createStateFile } from '@lapel/device-sim/model/state-file';
import type { Timers } from '@lapel/device-sim/timers';
import { systemTimers } from '@lapel/device-sim/timers';
import t, { type Test } from 'tap';
import { command, startBroker, wifi } from '../plain-broker.ts';

const deviceId = '350000000000001';
/** So many real milliseconds are a second of the devices. */
const SECOND = 20;
const quick: Timers = {
  now: () => (systemTimers.now() * 1000) / SECOND,
  after: (milliseconds, task) => systemTimers.after((milliseconds * SECOND) / 1000, task),
};
const tried = (ssid: string, revertAfter: number) => ({ ...wifi(ssid), revertAfter });
const REVERTED = { status: 'failed', error: { code: 'REVERTED' } };

async function ring(t: Test, faults: readonly FaultRule[] = [], options: Partial<DeviceOptions> = {}) {
  const broker = await startBroker();
  const device = createDevice({
    deviceId,
    credential: 'secret',
    url: broker.url,
    timers: quick,
    chances: createChances({ seed: 1, device: 0, rules: faults }),
    ...options,
  });
  t.teardown(async () => {
    await device[Symbol.asyncDispose]();
    await broker[Symbol.asyncDispose]();
  });
  await device.connect();
  const order: string[] = [];
  for (const name of ['online', 'offline', 'answer'] as const) device.events.on(name, () => order.push(name));
  return { broker, device, order };
}

const loses = (more: Partial<FaultRule> = {}): FaultRule => ({
  fault: 'loses-its-wifi',
  probability: 1,
  delay: { min: 600_000, max: 600_000 },
  ...more,
});

t.test('with a good list the device answers only over a new connection', async (t) => {
  const { broker, device, order } = await ring(t);
  broker.send(deviceId, command(1, 'setWifi', tried('office', 600)));
  await broker.acksAre(1);
  t.strictSame(order, ['offline', 'online', 'answer']);
  t.match(broker.acks, [{ transactionId: 1, status: 'succeeded' }]);
  t.match(device.state, { networks: [{ ssid: 'office' }], trial: undefined });
});

t.test('commands that come after it wait, and a cancel of it comes too late', async (t) => {
  const { broker, device } = await ring(t);
  const first = command(1, 'setWifi', tried('office', 600));
  broker.send(deviceId, first);
  broker.send(deviceId, command(2, 'setWifi', tried('depot', 600)));
  broker.send(deviceId, { ...first, operation: 'cancel', parameters: {} });
  broker.send(deviceId, command(3, 'setLanguage', { lang: 'ja' }));
  await broker.acksAre(3);
  t.strictSame(
    broker.acks.map(({ transactionId, status }) => `${transactionId} ${status}`),
    ['1 succeeded', '2 succeeded', '3 succeeded'],
  );
  t.match(device.state.networks, [{ ssid: 'depot' }]);
});

t.test('with a list that leads nowhere the device is back with its former one after the time', async (t) => {
  const { broker, device, order } = await ring(t, [loses({ operations: ['setWifi'] })]);
  broker.send(deviceId, command(1, 'setApn', { apns: [{ name: 'a', apn: 'b' }] }));
  await broker.acksAre(1);
  order.length = 0;
  broker.send(deviceId, command(2, 'setWifi', tried('nowhere', 60)));
  await once(device.events, 'offline');
  t.match(device.state, { networks: [{ ssid: 'nowhere' }], trial: { former: { networks: [] } } });
  await broker.acksAre(2);
  t.match(broker.acks[1], { transactionId: 2, ...REVERTED });
  t.strictSame(device.state.networks, []);
  t.equal(order.at(-1), 'online');
  await device.idle();
  t.equal(device.outstanding, 0);
  broker.send(deviceId, command(2, 'setWifi', tried('nowhere', 60), 2));
  await broker.acksAre(3);
  t.match(broker.acks[2], { transactionId: 2, ...REVERTED }, 'a repetition gets the same answer');
  t.equal(device.executions.get(2), 1);
});

t.test('without the time such a device has answered that it succeeded, and is away', async (t) => {
  const { broker, device } = await ring(t, [loses({ delay: { min: 30_000, max: 30_000 } })]);
  // Both are awaited from the beginning: on a busy machine the device is back before the test has seen the answer.
  const wentAndCame = once(device.events, 'offline').then(() => once(device.events, 'online'));
  broker.send(deviceId, command(1, 'setWifi', wifi('nowhere')));
  await broker.acksAre(1);
  t.match(broker.acks, [{ status: 'succeeded' }]);
  t.match(device.state.networks, [{ ssid: 'nowhere' }]);
  await wentAndCame;
});

t.test('a device that restarts while it tries a list counts anew, and then goes back or keeps it', async (t) => {
  const folder = t.testdir();
  const journal = () => createStateFile({ folder, deviceId, bound: 10 });
  const { broker, device } = await ring(t, [loses()], { journal: journal() });
  broker.send(deviceId, command(1, 'setWifi', tried('nowhere', 60)));
  await once(device.events, 'offline');
  await device[Symbol.asyncDispose]();
  const start = (revertAfter: number) => {
    const memory = { ...journal().memory! };
    const { trial } = memory.state;
    t.match(trial, { transactionId: 1, former: { networks: [] } });
    const state = { ...memory.state, trial: { ...trial!, revertAfter } };
    const kept = { memory: { ...memory, state }, record: () => {} };
    return createDevice({ deviceId, credential: 'secret', url: broker.url, timers: quick, journal: kept });
  };
  {
    await using back = start(1);
    await once(back.events, 'answer');
    t.strictSame(back.state.networks, []);
    await back.connect();
    await broker.acksAre(1);
    t.match(broker.acks[0], { transactionId: 1, ...REVERTED });
  }
  await using kept = start(600);
  await kept.connect();
  await broker.acksAre(2);
  t.match(broker.acks[1], { transactionId: 1, status: 'succeeded' });
  t.match(kept.state.networks, [{ ssid: 'nowhere' }]);
});

t.test('a device that restarts again and again while it tries a list goes back at the fifth restart', async (t) => {
  const folder = t.testdir();
  const journal = () => createStateFile({ folder, deviceId, bound: 10 });
  const { broker, device } = await ring(t, [loses()], { journal: journal() });
  broker.send(deviceId, command(1, 'setWifi', tried('nowhere', 3600)));
  await once(device.events, 'offline');
  await device[Symbol.asyncDispose]();
  const start = () =>
    createDevice({ deviceId, credential: 'secret', url: broker.url, timers: quick, journal: journal() });
  for (let restarts = 1; restarts < 5; restarts += 1) {
    await using again = start();
    t.match(again.state, { networks: [{ ssid: 'nowhere' }], trial: { restarts } });
  }
  await using last = start();
  await once(last.events, 'answer');
  t.strictSame(last.state.networks, []);
  await last.connect();
  await broker.acksAre(1);
  t.match(broker.acks, [{ transactionId: 1, ...REVERTED }]);
});
