import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import t from 'tap';
import { Agent, request } from 'undici';
import { createMetrics } from '../../src/metrics.ts';
import { createExpiryWatch } from '../../src/platform/entrance/expiry-watch.ts';
import { createAuthority, skip } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { runMain, startProcess } from '../flow/service-process.ts';
import { openRawDevice } from '../raw-device.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { keptLog } from './log-lines.ts';
import { addressesOf, binaryHeader } from './proxy-headers.ts';
import { startRelay, through } from './relay.ts';

const DAY = 86_400_000;

t.test('API, administration and objects with TLS of their own', { skip }, async (t) => {
  const { log, lines } = keptLog();
  const folder = t.testdir({ data: {}, tls: {} });
  const tls = (...names: string[]): string => join(folder, 'tls', ...names);
  const authority = createAuthority(tls(), 'site');
  const [first, second, third] = ['first', 'second', 'third'].map((name) => authority.sign(name, name, 90));
  const ca = readFileSync(authority.ca);
  /** Puts a certificate where the settings look for it, as Kubernetes does: a link leads to a folder of files. */
  let folders = 0;
  function place({ certFile, keyFile }: { certFile: string; keyFile: string }): void {
    folders += 1;
    mkdirSync(tls(`data-${folders}`));
    copyFileSync(certFile, tls(`data-${folders}`, 'tls.crt'));
    copyFileSync(keyFile, tls(`data-${folders}`, 'tls.key'));
    symlinkSync(`data-${folders}`, tls('next'));
    renameSync(tls('next'), tls('current'));
  }
  place(first!);
  const [cert, key] = [tls('current', 'tls.crt'), tls('current', 'tls.key')];
  const world = await startWorld(t, {
    log,
    dataDir: join(folder, 'data'),
    env: {
      LAPEL_HTTP_TLS_CERT: cert,
      LAPEL_HTTP_TLS_KEY: key,
      LAPEL_ADMIN_TLS_CERT: cert,
      LAPEL_ADMIN_TLS_KEY: key,
      LAPEL_ADMIN_TLS_CLIENT_CA: authority.ca,
      LAPEL_OBJECTS_TLS_CERT: cert,
      LAPEL_OBJECTS_TLS_KEY: key,
      LAPEL_MQTTS_PORT: '0',
      LAPEL_TLS_CERT: cert,
      LAPEL_TLS_KEY: key,
      LAPEL_METRICS_PORT: '0',
      LAPEL_TRUST_PROXY: '127.0.0.1',
      LAPEL_PROXY_PROTOCOL: 'admin',
    },
  });
  const { addresses, adminToken } = world.service;
  const deviceId = deviceIdOf(1);
  const operator = authority.sign('operator', 'operator', 90);
  const agents: Agent[] = [];
  const agentWith = (connect: object): Agent => {
    const agent = new Agent({ connect: { ca, ...connect } });
    agents.push(agent);
    return agent;
  };
  t.teardown(() => Promise.all(agents.map((agent) => agent.destroy())));
  const anybody = agentWith({});
  const administrator = agentWith({ cert: operator.cert, key: operator.key });
  const adminUrl = through(
    addresses.admin,
    await startRelay(t, addresses.admin, binaryHeader({ rest: addressesOf('192.0.2.7') })),
  );
  async function call(method: 'GET' | 'POST' | 'PATCH' | 'PUT', url: string, json?: object, headers = {}) {
    const isAdmin = url.startsWith(adminUrl);
    const answer = await request(url, {
      method,
      dispatcher: isAdmin ? administrator : anybody,
      headers: {
        ...(isAdmin && { authorization: `Bearer ${adminToken}` }),
        ...(json && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json && { body: JSON.stringify(json) }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    return { status: answer.statusCode, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  }
  /** The name in the certificate that a listener shows. */
  const shownBy = async (url: string): Promise<string | undefined> => {
    const { port } = new URL(url);
    const socket: TLSSocket = connectTls({ port: Number(port), host: '127.0.0.1', ca });
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN as string;
  };
  const listeners = [addresses.http, addresses.objects, addresses.mqtts ?? ''];
  const shown = async () => [...new Set(await Promise.all(listeners.map(shownBy)))];
  const metrics = async (): Promise<string> => (await call('GET', `${addresses.metrics}/metrics`)).body as string;
  const left = async (listener: string): Promise<number> =>
    Number(
      (await metrics()).split(`certificate_expires_seconds{listener="${listener}",file="cert"} `)[1]?.split('\n')[0],
    );

  t.test('all URLs that the service tells are https', async (t) => {
    for (const url of [addresses.http, addresses.admin, addresses.objects]) t.match(url, /^https:/);
    t.match(addresses.metrics, /^http:/);
  });

  t.test('a command goes its whole way over TLS, and an upload URL works', async (t) => {
    await call('POST', `${adminUrl}/admin/v1/developers`, { developerId: 'dev', name: 'dev', deviceLimit: 5 });
    const made = await call('POST', `${adminUrl}/admin/v1/developers/dev/applications`, {
      applicationId: 'dev-app',
      name: 'app',
    });
    t.equal(made.status, 201);
    const registered = await call('POST', `${adminUrl}/admin/v1/developers/dev/devices`, {
      deviceId,
    });
    t.equal(registered.status, 201, JSON.stringify(registered.body));
    const token = await request(`${addresses.http}/api/v1/authenticate`, {
      method: 'POST',
      dispatcher: anybody,
      headers: {
        authorization: `Basic ${Buffer.from(`dev-app:${made.body.secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials&scope=svc:application:read svc:application:write svc:device:write',
    });
    const { access_token: bearer } = (await token.body.json()) as { access_token: string };
    t.equal(token.headers['strict-transport-security'], 'max-age=31536000');
    const as = { authorization: `Bearer ${bearer}` };
    const own = `${addresses.http}/v1/applications/dev-app`;
    t.ok((await call('POST', `${own}/refresh_authkey`, undefined, as)).body.authenticationKey);
    const receiver = await createTestReceiver(t);
    t.equal((await call('PATCH', own, { deviceEvent: receiver.url }, as)).status, 200);
    const device = await openRawDevice({
      url: addresses.mqtts ?? '',
      deviceId,
      credential: registered.body.credential as string,
      tls: { ca },
    });
    t.teardown(() => device.socket.destroy());
    await device.login();
    await device.subscribe(`devices/${deviceId}/commands`);
    const activated = await call('POST', `${own}/devices/${deviceId}`, {}, as);
    t.equal(activated.status, 201, JSON.stringify(activated.body));
    t.equal((await device.command()).transactionId, activated.body.transactionId);
    const entry = (await call('GET', `${adminUrl}/admin/v1/audit?limit=10`)).body.entries.at(-1);
    t.match(entry, { address: '192.0.2.7' }, 'the header of the PROXY protocol came before the TLS handshake');

    await call('POST', `${own}/packages`, { package: 'com.example.app' }, as);
    await call('POST', `${own}/packages/com.example.app/versions`, { version: '1.0.0' }, as);
    const binaries = `${own}/packages/com.example.app/versions/1.0.0/binaries`;
    const { uploadUrl } = (await call('POST', binaries, undefined, as)).body.urlList[0] as { uploadUrl: string };
    t.ok(uploadUrl.startsWith(addresses.objects), uploadUrl);
    const put = await request(uploadUrl, { method: 'PUT', body: 'not an apk', dispatcher: anybody });
    t.equal(put.statusCode, 200);
  });

  t.test('nobody is served without TLS, or by an old version of it', async (t) => {
    const { port } = new URL(addresses.http);
    const plain = connectTcp({ port: Number(port), host: '127.0.0.1' });
    plain.on('error', () => undefined);
    plain.write('GET /docs HTTP/1.1\r\nHost: x\r\n\r\n');
    let text = '';
    plain.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    await new Promise((resolve) => plain.once('close', resolve));
    t.notMatch(text, /200/);
    const old = connectTls({ port: Number(port), host: '127.0.0.1', ca, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' });
    await t.rejects(new Promise((_, reject) => old.once('error', reject)));
  });

  t.test('administration with a CA accepts no client without a certificate of it', async (t) => {
    await t.rejects(request(`${adminUrl}/healthz`, { dispatcher: anybody }));
    t.equal((await call('GET', `${adminUrl}/healthz`)).status, 200);
    t.equal((await call('GET', `${addresses.metrics}/readyz`)).status, 200, 'probes have the listener of metrics');
    t.equal((await call('GET', `${addresses.metrics}/admin/v1/developers`)).status, 403, 'which has nothing else');
    t.equal((await call('GET', `${addresses.metrics}/metrics`, undefined, { host: 'evil.example' })).status, 403);
  });

  t.test('changed files are used without a signal, and a half-written pair is not', async (t) => {
    t.same(await shown(), ['first']);
    place(second!);
    t.same(await shown(), ['first'], 'not at once');
    world.clock.advance(10_000);
    t.same(await shown(), ['second']);
    t.match(lines.at(-1), { level: 30, msg: 'the TLS files have changed and were read again' });

    const before = lines.length;
    writeFileSync(cert, third!.cert);
    world.clock.advance(10_000);
    world.clock.advance(10_000);
    t.same(await shown(), ['second']);
    const said = lines.slice(before);
    t.equal(said.length, 4, 'said once for each set of files');
    t.match(said[0], { level: 40, listeners: ['api'], msg: /cannot be used/, err: { message: /LAPEL_HTTP_TLS_KEY/ } });
    t.throws(() => world.service.reloadTls(), { code: 'SETTING_INVALID' }, 'SIGHUP tells the same');
    t.same(await shown(), ['second']);
    writeFileSync(key, third!.key);
    world.clock.advance(10_000);
    t.same(await shown(), ['third']);
    place(first!);
    t.equal(world.service.reloadTls(), true);
    t.same(await shown(), ['first'], 'SIGHUP takes them at once');
  });

  t.test('metrics tell the seconds until each certificate expires', async (t) => {
    const expires = Date.parse(new X509Certificate(first!.cert).validTo) / 1000;
    const seconds = Math.round(expires - world.clock.now() / 1_000_000);
    for (const listener of ['api', 'admin', 'objects', 'mqtts']) t.equal(await left(listener), seconds, listener);
    t.match(await metrics(), /lapel_certificate_expires_seconds\{listener="admin",file="client_ca"\} \d+/);
  });
});

t.test(
  'the log warns 30 and 7 days before a certificate expires, once, and when it has expired',
  { skip },
  async (t) => {
    const { log, lines } = keptLog();
    const authority = createAuthority(t.testdir({}), 'site');
    const [long, short] = [authority.sign('long', 'long', 90), authority.sign('short', 'short', 6)];
    const { validTo } = new X509Certificate(long.cert);
    let now = 0;
    const tell = (days: number, { cert, key } = long, to = validTo): unknown[] => {
      now = Date.parse(to) - days * DAY;
      const from = lines.length;
      watch.tell([{ listener: 'api', files: { cert, key } }]);
      return lines.slice(from);
    };
    const createWatch = () => createExpiryWatch({ clock: { now: () => now * 1000 }, log, metrics: createMetrics() });
    let watch = createWatch();
    t.same(tell(31), []);
    t.match(tell(29.5), [
      { level: 40, listener: 'api', file: 'cert', daysLeft: 29, expires: new Date(validTo).toISOString() },
    ]);
    t.same([...tell(29), ...tell(8)], []);
    t.match(tell(6.5), [{ level: 40, daysLeft: 6 }]);
    t.same(tell(1), []);
    t.match(tell(-1), [{ level: 50, listener: 'api', msg: /has expired: clients refuse it/ }]);
    t.same(tell(-2), []);
    watch = createWatch();
    t.match(tell(-3), [{ level: 50, msg: /has expired/ }], 'the next start says it again');
    const { validTo: soon } = new X509Certificate(short.cert);
    t.same(tell(2.5, short, soon), [], 'a certificate for six days does not warn from its first day');
    t.match(tell(1.5, short, soon), [{ level: 40, daysLeft: 1 }]);
  },
);

t.test(
  'the log and the metrics tell when a revocation list is out of date, and how much of it is left',
  { skip },
  async (t) => {
    const { log, lines } = keptLog();
    const authority = createAuthority(t.testdir({}), 'site');
    const clientCrl = readFileSync(authority.writeList({ begins: -DAY, ends: 5 * DAY }));
    const made = createMetrics();
    const start = Date.now();
    let now = 0;
    const watch = createExpiryWatch({ clock: { now: () => now * 1000 }, log, metrics: made });
    const tell = async (day: number): Promise<[said: unknown[], left: number | undefined]> => {
      now = start + day * DAY;
      const from = lines.length;
      watch.tell([{ listener: 'mqtts', files: { clientCrl } }]);
      watch.measure();
      return [lines.slice(from), (await made.revocationListLeft.get()).values[0]?.value];
    };
    const [quiet, most] = await tell(0);
    t.same(quiet, []);
    t.ok(most !== undefined && most > 0.82 && most < 0.84, `five of six days are left: ${most}`);
    t.match((await tell(3.5))[0], [
      { level: 40, listener: 'mqtts', file: 'client_crl', daysLeft: 1, msg: /out of date soon/ },
    ]);
    const [said, none] = await tell(5.5);
    t.match(said, [{ level: 50, msg: /is out of date: no client certificate of its CA is accepted/ }]);
    t.ok(none !== undefined && none < 0);
    t.match(watch.list(), [{ listener: 'mqtts', file: 'client_crl' }]);
  },
);

t.test('a stop does not wait for connections without a header or a handshake', { skip }, async (t) => {
  const folder = t.testdir({ data: {} });
  const { certFile, keyFile } = createAuthority(folder, 'site').sign('server');
  const service = await startProcess(t, {
    LAPEL_DATA_DIR: join(folder, 'data'),
    LAPEL_HTTP_TLS_CERT: certFile,
    LAPEL_HTTP_TLS_KEY: keyFile,
    LAPEL_TRUST_PROXY: 'loopback',
    LAPEL_PROXY_PROTOCOL: 'admin,mqtt',
  });
  const { http, admin, mqtt } = service.addresses;
  for (const [url, begun] of [
    [http, Buffer.from('160301020001', 'hex')],
    [admin, Buffer.from('PROXY ')],
    [mqtt, Buffer.from('PROXY ')],
  ] as const) {
    const socket = connectTcp({ port: Number(new URL(url).port), host: '127.0.0.1' });
    socket.on('error', () => undefined).on('data', () => undefined);
    await new Promise<void>((resolve) => socket.write(begun, () => resolve()));
  }
  service.signal('SIGTERM');
  t.same(await service.closed, { code: 0, signal: null });
});

t.test('lapel doctor tells until when the certificates of the listeners are valid', { skip }, async (t) => {
  const folder = t.testdir({ data: {} });
  const authority = createAuthority(folder, 'site');
  const { certFile, keyFile } = authority.sign('good', 'good', 20);
  const env = { LAPEL_ADMIN_TLS_CERT: certFile, LAPEL_ADMIN_TLS_KEY: keyFile, LAPEL_DATA_DIR: join(folder, 'data') };
  const expires = new Date(new X509Certificate(readFileSync(certFile)).validTo).toISOString().slice(0, 10);
  t.match(await runMain(t, ['doctor'], env), {
    code: 0,
    stdout: `TLS        admin: valid until ${expires} (19 days)\n`,
  });
  const ofDevices = {
    ...env,
    LAPEL_MQTTS_PORT: '0',
    LAPEL_TLS_CERT: certFile,
    LAPEL_TLS_KEY: keyFile,
    LAPEL_MQTT_CLIENT_CA: authority.ca,
    LAPEL_MQTT_CLIENT_CRL: authority.writeList({ begins: -2 * DAY, ends: -DAY }),
  };
  t.match(await runMain(t, ['doctor'], ofDevices), {
    code: 1,
    stdout:
      /TLS +PROBLEM: mqtts: the revocation list is out of date since [-\d: ]+ UTC, so no client certificate is accepted/,
  });
  const wrong = await runMain(t, ['doctor'], { ...env, LAPEL_ADMIN_TLS_KEY: certFile });
  t.match(wrong, { code: 78, stderr: /LAPEL_ADMIN_TLS_KEY: cannot use/ });
});

t.test('a service whose certificate has expired starts, and says so as an error', { skip }, async (t) => {
  const { log, lines } = keptLog('error');
  const folder = t.testdir({ data: {}, tls: {} });
  const { certFile, keyFile } = createAuthority(join(folder, 'tls'), 'site').sign('old', 'old', 1);
  await startWorld(t, {
    log,
    clock: createFakeClock((Date.now() + 2 * DAY) * 1000),
    dataDir: join(folder, 'data'),
    env: { LAPEL_ADMIN_TLS_CERT: certFile, LAPEL_ADMIN_TLS_KEY: keyFile },
  });
  t.match(lines, [{ level: 50, listener: 'admin', file: 'cert', msg: /has expired/ }]);
});
