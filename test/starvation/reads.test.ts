import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { useS3Credentials } from '../s3-credentials.ts';
import { until } from '../until.ts';
import { startWorld, type World } from '../world.ts';
import { openMany } from './many-sockets.ts';
import { createNeighbour } from './neighbour.ts';

const ATTACKER = '127.0.0.66';
const DEVICES = 60;

/**
 * A fleet of an application with almost 4 MiB of reported status and 18 MB of results; returns the paths that read
 * these.
 */
async function createFleet(world: World): Promise<{ statuses: string; results: string }> {
  const tenant = await world.createTenant('large', { key: false, deviceEvent: false });
  const devices = await Promise.all(Array.from({ length: DEVICES }, () => world.registerDevice('large')));
  const software = Array(900).fill({ package: 'com.example.camera', version: '1.0.0', versionCode: 1 });
  const reported = JSON.stringify({ software: { value: software, at: 0 } });
  const database = new DatabaseSync(`${world.dataDir}/lapel.db`);
  const activate = database.prepare(
    `UPDATE devices SET activation = 'activated', application_id = ? WHERE device_id = ?`,
  );
  const report = database.prepare('INSERT INTO device_status (device_id, reported, reported_at) VALUES (?, ?, 0)');
  for (const { deviceId } of devices) {
    activate.run(tenant.applicationId, deviceId);
    report.run(deviceId, reported);
  }
  const finish = database.prepare(
    `INSERT INTO transactions (device_id, application_id, operation, status, due, attempts, created_at, updated_at, result)
     VALUES (?, ?, 'setApn', 'succeeded', 0, 1, 0, 0, ?)`,
  );
  const [first] = devices;
  database.exec('BEGIN');
  for (let count = 0; count < 300; count += 1) finish.run(first!.deviceId, tenant.applicationId, reported);
  database.exec('COMMIT');
  database.close();
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  const get = (path: string): string =>
    `GET ${tenant.path}/devices/${path}?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  return { statuses: get('status'), results: get(`${first!.deviceId}/transactions`) };
}

t.test('pages of 4 MiB are made in slices, two at a time for each application', async (t) => {
  const world = await startWorld(t, { database: 'sqlite' }); // its rows are inserted into the file
  const neighbour = await createNeighbour(t, world);
  const { statuses, results } = await createFleet(world);
  const { http } = world.service.addresses;

  const reading = await openMany(t, http, 20, { from: ATTACKER, text: () => statuses.repeat(10), reads: true });
  await neighbour.works('20 connections ask for pages of 4 MiB');
  await until(() => reading.answers.some((count) => count > 1));
  let whole = 0;
  const answers = reading.received.map((text) => text.split('HTTP/1.1 ').slice(1));
  t.ok(answers.flat().length > 2, 'they are served');
  for (const [first, second] of answers) {
    if (second === undefined) continue; // it may be on its way
    whole += 1;
    t.match(first, /^200 OK\r\n/);
    const text = (first ?? '').slice((first ?? '').indexOf('{'));
    const json = text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '').replace(/\r\n0?\r\n.*$/s, '');
    const body = JSON.parse(json) as { devices: { software: object[] }[]; total: number };
    t.equal(body.devices.length + body.devices.filter(({ software }) => software.length !== 900).length, DEVICES);
  }
  t.ok(whole > 0, 'and whole');
  for (const socket of reading.sockets) socket.destroy();

  const lists = await openMany(t, http, 20, { from: ATTACKER, text: () => results.repeat(10), reads: true });
  await neighbour.works('20 connections ask for 18 MB of results');
  await until(() => lists.answers.some((count) => count > 0));
  const page = lists.received.find((text) => text !== '') ?? '';
  t.match(page.slice(0, 1000), /^HTTP\/1.1 200 .*\r\nLink: <[^>]+after=\d+/s, 'a page of them is 4 MiB');
  for (const socket of lists.sockets) socket.destroy();

  const deaf = await openMany(t, http, 100, { from: ATTACKER, text: () => statuses.repeat(8) });
  await neighbour.works('100 connections ask for pages of 4 MiB and read nothing');
  await until(async () => {
    const text = (await world.anonymousAdmin().get('/metrics')).body as string;
    return text.includes('lapel_http_refused_total{bound="costly_reads"}');
  });
  t.equal(deaf.gone(), 0);
});

t.test(
  'the service is not ready while its API has reached its limit of connections, and names the reason',
  async (t) => {
    const store = createServer(() => undefined); // never answers
    store.listen(0, '127.0.0.1');
    await once(store, 'listening');
    t.teardown(() => store.closeAllConnections());
    t.teardown(() => store.close());
    const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
    useS3Credentials();
    const env = { LAPEL_S3_ENDPOINT: endpoint, LAPEL_HTTP_MAX_CONNECTIONS: '4', LAPEL_HTTP_ADDRESS_CONNECTIONS: '4' };
    const world = await startWorld(t, { env });
    const tenant = await world.createTenant('dev', { key: false, deviceEvent: false });
    const version = { package: 'com.example.camera', version: '1.0.0' };
    await tenant.api.post(`${tenant.path}/packages`, { json: { package: version.package, displayName: 'x' } });
    const versions = `${tenant.path}/packages/${version.package}/versions`;
    await tenant.api.post(versions, { json: { version: version.version } });
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const asked = Promise.all(Array.from({ length: 4 }, () => once(store, 'request')));
    const text = `GET ${versions}/1.0.0/binaries HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const hanging = await openMany(t, world.service.addresses.http, 4, { text: () => text });
    await asked;
    const probe = await world.anonymousAdmin().get('/readyz');
    t.match(probe, { status: 503, headers: { 'retry-after': '1', 'lapel-error-code': 'NOT_READY' } });
    t.same(probe.body.problems, [{ part: 'api', reason: 'has reached its limit of connections' }]);
    for (const socket of hanging.sockets) socket.destroy();
    store.closeAllConnections();
  },
);
