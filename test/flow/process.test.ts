import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as openRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { SETTINGS, type Setting } from '@lapel/schemas/contracts/settings';
import t from 'tap';
import { readConfig } from '../../src/config.ts';
import { createAuthority, skip } from '../broker/authority.ts';
import { damage } from '../database/sqlite/damage.ts';
import { startCrashTarget } from './crash-target.ts';
import { type CrashWorld, startCrashWorld } from './crash-world.ts';
import { ADMIN_TOKEN, refusedOn, runMain, startProcess } from './service-process.ts';

/** A request whose head the service has taken (it answered 100), and whose body it waits for. */
async function halfSent({ application: { port, token, path } }: CrashWorld, deviceId: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', expect: '100-continue' };
  const target = { host: '127.0.0.1', port, method: 'PUT', path: `${path}/devices/${deviceId}/settings/wifi` };
  const request = openRequest({ ...target, headers, agent: false });
  request.flushHeaders();
  await once(request, 'continue');
  request.on('error', () => undefined); // the request that is never sent to its end
  return async (): Promise<{ status: number; transactionId: number }> => {
    request.end(JSON.stringify([{ ssid: 'the last one', security: 'OPEN' }]));
    const [response] = await once(request, 'response');
    const { transactionId } = (await json(response)) as { transactionId: number };
    return { status: response.statusCode, transactionId };
  };
}

t.jobs = 2;

t.test(
  'SIGTERM under load: requests in flight are answered, the exit code is 0, nothing is lost',
  { buffered: true },
  async (t) => {
    const target = await startCrashTarget(t);
    const world = await startCrashWorld(t, target, { devices: 8, latency: { min: 0, max: 10 } });
    async function caller(number: number): Promise<void> {
      for (let i = 0; ; i += 1) {
        const transactionId = await world.setWifi(world.devices[(number + i) % 8]!, `caller ${number}, ${i}`);
        if (transactionId === undefined) return;
      }
    }
    for (let round = 0; round < 2; round += 1) {
      const callers = Array.from({ length: 6 }, (_, number) => caller(number));
      for (let i = 0; i < 60; i += 1) await once(world.moments, 'accepted');
      const held = await Promise.all(world.devices.slice(0, 3).map(({ deviceId }) => halfSent(world, deviceId)));
      const stopped = target.stop();
      await refusedOn(world.application.port);
      for (const send of held) {
        const { status, transactionId } = await send();
        t.equal(status, 201, 'a request that was in flight is answered');
        world.accepted.add(transactionId);
      }
      await stopped;
      await Promise.all(callers);
      await target.restart();
    }
    await world.settled();
    const stored = await world.verify();
    t.equal(stored, world.accepted.size, 'what got no answer was not done');
  },
);

t.test(
  'SIGTERM while a receiver hangs: the exit code is 0, and the webhook comes again after the next start',
  { buffered: true },
  async (t) => {
    const target = await startCrashTarget(t);
    const world = await startCrashWorld(t, target, { devices: 1, latency: { min: 0, max: 0 } });
    world.hear(false);
    const came = once(world.moments, 'webhook');
    await world.setWifi(world.devices[0]!, 'nobody hears of it');
    await came;
    await target.stop();
    world.hear(true);
    await target.restart();
    await world.settled();
    await world.verify();
  },
);

t.test(
  'a second start on the same data folder is refused with 78 and a message that names the folder',
  { buffered: true },
  async (t) => {
    const folder = t.testdir();
    const first = await startProcess(t, { LAPEL_DATA_DIR: folder });
    const { code, stderr, stdout } = await runMain(t, ['serve'], { LAPEL_DATA_DIR: folder });
    t.equal(code, 78);
    t.equal(stderr, `lapel: the data folder ${folder} is in use by another process.\n`);
    t.equal(stdout, '');
    first.signal('SIGKILL');
    await first.closed;
    const next = await startProcess(t, { LAPEL_DATA_DIR: folder });
    t.ok(next.addresses.http, 'the folder of a killed one is free');
  },
);

