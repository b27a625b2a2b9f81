import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
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
  const logins = [];
  for (const device of devices) {
    logins.push(device.login());
    await turn(); // so the stop finds logins in each of their phases
  }
  await logins[5];
  await turn();
  standStill(1_600);
  for (const [index, login] of logins.entries()) {
    t.equal((await login).returnCode, 0);
    devices[index]!.send({ cmd: 'pingreq' });
    await devices[index]!.next('pingresp');
  }
});
