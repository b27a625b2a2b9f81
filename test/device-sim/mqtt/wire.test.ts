import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createDevice } from '@lapel/device-sim/model/device';
import { wireTo } from '@lapel/device-sim/mqtt/wire';
import { startRelay } from '@lapel/device-sim/relay/relay';
import { systemTimers } from '@lapel/device-sim/timers';
import t, { type Test } from 'tap';
import { createAuthority, skip } from '../../broker/authority.ts';
import { startSecured } from '../../broker/secured-world.ts';
import { deviceIdOf, startWorld, transactionIdOf, type World } from '../../world.ts';

/** Devices connect by these URLs, are activated, lose their connections, come back and leave. */
async function goThrough(t: Test, world: World, urls: readonly string[]): Promise<void> {
  const tenant = await world.createTenant();
  for (const url of urls) {
    const { deviceId, credential } = await world.registerDevice();
    await using device = createDevice({ deviceId, credential, url });
    await device.connect();
    const acknowledged = once(device.events, 'acknowledged');
    const transactionId = transactionIdOf(await tenant.api.post(`${tenant.path}/devices/${deviceId}`, { json: {} }));
    t.match(await acknowledged, [{ transactionId, status: 'succeeded' }]);
    await device.drop();
    const [[sessionPresent]] = await Promise.all([once(device.events, 'online'), device.connect()]);
    t.equal(sessionPresent, true);
    await device.disconnect();
    t.equal(device.online, false);
  }
  await world.idle();
}

t.test('devices connect over TLS, and over WebSocket over TLS, to a trusted service', { skip }, async (t) => {
  const { world, folder, ca, mqtts, mqttWs } = await startSecured(t);
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, ca.toString()]);
  t.teardown(() => setDefaultCACertificates(before));
  const relay = await startRelay({
    listen: { host: '127.0.0.1', port: 0 },
    serviceUrl: mqtts,
    recorder: { connected: () => {}, disconnected: () => {}, message: () => {}, close: () => '' },
    timers: systemTimers,
    onUnreachable: (error) => t.fail(error.message),
  });
  t.teardown(() => relay[Symbol.asyncDispose]());
  await goThrough(t, world, [mqtts, mqttWs, `mqtt://127.0.0.1:${relay.port}`]);
  t.match(relay.counts, { devices: 1, connections: 2 }, 'the simulator passes connections on over TLS as well');

  const { cert, key } = createAuthority(join(folder, 'tls'), 'stranger').sign('server');
  const stranger = createServer({ cert, key }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  const { port } = stranger.address() as AddressInfo;
  for (const url of [`mqtts://127.0.0.1:${port}`, `wss://127.0.0.1:${port}`]) {
    const device = createDevice({ deviceId: deviceIdOf(9), credential: 'secret', url });
    await t.rejects(device.connect(), { message: /^cannot connect: .*certificate/ });
  }
  stranger.close();
});

t.test('devices connect over plain MQTT and WebSocket', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_MQTT_WS_PORT: '0' } });
  const { mqtt, mqttWs = '' } = world.service.addresses;
  t.match(mqttWs, /^ws:/);
  const byName = [mqtt, mqttWs].map((url) => url.replace('127.0.0.1', 'localhost'));
  await goThrough(t, world, [mqtt, ...byName]);
});

t.test('another URL is refused at once', async (t) => {
  t.throws(() => wireTo('http://127.0.0.1:1883'), { message: /is not an mqtt:, mqtts:, ws: or wss: URL/ });
});
