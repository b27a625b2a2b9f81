import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { RawDevice } from '../raw-device.ts';
import { startWorld } from '../world.ts';

/** Stops this process, and the service with it, like a machine that is suspended. */
const standStill = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

t.test('a process that stood still reads what came meanwhile before it ends a connection for silence', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.registerDevice();
  const topic = `devices/${device.deviceId}/status`;
  const connect = { keepalive: 1, will: { topic, payload: '{"lang":"ja"}', qos: 1, retain: false } };
  const link = await world.connect({ ...device, connect });
  for (let round = 0; round < 3; round += 1) {
    link.send({ cmd: 'pingreq' }); // it lies in the socket of the service
    standStill(1_600);
    await link.next('pingresp');
  }
  await world.idle();
  t.ok(world.service.isConnected(device.deviceId));
  // A device that is really silent is still thrown out.
  const silent = await world.connect({
    ...(await world.registerDevice(tenant.developerId)),
    connect: { keepalive: 1 },
  });
  await silent.closed;
});

t.test('a process that stands still ends no login in the middle', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const devices = [];
  for (let n = 0; n < 40; n += 1) {
    const device = await world.registerDevice();
    const will = { topic: `devices/${device.deviceId}/status`, payload: '{"lang":"ja"}', qos: 1, retain: false };
    devices.push(await world.open({ ...device, connect: { keepalive: 1, will } }));
  }
  const logins: ReturnType<RawDevice['login']>[] = [];
  const heard: Promise<unknown>[] = [];
  for (const device of devices) {
    const login = device.login();
    logins.push(login);
    // Each pings as soon as it is let in: on a busy machine the last one would be silent for too long if they took turns.
    const ping = login.then(() => device.send({ cmd: 'pingreq' }));
    heard.push(ping.then(() => device.next('pingresp')));
    await turn(); // so the stop finds logins in each of their phases
  }
  await logins[5];
  await turn();
  standStill(1_600);
  for (const { returnCode } of await Promise.all(logins)) t.equal(returnCode, 0);
  await Promise.all(heard);
});
