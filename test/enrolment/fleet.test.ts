import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { enrolByCode } from '@lapel/device-sim/customer/enrol-by-code';
import { run } from '@lapel/device-sim/run';
import { trust } from '@lapel/device-sim/trust';
import t from 'tap';
import { createAuthority, skip } from '../broker/authority.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { startEnrolment } from './enrolment-world.ts';

t.test('a simulated fleet enrols by its code, over TLS', { skip }, async (t) => {
  const before = getCACertificates('default');
  t.teardown(() => setDefaultCACertificates(before));
  const folder = t.testdir({ data: {}, tls: {} });
  const authority = createAuthority(join(folder, 'tls'), 'site');
  const { certFile, keyFile } = authority.sign('server');
  trust(authority.ca);
  const world = await startWorld(t, {
    dataDir: join(folder, 'data'),
    env: {
      LAPEL_HTTP_TLS_CERT: certFile,
      LAPEL_HTTP_TLS_KEY: keyFile,
      LAPEL_TLS_CERT: certFile,
      LAPEL_TLS_KEY: keyFile,
      LAPEL_MQTTS_PORT: '0',
    },
  });
  const { http: api, admin: adminUrl, mqtts = '' } = world.service.addresses;
  const { admin, batch } = await startEnrolment(world);

  await t.test('a thousand devices get a thousand credentials, and some of them connect', async (t) => {
    const { code, batchId } = await batch({ mostDevices: 1000 });
    const deviceIds = Array.from({ length: 1000 }, (_, at) => deviceIdOf(10_000 + at));
    const credentials = await enrolByCode({ api, code }, deviceIds);
    t.equal(new Set(credentials.values()).size, 1000);
    t.match((await admin.get(`/admin/v1/enrolment-batches/${batchId}`)).body, { enrolled: 1000 });
    for (const deviceId of deviceIds.slice(0, 10))
      await world.connect({ deviceId, credential: credentials.get(deviceId) ?? '' });
    t.same(await enrolByCode({ api, code }, [deviceIdOf(20_000)]), new Map(), 'one more is refused');
  });

  async function play(code: string, more = '') {
    const line = `--mqtt ${mqtts} --api ${api} --admin ${adminUrl} --admin-token ${world.service.adminToken}`;
    const read = readCommandLine(
      `${line} --enrol ${code} --developer dev --duration 0.1 ${more}`.trim().split(' '),
      {},
    );
    if (read.do !== 'run') throw new Error('this is no run');
    return run(read.settings, { stopped: new AbortController().signal, stream: { write: () => {} } });
  }

  await t.test('the devices of a run enrol with --enrol, connect, and are known to the next run', async (t) => {
    const { code, batchId } = await batch();
    const first = await play(code, '--count 3');
    t.equal(first.record.chapters[0]?.fleet['connections'], 3);
    const { devices } = (await admin.get(`/admin/v1/enrolment-batches/${batchId}/devices`)).body;
    t.equal(devices.length, 3);
    const again = await play(code, '--count 3');
    t.equal(again.record.chapters[0]?.fleet['connections'], 3);
    await t.rejects(play('x'.repeat(43), '--count 3 --run other'), { message: /--enrol.*refuses to enrol device/ });
    const foreign = await batch({}, 'other');
    await t.rejects(play(foreign.code, '--count 1 --run third'), { message: /--enrol.*use --developer other/ });
  });

  await t.test('a run whose devices wait for a person says so, and goes on after the approval', async (t) => {
    const { code, batchId } = await batch({ approval: 'manual' });
    const more = '--count 2 --run manual';
    await t.rejects(play(code, more), { message: /2 devices wait for a person/ });
    const { devices } = (await admin.get(`/admin/v1/enrolment-batches/${batchId}/devices?state=pending`)).body;
    for (const { deviceId } of devices)
      await admin.post(`/admin/v1/enrolment-batches/${batchId}/devices/${deviceId}/approve`);
    t.equal((await play(code, more)).record.chapters[0]?.fleet['connections'], 2);
  });
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

t.test('the code goes over a private way only', async (t) => {
  const world = await startWorld(t, {
    env: { LAPEL_HTTP_HOST: '0.0.0.0', LAPEL_ALLOW_PLAIN_HTTP: 'true', LAPEL_TRUST_PROXY: '127.0.0.2' },
  });
  const { admin, batch } = await startEnrolment(world);
  const { code } = await batch();
  const { port } = new URL(world.service.addresses.http);
  let number = 5000;
  async function asked(host: string, headers: Record<string, string> = {}): Promise<number> {
    number += 1;
    const json = { deviceId: deviceIdOf(number), code, nonce: 'a secret that the device keeps' };
    const answer = await fetch(`http://${host}:${port}/v1/enrolments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(json),
    });
    await answer.arrayBuffer();
    if (answer.status === 403) t.equal(answer.headers.get('lapel-error-code'), 'ENROLMENT_INSECURE');
    return answer.status;
  }
  t.equal(await asked('127.0.0.1'), 201, 'on the machine itself');
  t.equal(await asked('127.0.0.1', { 'x-forwarded-proto': 'http' }), 201, 'nobody believes a header of no proxy');
  if (outside !== undefined) t.equal(await asked(outside), 403, 'without TLS from outside');
  if (outside !== undefined)
    t.equal(await asked(outside, { 'x-forwarded-proto': 'https', forwarded: 'proto=https' }), 403, 'whatever it says');
  t.equal((await admin.get(`/admin/v1/devices/${deviceIdOf(5003)}`)).status, 404);
});

t.test('behind a trusted proxy, the proxy says whether its client came over TLS', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_TRUST_PROXY: 'loopback' } });
  const { batch } = await startEnrolment(world);
  const { code } = await batch();
  const anonymous = world.anonymous();
  const asked = (at: number, scheme?: string) =>
    anonymous.post('/v1/enrolments', {
      json: { deviceId: deviceIdOf(at), code, nonce: 'a secret that the device keeps' },
      headers: { 'x-forwarded-for': '192.0.2.7', ...(scheme && { 'x-forwarded-proto': scheme }) },
    });
  t.equal((await asked(1, 'https')).status, 201);
  t.equal((await asked(2)).status, 403, 'a proxy that says nothing is not believed to end TLS');
  t.match(await asked(3, 'http'), { status: 403, headers: { 'lapel-error-code': 'ENROLMENT_INSECURE' } });
  t.equal((await asked(4, 'https, http')).status, 403, 'one of several proxies without TLS is enough');
  t.equal((await asked(5, 'https, https')).status, 201);
  const said: [Record<string, string>, number][] = [
    [{ forwarded: 'for=192.0.2.7;proto=https' }, 201],
    [{ forwarded: 'for=192.0.2.7;Proto="HTTPS", for=10.0.0.1' }, 201],
    [{ forwarded: 'for=192.0.2.7;proto=http' }, 403],
    [{ forwarded: 'for=192.0.2.7' }, 403],
    [{ 'x-forwarded-proto': 'https', forwarded: 'for=192.0.2.7;proto=http' }, 403],
    [{ 'x-forwarded-proto': '' }, 403],
    [{ 'x-forwarded-proto': 'ws' }, 403],
    [{ 'x-forwarded-ssl': 'on' }, 201],
    [{ 'x-forwarded-ssl': 'off' }, 403],
    [{ 'x-forwarded-scheme': 'http', 'x-forwarded-proto': 'https' }, 403],
  ];
  for (const [index, [headers, status]] of said.entries()) {
    const json = { deviceId: deviceIdOf(10 + index), code, nonce: 'a secret that the device keeps' };
    t.equal((await anonymous.post('/v1/enrolments', { json, headers })).status, status, JSON.stringify(headers));
  }
});

t.test('a developer who floods with a good code gets 429, and another one is served', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_ENROLMENT_RATE_LIMIT: '2', LAPEL_FAILED_LOGIN_LIMIT: '5' } });
  const { batch, ask, refusal } = await startEnrolment(world);
  const [loud, second, other] = [await batch(), await batch(), await batch({}, 'other')];
  const statuses: number[] = [];
  for (let at = 0; at < 6; at += 1) statuses.push((await ask({ deviceId: deviceIdOf(at), code: loud.code })).status);
  t.same(statuses, [201, 201, 201, 201, 429, 429], 'the limit of one batch');
  t.equal(await refusal('rate_limited'), 2);
  t.equal((await ask({ deviceId: deviceIdOf(10), code: second.code })).status, 201, 'another batch of the developer');
  t.equal((await ask({ deviceId: deviceIdOf(11), code: other.code })).status, 201, 'another developer');

  const slowed = async (): Promise<number> => {
    const refused = await world.service.metrics.httpRefused.get();
    return refused.values.find(({ labels }) => labels['bound'] === 'login_failures')?.value ?? 0;
  };
  // Guesses count for their address, and only they are slowed down.
  const guess = () => ask({ deviceId: deviceIdOf(12), code: 'x'.repeat(43) });
  for (let at = 0; at < 10; at += 1) t.equal((await guess()).status, 403);
  const slow = guess();
  t.equal((await ask({ deviceId: deviceIdOf(13), code: other.code })).status, 201, 'a good code from the same address');
  await until(async () => (await slowed()) > 0);
  world.clock.advance(1_000);
  t.equal((await slow).status, 429);
});
