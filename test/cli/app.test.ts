import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as realPause } from 'node:timers/promises';
import { MANIFEST, makeDocument, makeZip, signedApk } from '@lapel/device-sim/files/make-apk';
import { makeResources } from '@lapel/device-sim/files/make-resources';
import { CLIENTS_OWN, SETTINGS } from '@lapel/schemas/contracts/settings';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config.ts';
import { startWorld, type Tenant, type World } from '../world.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const APKS = join(ROOT, 'tools/demo/apks');
const CAMERA = 'com.example.camera';
const FIRST = join(APKS, 'camera-1.0.0.apk');

const access = (world: World, { applicationId, secret }: Tenant): string[] =>
  `--application ${applicationId} --secret ${secret} --url ${world.service.addresses.http}`.split(' ');
async function start(t: Test) {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  return { world, tenant, options: access(world, tenant) };
}

t.test('upload reads the file, registers it, uploads it and starts its distribution', async (t) => {
  const { tenant, options } = await start(t);
  const { code, stdout, stderr } = await run(['app', 'upload', FIRST, ...options]);
  t.equal(code, 0, stderr);
  t.equal(stdout, '');
  t.match(stderr, /^camera-1\.0\.0\.apk: com\.example\.camera 1\.0\.0 \(version code 1\), 8\.\d kB\nuploading 8/);
  t.match(stderr, /\nuploaded 8\.\d kB in .*\ndistribution started\n$/);
  t.notMatch(stderr, /X-Amz|Signature/i, 'a URL that can be used is shown to nobody');
  const version = `${tenant.path}/packages/${CAMERA}/versions/1.0.0`;
  t.match((await tenant.api.get(`${version}/binaries`)).body, { appFileExists: true });
  t.match((await tenant.api.get(`${version}/distributions`)).body, { distributable: true });
});

t.test('a second upload replaces the file, and the distribution stays started', async (t) => {
  const { options } = await start(t);
  await run(['app', 'upload', FIRST, ...options]);
  const { code, stdout, stderr } = await run(['app', 'upload', FIRST, ...options, '--json']);
  t.equal(code, 0);
  t.match(stderr, /is replaced[\s\S]*distribution already started/);
  t.same(JSON.parse(stdout), {
    ok: true,
    file: {
      name: 'camera-1.0.0.apk',
      size: statSync(FIRST).size,
      package: CAMERA,
      versionName: '1.0.0',
      versionCode: 1,
      certificates: ['130af62168b7b9de77a1e0208554c94c832fafcffb2d2737d4e95296e011cc2f'],
    },
    package: CAMERA,
    version: '1.0.0',
    uploaded: true,
    distribution: 'already started',
    installations: [],
    replaced: true,
  });
});

t.test('a person is asked before the file of a distributed version is replaced', async (t) => {
  const { options } = await start(t);
  const question = /com\.example\.camera 1\.0\.0 is being distributed\. .* Replace it\? \[y\/N\]/;
  t.notMatch(
    (await run(['app', 'upload', FIRST, ...options], { answers: [] })).stderr,
    question,
    'a new one asks nothing',
  );
  const kept = await run(['app', 'upload', FIRST, ...options], { answers: [''] });
  t.match(kept, { code: 1, stderr: question });
  t.match(kept.stderr, /not replaced; nothing was uploaded/);
  t.match(await run(['app', 'upload', FIRST, ...options], { answers: ['y'] }), {
    code: 0,
    stderr: /is replaced/,
  });
  const told = await run(['app', 'upload', FIRST, ...options, '--replace'], { answers: [] });
  t.match(told, { code: 0, stderr: /is replaced/ });
  t.notMatch(told.stderr, question);
});

t.test('--no-distribute stops after the upload; --version registers another version, with a warning', async (t) => {
  const { tenant, options } = await start(t);
  const result = await run(['app', 'upload', FIRST, ...options, '--version', '1.2.0', '--no-distribute']);
  t.equal(result.code, 0);
  t.match(
    result.stderr,
    /registered as 1\.2\.0, but the file contains 1\.0\.0: devices will report VERSION_NAME_MISMATCH/,
  );
  const version = `${tenant.path}/packages/${CAMERA}/versions/1.2.0`;
  t.match((await tenant.api.get(`${version}/binaries`)).body, { appFileExists: true });
  t.match((await tenant.api.get(`${version}/distributions`)).body, { distributable: false });
});