t.test('a bad setting ends the start with 78 and its name', { buffered: true }, async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const cases: [Record<string, string>, string][] = [
    [{ LAPEL_HTTP_PORT: 'http' }, 'LAPEL_HTTP_PORT: must be a port from 0 to 65535, not "http"'],
    [{ LAPEL_MQTT_PORT: String(port) }, `LAPEL_MQTT_PORT: cannot listen on 127.0.0.1:${port} (EADDRINUSE)`],
    [{ LAPEL_OBJECTS_PORT: String(port) }, `LAPEL_OBJECTS_PORT: cannot listen on 127.0.0.1:${port} (EADDRINUSE)`],
    [{ LAPEL_DATA_DIR: join(file, 'below') }, `LAPEL_DATA_DIR: cannot use the folder ${join(file, 'below')} (ENOTDIR)`],
  ];
  await Promise.all(
    cases.map(async ([env, message], index) => {
      const dataDir = join(folder, `data ${index}`); // two that come as far as its lock are in nobody's way
      const { code, stderr, stdout } = await runMain(t, ['serve'], { LAPEL_DATA_DIR: dataDir, ...env });
      t.equal(code, 78, message);
      t.ok(stderr.startsWith(`lapel: ${message}`), stderr);
      t.equal(stdout, '');
    }),
  );
});

t.test('each wrong setting is named, with what it must be', async (t) => {
  const cases: [Record<string, string>, string][] = [
    [{ LAPEL_ADMIN_TOKEN: 'short' }, 'LAPEL_ADMIN_TOKEN: must have 32 characters or more'],
    [{ LAPEL_HTTP_PROT: '1' }, 'LAPEL_HTTP_PROT: is not a setting of Lapel'],
    [{ LAPEL_HOST: '0.0.0.0' }, 'LAPEL_HOST: is called LAPEL_HTTP_HOST now'],
    [{ LAPEL_MQTT_HOST: '0.0.0.0' }, 'LAPEL_MQTT_HOST: 0.0.0.0 is not loopback'],
    [{ LAPEL_OBJECTS_URL: 'https://a.example/b' }, 'LAPEL_OBJECTS_URL: must have no path, not "https://a.example/b"'],
    [{ LAPEL_API_RELEASE: '2026-13' }, 'LAPEL_API_RELEASE: must be a release like 2026-11, not "2026-13"'],
  ];
  for (const [env, message] of cases) {
    // A string in a pattern of tap matches a part of the text.
    t.throws(() => readConfig({ env, openFiles: 1024 }), { message }, message);
  }
});

t.test('a secret comes from a file that its setting names; the file of a wrong value is named', async (t) => {
  const folder = t.testdir({
    token: `${'secret '.repeat(6)}\n`,
    short: 'secret',
    empty: '\n',
    url: 'postgres://db/lapel',
  });
  const file = (name: string): string => join(folder, name);
  const { admin, databaseUrl, given } = readConfig({
    env: { LAPEL_ADMIN_TOKEN_FILE: file('token') },
    options: { 'database-url-file': file('url') },
  });
  t.same([admin.token, databaseUrl], ['secret '.repeat(6), 'postgres://db/lapel']);
  t.match(given.find(({ name }) => name === 'LAPEL_ADMIN_TOKEN')?.isSet, true);
  const cases: [Record<string, string>, string][] = [
    [{ LAPEL_ADMIN_TOKEN_FILE: file('none') }, `LAPEL_ADMIN_TOKEN_FILE: ${file('none')} cannot be read (ENOENT)`],
    [{ LAPEL_ADMIN_TOKEN_FILE: folder }, `LAPEL_ADMIN_TOKEN_FILE: ${folder} cannot be read (EISDIR)`],
    [{ LAPEL_ADMIN_TOKEN_FILE: file('empty') }, `LAPEL_ADMIN_TOKEN_FILE: ${file('empty')} is empty`],
    [{ LAPEL_ADMIN_TOKEN_FILE: file('short') }, 'LAPEL_ADMIN_TOKEN: must have 32 characters or more'],
    [
      { LAPEL_ADMIN_TOKEN_FILE: file('token'), LAPEL_ADMIN_TOKEN: 'secret '.repeat(6) },
      'LAPEL_ADMIN_TOKEN_FILE: cannot be combined with LAPEL_ADMIN_TOKEN',
    ],
  ];
  for (const [env, message] of cases) t.throws(() => readConfig({ env }), { message }, message);
});

