import { setTimeout as pause } from 'node:timers/promises';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import t, { type Test } from 'tap';
import { openRawDevice } from '../raw-device.ts';
import { ADMIN_TOKEN, startProcess } from './service-process.ts';

const DEVICES = 60;
/**
 * Seconds; a connection ends after one and a half of them without a packet [MQTT-3.1.2-24]. The devices share their process
 * with other tests, and may be late by seconds themselves.
 */
const KEEP_ALIVE = 5;

/** A device whose will changes its status, logged in; it pings in good time until the test ends. */
async function connect(t: Test, url: string, device: { deviceId: string; credential: string }) {
  const topic = `devices/${device.deviceId}/status`;
  const will = { topic, payload: '{"lang":"ja"}', qos: 1, retain: false };
  const link = await openRawDevice({ url, ...device, connect: { keepalive: KEEP_ALIVE, will } });
  let sent = 0;
  let answered = 0;
  const ping = (): void => {
    link.send({ cmd: 'pingreq' });
    sent += 1;
  };
  await link.login();
  const pings = setInterval(ping, KEEP_ALIVE * 400);
  t.teardown(() => {
    clearInterval(pings);
    link.socket.destroy();
  });
  return {
    deviceId: device.deviceId,
    /** Resolves when all pings until now have their answer. Rejects when the connection ends. */
    async ponged(): Promise<void> {
      for (const wanted = sent; answered < wanted; answered += 1) await link.next('pingresp');
    },
  };
}

t.test('a process that was stopped longer than a keep-alive throws out no device, and tells no will', async (t) => {
  const service = await startProcess(t, { LAPEL_DATA_DIR: t.testdir() });
  const admin = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const init = body ? { method, headers, body: JSON.stringify(body) } : { method, headers };
    const answer = await fetch(`${service.addresses.admin}${path}`, init);
    return JSON.parse(await answer.text());
  };
  await admin('POST', '/admin/v1/developers', { developerId: 'dev', name: 'dev', deviceLimit: DEVICES });
  const devices = [];
  for (let number = 0; number < DEVICES; number += 1)
    devices.push(await admin('POST', '/admin/v1/developers/dev/devices', { deviceId: deviceIdFor(0, number) }));
  const links = await Promise.all(devices.map((device) => connect(t, service.addresses.mqtt, device)));
  await Promise.all(links.map((link) => link.ponged()));

  service.signal('SIGSTOP');
  await pause(KEEP_ALIVE * 1_800); // the packets of the devices lie in the sockets of the service
  service.signal('SIGCONT');

  const ponged = await Promise.allSettled(links.map((link) => link.ponged()));
  t.equal(ponged.filter(({ status }) => status === 'fulfilled').length, DEVICES);
  const connected = [];
  for (const { deviceId } of links)
    connected.push((await admin('GET', `/admin/v1/devices/${deviceId}/connection`)).connected);
  t.same(new Set(connected), new Set([true]));
  const metrics = await (await fetch(`${service.addresses.admin}/metrics`)).text();
  t.notMatch(metrics, /lapel_mqtt_messages_total\{topic="status"\} [1-9]/, 'a will would be a status');
});