t.test('--install waits for each device, and prints its result', async (t) => {
  const { world, tenant, options } = await start(t);
  const [good, bad] = [await world.activatedDevice(tenant), await world.activatedDevice(tenant)];
  const stranger = await world.registerDevice();
  const devices = [good, bad, stranger].map(({ deviceId }) => deviceId);
  const running = run(['app', 'upload', '--install', ...devices, '--json', ...options, FIRST]);
  const [one, two] = [await good.link.command(), await bad.link.command()];
  await good.link.ack({ transactionId: one.transactionId, status: 'processing', progress: 50 });
  await good.link.ack({ transactionId: one.transactionId, status: 'succeeded' });
  const error = { code: 'VERSION_CODE_NOT_HIGHER', message: '1 is not higher than 1' };
  await bad.link.ack({ transactionId: two.transactionId, status: 'failed', error });
  const { code, stdout, stderr } = await running;
  t.equal(code, 1);
  t.match(JSON.parse(stdout), {
    ok: false,
    uploaded: true,
    distribution: 'started',
    installations: [
      { deviceId: good.deviceId, transactionId: one.transactionId, status: 'succeeded', error: null },
      { deviceId: bad.deviceId, transactionId: two.transactionId, status: 'failed', error },
      {
        deviceId: stranger.deviceId,
        transactionId: null,
        status: 'refused',
        error: { code: '403', message: /^device is not activated\. activate it first/ },
      },
    ],
  });
  t.match(stderr, new RegExp(`\n${good.deviceId}  succeeded\n`));
  t.match(stderr, new RegExp(`lapel: 2 of 3 did not succeed: ${bad.deviceId} \\(VERSION_CODE_NOT_HIGHER\\)`));
  t.match(stderr, /VERSION_CODE_NOT_HIGHER: not installed; build it with a version code above/, 'what to do');
});

t.test('upload takes the version of a file that refers to a resource', async (t) => {
  const { world, tenant, options } = await start(t);
  const file = join(world.dataDir, 'camera.apk');
  const versionName = { type: 0x01, data: 0x7f010000 };
  const attributes = [
    { name: 'package', value: CAMERA },
    { name: 'versionCode', value: 7 },
    { name: 'versionName', value: versionName },
  ];
  const entries = [
    { name: MANIFEST, bytes: makeDocument({ attributes }) },
    { name: 'resources.arsc', bytes: makeResources([{ entries: { 0: '1.4.0' } }]), stored: true },
  ];
  writeFileSync(file, signedApk(makeZip(entries), 'our certificate'));
  const { code, stderr } = await run(['app', 'upload', file, ...options]);
  t.equal(code, 0, stderr);
  t.match(stderr, /^camera\.apk: com\.example\.camera 1\.4\.0 \(version code 7\)/);
  const version = `${tenant.path}/packages/${CAMERA}/versions/1.4.0`;
  t.match((await tenant.api.get(`${version}/distributions`)).body, { distributable: true });

  writeFileSync(file, signedApk(makeZip(entries.slice(0, 1)), 'our certificate'));
  const without = await run(['app', 'upload', file, ...options]);
  t.match(without, { code: 1, stderr: /versionName is a reference to a resource/ }, 'without a table of resources');
});