const EVERYWHERE = 'a service that listens on all addresses names URLs that lead to it from its own machine';
t.test(EVERYWHERE, { buffered: true }, async (t) => {
  const tokenFile = join(t.testdir({ token: ADMIN_TOKEN }), 'token');
  const all = {
    LAPEL_HTTP_HOST: '0.0.0.0',
    LAPEL_ADMIN_HOST: '::',
    LAPEL_MQTT_HOST: '0.0.0.0',
    LAPEL_OBJECTS_HOST: '0.0.0.0',
  };
  const service = await startProcess(t, {
    ...all,
    LAPEL_ALLOW_PLAIN_HTTP: 'true',
    LAPEL_ALLOW_PLAIN_MQTT: 'true',
    LAPEL_DATA_DIR: join(t.testdirName, 'data'),
  });
  const { http, admin, mqtt } = service.addresses;
  for (const url of [http, admin, mqtt]) t.equal(new URL(url).hostname, 'localhost');
  t.equal((await fetch(`${http}/.well-known/jwks.json`)).status, 200);
  const env = { LAPEL_ADMIN_TOKEN: '', LAPEL_ADMIN_TOKEN_FILE: tokenFile, LAPEL_ADMIN_URL: admin };
  const listed = await runMain(t, ['admin', 'developer', 'list', '--json'], env);
  t.match(listed, { code: 0, stderr: '' }, 'the command line reads the token from the same file');
});

t.test('a start that meets a damaged page says so in a sentence', { buffered: true }, async (t) => {
  const env = { LAPEL_DATA_DIR: t.testdir(), LAPEL_LOG_LEVEL: 'silent' };
  const service = await startProcess(t, env);
  service.signal('SIGTERM');
  await service.closed;
  damage(env.LAPEL_DATA_DIR, 'audit_log', 'leaf'); // each start writes to it
  const { code, stderr } = await runMain(t, ['serve'], env);
  t.equal(code, 70);
  t.match(stderr, /^lapel: cannot start: the database .+malformed.+\n$/);
});

t.test('an unusable database is reported with a sentence at any log level', { buffered: true }, async (t) => {
  const folder = t.testdir({ 'lapel.db': 'this is no database'.repeat(100) });
  const { code, stderr, stdout } = await runMain(t, ['serve'], { LAPEL_DATA_DIR: folder, LAPEL_LOG_LEVEL: 'silent' });
  t.equal(code, 70);
  t.equal(stderr, 'lapel: cannot start: the database is damaged (file is not a database); restore a backup\n');
  t.equal(stdout, '');
});

t.test('lapel doctor checks a folder, whether a service uses it or not', { buffered: true }, async (t) => {
  const folders = t.testdir({ good: {}, bad: { 'lapel.db': 'this is no database'.repeat(100) } });
  const folder = join(folders, 'good');
  const doctor = (...options: string[]) => runMain(t, ['doctor', '--data-dir', folder, ...options]);
  t.match(await doctor(), { code: 0, stdout: /^settings +good\n[\s\S]*^database +none in .+ yet/m });
  await startProcess(t, { LAPEL_DATA_DIR: folder });
  t.match(await doctor(), { code: 0, stdout: /^database +0\.\d MiB, opens/m });
  t.match(await doctor('--check-database'), {
    code: 0,
    stdout: /^database +0\.\d MiB, intact: the whole file was checked$/m,
  });
  t.match(await doctor('--http-port', 'x'), { code: 78, stderr: /LAPEL_HTTP_PORT/ });
  t.match(await doctor('--check-data'), { code: 2, stderr: /--check-data[\s\S]*lapel doctor --help/ });
  t.match(await doctor('--help'), { code: 0, stdout: /--check-database/ });
  const bad = await runMain(t, ['doctor', '--check-database'], { LAPEL_DATA_DIR: join(folders, 'bad') });
  t.match(bad, { code: 1, stdout: /^database +PROBLEM: damaged: file is not a database; restore a backup$/m });
});

