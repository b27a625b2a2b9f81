import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { run } from '@lapel/device-sim/run';
import t from 'tap';
import { skip } from '../broker/authority.ts';
import { startSecured } from '../broker/secured-world.ts';

/** Plays a command line; the output of the run is dropped. */
async function play(line: string) {
  const read = readCommandLine(line.split(' '), {});
  if (read.do !== 'run') throw new Error('this is no run');
  return run(read.settings, { stopped: new AbortController().signal, stream: { write: () => {} } });
}

t.test('devices log in with their client certificates at a service of a private CA', { skip }, async (t) => {
  const { world, folder, authority, mqtts, mqttWs } = await startSecured(t);
  const before = getCACertificates('default');
  t.teardown(() => setDefaultCACertificates(before));
  await world.createTenant();
  const { deviceId } = await world.registerDevice();
  const certificates = join(folder, 'certificates');
  mkdirSync(certificates);
  const devices = join(folder, 'devices.ndjson');
  writeFileSync(devices, `${JSON.stringify({ deviceId, credential: 'a wrong credential' })}\n`);
  const line = `--devices ${devices} --count 1 --duration 0.1`;

  await t.rejects(play(`${line} --mqtt ${mqtts} --ca ${join(folder, 'nothing.pem')}`), { message: /^--ca.*ENOENT/ });
  const trusted = `${line} --ca ${authority.ca} --certificates ${certificates}`;
  await t.rejects(play(`${trusted} --mqtt ${mqtts}`), { message: /--certificates.* has no certificate of a device/ });
  const { certFile, keyFile } = authority.sign(deviceId);
  copyFileSync(certFile, join(certificates, `${deviceId}.pem`));
  writeFileSync(join(certificates, `${deviceId}.key`), 'no key');
  await t.rejects(play(`${trusted} --mqtt ${mqtts}`), { message: /--certificates.*cannot be used/ });
  copyFileSync(keyFile, join(certificates, `${deviceId}.key`));
  await t.rejects(play(`${trusted} --mqtt ${world.service.addresses.mqtt}`), {
    message: /because certificates need TLS/,
  });

  for (const [url, client] of [
    [mqtts, 'lean'],
    [mqttWs, 'lean'],
    [mqtts, 'mqtt'],
  ]) {
    const { record } = await play(`${trusted} --mqtt ${url} --client ${client}`);
    t.equal(record.chapters[0]?.fleet['connections'], 1, `${client} at ${url}`);
  }

  const { cert, key } = authority.sign('server', 'http');
  const server = createServer({ cert, key }, (_, response) => response.end('trusted')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`https://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  t.equal(await answer.text(), 'trusted', 'for HTTP as well');
});