t.test('people get a table of the devices; progress moves on a terminal', async (t) => {
  const { world, tenant, options } = await start(t);
  const device = await world.activatedDevice(tenant);
  const looked = Promise.withResolvers<void>();
  let pauses = 0;
  const running = run(['app', 'upload', FIRST, '--install', device.deviceId, ...options], {
    tty: true,
    env: { NO_COLOR: '1' },
    async pause() {
      pauses += 1;
      if (pauses > 20) looked.resolve(); // it has read the transaction after the progress
      await realPause(2);
    },
  });
  const { transactionId } = await device.link.command();
  await device.link.ack({ transactionId, status: 'processing', progress: 40 });
  pauses = 0;
  await looked.promise;
  await device.link.ack({ transactionId, status: 'succeeded' });
  const { code, stdout, stderr } = await running;
  t.equal(code, 0);
  t.match(
    stdout,
    new RegExp(`^DEVICE +TRANSACTION +STATUS +DETAIL\n${device.deviceId} +${transactionId} +succeeded\n$`),
  );
  t.match(stderr, /uploading {2}\[#+\] 100 %/);
  t.match(stderr, new RegExp(`${device.deviceId}  processing \\[#{10} {14}\\]  40 %`));
});

t.test('--timeout ends the wait, and the installation continues', async (t) => {
  const { world, tenant, options } = await start(t);
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  const args = ['app', 'upload', FIRST, '--install', device.deviceId, '--timeout', '0', ...options];
  const { code, stdout, stderr } = await run(args);
  t.equal(code, 1);
  t.match(stdout, / queued\n$/);
  t.match(stderr, new RegExp(`1 of 1 did not succeed: ${device.deviceId} \\(queued\\)`));
  t.match(stderr, /go on without this command/);
  const link = await world.connect(device);
  t.match(await link.command(), { operation: 'installSoftware' });
});

t.test('a refusal of the service is shown with its reason, its details and advice', async (t) => {
  const { world, tenant, options } = await start(t);
  const other = await world.createTenant('other');
  await run(['app', 'upload', FIRST, ...access(world, other)]);
  const foreign = await run(['app', 'upload', FIRST, ...options]);
  t.equal(foreign.code, 1);
  t.match(foreign.stderr, /lapel: cannot register com\.example\.camera 1\.0\.0: 400 package is used by a different/);
  t.match(foreign.stderr, /package names are unique over all developers/);
  const faulty = await run(['app', 'upload', FIRST, ...options, '--version', 'a/b', '--json']);
  t.equal(faulty.code, 1);
  t.match(faulty.stderr, /\n {2}body\.version: .* \(string_pattern_mismatch\)\n/);
  t.match(JSON.parse(faulty.stdout), {
    ok: false,
    version: 'a/b',
    uploaded: false,
    error: { status: 400, reason: 'invalid request.', details: [{ loc: ['body', 'version'] }], requestId: String },
  });
  const wrong = await run(['app', 'list', ...access(world, { ...tenant, secret: 'wrong' })]);
  t.equal(wrong.code, 1);
  t.match(wrong.stderr, /cannot get an access token \(to list the software\): 401[\s\S]*check --application/);
  const nobody = await run(['app', 'list', '--application', 'a', '--secret', 's', '--url', 'http://127.0.0.1:9']);
  t.equal(nobody.code, 1);
  t.match(nobody.stderr, /nobody answers at http:\/\/127\.0\.0\.1:9: [\s\S]*set its address with --url/);
});

t.test('an access token that has expired is replaced while devices are followed', async (t) => {
  const { world, tenant, options } = await start(t);
  const device = await world.activatedDevice(tenant);
  const running = run(['app', 'upload', FIRST, '--install', device.deviceId, ...options]);
  const { transactionId } = await device.link.command();
  world.clock.advance(2 * 3600 * 1000);
  await device.link.ack({ transactionId, status: 'succeeded' });
  t.equal((await running).code, 0);
});

t.test('a refusal of the store is shown before the file is sent, with its text', async (t) => {
  let received = 0;
  const store = createServer((request) => request.on('data', (chunk: Buffer) => (received += chunk.length)));
  store.on('checkContinue', (_request, response) => {
    response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>');
  });
  const answers: Record<string, object> = { '/api/v1/authenticate': { access_token: 'a' } };
  const api = createServer((request, response) => {
    const uploadUrl = `http://127.0.0.1:${(store.address() as AddressInfo).port}/file?signature=1`;
    const body = answers[request.url ?? ''] ?? { appFileExists: false, urlList: [{ uploadUrl }] };
    response.end(JSON.stringify(body));
  });
  for (const server of [store, api]) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.teardown(() => server.close());
  }
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const args = ['app', 'upload', FIRST, '--application', 'a', '--secret', 's', '--url', url, '--json'];
  const { code, stdout, stderr } = await run(args, { pause: (milliseconds) => realPause(milliseconds) });
  t.equal(code, 1);
  t.match(stderr, /the object store says 403 AccessDenied: Request has expired\n {2}.*run the command again/);
  t.match(JSON.parse(stdout), { ok: false, uploaded: false, error: { status: 403 } });
  t.equal(received, 0);
});

t.test('while devices are followed the service may be unreachable for a while, but not for ever', async (t) => {
  const states = ['queued', 'away', 'processing', 503, 'away', 503, 'away', 'succeeded'];
  let left: (string | number)[] = [...states];
  const finished = { progress: null, error: null };
  const api = createServer((request, response) => {
    const uploadUrl = `${url}/store`;
    const bodies: Record<string, object> = {
      POST: { access_token: 'a', urlList: [{ uploadUrl }] },
      PUT: { transactionId: 7 },
    };
    const state = request.method === 'GET' ? (left.shift() ?? 'away') : 200;
    if (state === 'away') request.socket.destroy();
    else if (typeof state === 'number')
      response.writeHead(state).end(JSON.stringify(bodies[request.method ?? ''] ?? {}));
    else response.end(JSON.stringify({ status: state, ...finished }));
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => api.close());
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const args = `--application a --secret s --url ${url} --install 490154203237518 --json`.split(' ');
  const good = await run(['app', 'upload', FIRST, ...args]);
  t.equal(good.code, 0, good.stderr);
  t.equal(good.stderr.match(/; trying again\n/g)?.length, 1, 'a moment is not worth a word, a while is told once');
  t.same(left, [], 'it was asked until the end, and no longer');
  left = ['queued'];
  const gone = await run(['app', 'upload', FIRST, ...args]);
  t.equal(gone.code, 1);
  t.match(gone.stderr, /lapel: cannot read transaction 7 of 490154203237518: nobody answers at/);
  t.match(JSON.parse(gone.stdout), {
    ok: false,
    uploaded: true,
    installations: [{ transactionId: 7, status: 'queued' }],
  });
});

t.test('list shows the software of the developer and of the service', async (t) => {
  const { world, options } = await start(t);
  const empty = await run(['app', 'list', ...options]);
  t.same([empty.code, empty.stdout], [0, 'There is no software yet; upload some with lapel app upload FILE.apk\n']);
  await run(['app', 'upload', FIRST, ...options]);
  await run(['app', 'upload', join(APKS, 'camera-1.1.0.apk'), '--no-distribute', ...options]);
  await world.admin().put('/admin/v1/system-packages/com.lapel.launcher/versions/2.0.0', {
    json: { description: 'two\nlines' },
  });
  const { code, stdout } = await run(['app', 'list', ...options]);
  t.equal(code, 0);
  t.match(stdout.split('\n'), [
    /^PACKAGE +VERSION +OF +DISTRIBUTED +UPDATED +DESCRIPTION$/,
    /^com\.example\.camera +1\.1\.0 +developer +no +2026-11-20 18:30:00$/,
    /^com\.example\.camera +1\.0\.0 +developer +yes +2026-11-20 18:30:00$/,
    /^com\.lapel\.launcher +2\.0\.0 +service +yes +2026-11-20 18:30:00 +two lines$/,
    '',
  ]);
  const latest = await run(['app', 'list', ...options, '--package', CAMERA, '--latest', '--json']);
  t.match(JSON.parse(latest.stdout), { ok: true, userPackages: [{ version: '1.1.0' }], total: 1 });
});

t.test('a wrong command line ends with 2, and names the fault', async (t) => {
  const folder = t.testdir({ 'no.apk': 'this is no archive' });
  const options = ['--application', 'a', '--secret', 's', '--url', 'http://127.0.0.1:9'];
  const cases: [string[], RegExp][] = [
    [['upload', FIRST], /^lapel: --application: is needed/],
    [
      ['upload', FIRST, '--application', 'a'],
      /^lapel: --secret: is needed \(or LAPEL_APPLICATION_SECRET, --secret-stdin, lapel login\)/,
    ],
    [['upload', ...options], /^lapel: FILE\.apk: is needed/],
    [['upload', FIRST, FIRST, ...options], /^lapel: .*camera-1\.0\.0\.apk: is one argument too many/],
    [['upload', FIRST, ...options, '--instal', '1'], /^lapel: --instal: /],
    [['upload', FIRST, ...options, '--install', '12'], /^lapel: --install: "12" is not a deviceId/],
    [['upload', FIRST, ...options, '--install', '490154203237518', '--no-distribute'], /^lapel: --no-distribute: /],
    [['upload', FIRST, ...options, '--timeout', '5'], /^lapel: --timeout: needs --install/],
    [['upload', FIRST, ...options, '--install', '490154203237518', '--timeout', 'x'], /^lapel: --timeout: "x" is no/],
    [['upload', FIRST, '--application', 'a', '--secret', 's', '--url', 'ftp://x'], /^lapel: --url: "ftp:\/\/x"/],
    [['upload', join(folder, 'there-is-none.apk'), ...options], /^lapel: .*there-is-none\.apk: there is no such file/],
    [['upload', folder, ...options], /^lapel: .*: is not a file/],
    [['upload', join(folder, 'no.apk'), ...options], /^lapel: .*no\.apk: is not an APK file/],
    [['list', ...options, 'x'], /^lapel: x: is one argument too many/],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await run(['app', ...args]);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, message);
    t.match(stderr, /\nSee: lapel app (upload|list) --help\n$/);
    t.equal(stdout, '');
  }
  const unknown = await run(['app', 'remove']);
  t.equal(unknown.code, 2);
  t.match(unknown.stderr, /^lapel: unknown command "app remove"\nSee: lapel app --help\n$/);
});

t.test('--help teaches with examples', async (t) => {
  for (const flag of ['--help', '-h']) {
    const { code, stdout } = await run(['app', 'upload', flag]);
    t.equal(code, 0);
    t.match(stdout, /--install DEVICE[\s\S]*Examples\n {2}lapel app upload camera/);
  }
  const group = await run(['app', '--help']);
  t.match(group.stdout, /lapel app upload .*\n {2}lapel app list /);
  t.equal((await run(['app'])).code, 2, 'no command at all');
});

t.test('as a process: the file and the secret from the environment, one JSON object on standard output', async (t) => {
  const { world, tenant } = await start(t);
  const folder = join(world.dataDir, 'of the caller');
  mkdirSync(folder);
  copyFileSync(FIRST, join(folder, 'a file with blanks.apk'));
  const args = ['app', 'upload', 'a file with blanks.apk', '--application', tenant.applicationId, '--json'];
  const env = { PATH: process.env['PATH'] ?? '', LAPEL_APPLICATION_SECRET: tenant.secret };
  const command = [join(ROOT, 'bin/lapel.mjs'), ...args, '--url', world.service.addresses.http];
  const child = Promise.withResolvers<{ code: number | string; stdout: string; stderr: string }>();
  execFile(process.execPath, command, { cwd: folder, env }, (error, stdout, stderr) =>
    child.resolve({ code: error?.code ?? 0, stdout, stderr }),
  );
  const { code, stdout, stderr } = await child.promise;
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { ok: true, package: CAMERA, version: '1.0.0', distribution: 'started' });
  t.equal(stdout.split('\n').length, 2);
});

t.test('variables of the command line and of the documents are not treated as settings of the service', async (t) => {
  const texts = globSync(['docs/*.md', 'README.md', '{cli,client}/**', 'device-sim/**/*.ts'], {
    cwd: ROOT,
    withFileTypes: true,
  })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'));
  const names = texts.flatMap((text) => text.match(/\bLAPEL_[A-Z0-9_]*[A-Z0-9]\b/g) ?? []);
  const settings = new Set<string>(SETTINGS.map(({ name }) => name));
  const own = [...new Set(names)].filter((name) => !settings.has(name)).sort();
  t.same(own, [...CLIENTS_OWN].sort(), 'each variable that a document or a client reads is known');
  const env = Object.fromEntries(own.map((name) => [name, 'of a developer who also starts a service']));
  t.doesNotThrow(() => readConfig({ env }));
  t.throws(() => readConfig({ env: { LAPEL_APPLICATION_SECRETS: '' } }), /is not a setting of Lapel/);
});