const SAYS = 'standard output is one JSON line with the addresses, at any log level; SIGHUP without TLS ends nothing';
t.test(SAYS, { buffered: true }, async (t) => {
  for (const level of ['trace', 'silent']) {
    const folder = t.testdir();
    const service = await startProcess(t, { LAPEL_DATA_DIR: folder, LAPEL_LOG_LEVEL: level });
    const answer = await fetch(`${service.addresses.http}/.well-known/jwks.json`);
    t.equal(answer.status, 200);
    service.signal('SIGHUP');
    if (level === 'trace') await service.said('no TLS files are configured');
    t.equal((await fetch(`${service.addresses.admin}/readyz`)).status, 200);
    service.signal('SIGTERM');
    t.same(await service.closed, { code: 0, signal: null });
    const { stdout, stderr } = service.output;
    t.match(
      stdout,
      /^\{"msg":"listening","http":"http:\/\/127.0.0.1:\d+","admin":"http:\/\/127.0.0.1:\d+","mqtt":"mqtt:\/\/127.0.0.1:\d+","objects":"http:\/\/127.0.0.1:\d+"\}\n$/,
    );
    t.equal(stderr === '', level === 'silent', 'log lines go to standard error');
    for (const line of stderr.split('\n').slice(0, -1)) t.match(JSON.parse(line), { level: Number }, 'as JSON');
  }
});

t.test('a second SIGTERM ends it at once', { buffered: true }, async (t) => {
  const target = await startCrashTarget(t);
  const world = await startCrashWorld(t, target, { devices: 1, latency: { min: 0, max: 0 } });
  await halfSent(world, world.devices[0]!.deviceId);
  t.same(await target.stopTwice(), { code: 1, signal: null });
});

t.test('SIGHUP ends nothing; it reads the TLS files again', { buffered: true, skip }, async (t) => {
  const folder = t.testdir({ data: {}, tls: {} });
  const authority = createAuthority(join(folder, 'tls'), 'fleet');
  const { certFile, keyFile, serialNumber } = authority.sign('server');
  const service = await startProcess(t, {
    LAPEL_DATA_DIR: join(folder, 'data'),
    LAPEL_LOG_LEVEL: 'info',
    LAPEL_MQTTS_PORT: '0',
    LAPEL_TLS_CERT: certFile,
    LAPEL_TLS_KEY: keyFile,
  });
  const port = Number(new URL(service.addresses.mqtts ?? '').port);
  const shown = async (): Promise<string> => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const serial = socket.getPeerCertificate().serialNumber;
    socket.destroy();
    return serial;
  };
  const cert = readFileSync(certFile);
  writeFileSync(certFile, 'half a fi');
  service.signal('SIGHUP');
  await service.said('certificates that were read before stay in use');
  t.equal(await shown(), serialNumber);
  writeFileSync(certFile, cert);
  const renewed = authority.sign('server', 'renewed');
  writeFileSync(certFile, renewed.cert);
  writeFileSync(keyFile, renewed.key);
  service.signal('SIGHUP');
  await service.said('the TLS files were read again');
  t.equal(await shown(), renewed.serialNumber);
});

t.test(
  'serve --help --all prints every setting with its default; --help the usual ones',
  { buffered: true },
  async (t) => {
    const { code, stdout } = await runMain(t, ['serve', '--help', '--all']);
    const { stdout: usual } = await runMain(t, ['serve', '--help']);
    t.equal(code, 0);
    t.ok(usual.includes(' LAPEL_PUBLIC_URL ') && usual.includes('--help --all'));
    t.notOk(usual.includes(' LAPEL_HAND_OVER_RATE '));
    for (const { name, fallback, secret = false } of SETTINGS as readonly Setting[]) {
      const row = stdout.split('\n').find((line) => line.includes(` ${name} `));
      t.ok(row?.includes(` ${fallback ?? '-'} `), name);
      const option = `--${name.slice(6).toLowerCase().replaceAll('_', '-')} `;
      t.equal(row?.trimStart().startsWith(option), !secret, 'a secret is no option');
    }
  },
);

t.test(
  'an unknown command or option ends with 2 and names the help that lists the valid ones',
  { buffered: true },
  async (t) => {
    const command = await runMain(t, ['server']);
    t.equal(command.code, 2);
    t.match(command.stderr, /^lapel: unknown command "server"; did you mean "serve"\?\nSee: lapel --help\n$/);
    const option = await runMain(t, ['serve', '--htp-port', '1']);
    t.equal(option.code, 2);
    t.match(option.stderr, /--htp-port[\s\S]*lapel serve --help/);
  },
);

t.test('options on the command line take precedence over the environment', { buffered: true }, async (t) => {
  const { code, stderr } = await runMain(t, ['serve', '--http-port', 'x'], { LAPEL_HTTP_PORT: 'y' });
  t.equal(code, 78);
  t.match(stderr, /LAPEL_HTTP_PORT.*"x"/);
});
