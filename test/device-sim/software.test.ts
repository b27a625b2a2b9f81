import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createDevice, type DeviceOptions } from '../../device-sim/device.ts';
import { createDownloadFolder } from '../../device-sim/download-folder.ts';
import { createStateFile } from '../../device-sim/state-file.ts';
import { type FileServer, refuse, startFileServer } from './file-server.ts';
import { command, startBroker, wifi } from './plain-broker.ts';

const deviceId = '350000000000001';
const CAMERA = 'com.example.camera';
const apk = (name: string): Buffer => readFileSync(join(import.meta.dirname, `../apks/camera-${name}.apk`));
const first = apk('1.0.0');
const HALF = first.length / 2;
const order = (server: FileServer, version = '1.0.0', path?: string) => ({
  package: CAMERA,
  version,
  ...server.source(path),
});

/** A connected device that gives up soon, the folder that it downloads to, and one server for each file. */
async function bench(folder: string, contents: readonly Buffer[] = [first], options: Partial<DeviceOptions> = {}) {
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startBroker());
  const servers = await Promise.all(contents.map((content) => startFileServer(content)));
  for (const server of servers) stack.use(server);
  const device = stack.use(
    createDevice({
      deviceId,
      credential: 'secret',
      url: broker.url,
      downloads: createDownloadFolder(folder),
      reportStatus: false,
      ...options,
      patience: { attempts: 3, pause: { min: 1, max: 1 }, ...options.patience },
    }),
  );
  const violations: string[] = [];
  device.events.on('violation', (fault) => violations.push(fault));
  await device.connect();
  const parts = stack.move();
  return {
    broker,
    device,
    violations,
    server: servers[0]!,
    servers,
    send: (...args: Parameters<typeof command>) => broker.send(deviceId, command(...args)),
    /** The answer to a transaction, when it has come. */
    answer: (transactionId: number) =>
      broker.until(() => broker.acks.find((ack) => ack.transactionId === transactionId && ack.status !== 'processing')),
    /** Resolves when a transaction has told at least so much progress. */
    progress: (transactionId: number, percent: number) =>
      broker.until(() =>
        broker.acks.some((ack) => ack.transactionId === transactionId && Number(ack['progress']) >= percent),
      ),
    /** The request that the device has made as the n-th. */
    request: (n = 1) => broker.until(() => broker.published.filter(({ kind }) => kind === 'requests')[n - 1]?.body),
    respond: (body: object) => broker.send(deviceId, body, 'responses'),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

const succeeded = (transactionId: number, version: string, versionCode: number) => ({
  deviceId,
  transactionId,
  status: 'succeeded',
  result: { package: CAMERA, version, versionCode },
});

t.test('a package is downloaded, installed, shown in the status and then answered', async (t) => {
  const folder = t.testdir();
  await using parts = await bench(folder);
  const { broker, device, server } = parts;
  parts.send(1, 'installSoftware', order(server));
  t.strictSame(await parts.answer(1), succeeded(1, '1.0.0', 1));
  await device.idle();
  t.strictSame(device.state.software, { [CAMERA]: { version: '1.0.0', versionCode: 1, size: first.length } });
  t.strictSame(server.requests, [{ path: '/file', range: undefined, ifRange: undefined }]);
  const total = 8 * 1024 ** 3;
  t.strictSame(
    broker.published.filter(({ body }) => body['status'] !== 'processing').map(({ kind }) => kind),
    ['status', 'acks'],
  );
  t.strictSame(broker.published.find(({ kind }) => kind === 'status')?.body, {
    software: [{ package: CAMERA, version: '1.0.0', versionCode: 1 }],
    storage: { total, free: total - first.length },
  });
  t.strictSame(readdirSync(folder), [], 'nothing is left of the download');
});

t.test('an upgrade replaces, and neither a downgrade nor the same again is installed', async (t) => {
  await using parts = await bench(t.testdir(), [first, apk('1.1.0')]);
  const { device } = parts;
  const [old, fresh] = parts.servers as [FileServer, FileServer];
  parts.send(1, 'installSoftware', order(old));
  parts.send(2, 'installSoftware', order(fresh, '1.1.0'));
  t.strictSame(await parts.answer(1), succeeded(1, '1.0.0', 1));
  t.strictSame(await parts.answer(2), succeeded(2, '1.1.0', 2));
  parts.send(3, 'installSoftware', order(old));
  parts.send(4, 'installSoftware', order(fresh, '1.1.0'));
  t.match(await parts.answer(3), {
    status: 'failed',
    error: { code: 'VERSION_CODE_NOT_HIGHER', message: /1 is not higher than 2/ },
  });
  t.match(await parts.answer(4), { status: 'failed', error: { code: 'VERSION_CODE_NOT_HIGHER' } });
  t.match(device.state.software, { [CAMERA]: { version: '1.1.0', versionCode: 2 } });
  t.equal(parts.broker.published.filter(({ kind }) => kind === 'status').length, 2, 'failures change no status');
});

t.test('a package that says another versionName is installed, and reported as failed', async (t) => {
  await using parts = await bench(t.testdir(), [apk('claims-1.2.0-embeds-9.9.9')]);
  parts.send(1, 'installSoftware', order(parts.server, '1.2.0'));
  t.match(await parts.answer(1), {
    status: 'failed',
    error: { code: 'VERSION_NAME_MISMATCH', message: 'installed, but the file is version 9.9.9, not 1.2.0' },
  });
  t.match(parts.device.state.software, { [CAMERA]: { version: '9.9.9', versionCode: 3 } });
  t.match(parts.broker.published.find(({ kind }) => kind === 'status')?.body, {
    software: [{ package: CAMERA, version: '9.9.9', versionCode: 3 }],
  });
});

t.test('another package than was ordered is not installed', async (t) => {
  await using parts = await bench(t.testdir());
  parts.send(1, 'installSoftware', { ...order(parts.server), package: 'com.example.microphone' });
  t.match(await parts.answer(1), { status: 'failed', error: { code: 'PACKAGE_NAME_MISMATCH' } });
  t.strictSame(parts.device.state.software, {});
});

t.test('what does not fit into the free storage is not even requested', async (t) => {
  const equipment = { storage: 2 * first.length - 1 };
  await using parts = await bench(t.testdir(), [first, apk('1.1.0')], { equipment });
  const [old, fresh] = parts.servers as [FileServer, FileServer];
  parts.send(1, 'installSoftware', order(old));
  t.match(await parts.answer(1), { status: 'succeeded' });
  parts.send(2, 'installSoftware', order(fresh, '1.1.0'));
  t.match(await parts.answer(2), {
    status: 'failed',
    error: { code: 'STORAGE_FULL', message: `${first.length} bytes are needed, ${first.length - 1} are free` },
  });
  t.equal(fresh.requests.length, 0);
});

for (const [what, server, patch, message] of [
  ['is gone', refuse(404), {}, /answered 404/],
  ['is larger than was said', undefined, { size: first.length - 1 }, /has 8464 bytes, not 8463/],
  ['is smaller than was said', undefined, { size: first.length + 1 }, /has 8464 bytes, not 8465/],
  ['is another than was meant', undefined, { sha256: '0'.repeat(64) }, /is another than the one that was meant/],
] as const) {
  t.test(`a file that ${what} ends a download at once`, async (t) => {
    const folder = t.testdir();
    await using parts = await bench(folder);
    if (server) parts.server.script.push(server);
    parts.send(1, 'installSoftware', { ...order(parts.server), ...patch });
    t.match(await parts.answer(1), { status: 'failed', error: { code: 'DOWNLOAD_FAILED', message } });
    t.equal(parts.server.requests.length, 1);
    await parts.device.idle();
    t.strictSame(readdirSync(folder), []);
  });
}

t.test('a size is checked even when the server does not say one', async (t) => {
  await using parts = await bench(t.testdir());
  for (const length of [first.length - 1, first.length + 1]) {
    parts.server.script.push((response) => {
      // Without a length in advance it is sent in chunks.
      response.write(Buffer.alloc(length));
      response.end();
    });
  }
  parts.send(1, 'installSoftware', order(parts.server));
  parts.send(2, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), { error: { code: 'DOWNLOAD_FAILED', message: 'the file has 8463 bytes, not 8464' } });
  t.match(await parts.answer(2), { error: { code: 'DOWNLOAD_FAILED', message: 'the file has more than 8464 bytes' } });
});

t.test('a file that is no APK is a failed download', async (t) => {
  await using parts = await bench(t.testdir(), [Buffer.alloc(100_000, 'no archive')]);
  parts.send(1, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), {
    error: { code: 'DOWNLOAD_FAILED', message: 'the file is no APK: it is no zip archive' },
  });
});

t.test('attempts that get nowhere are bounded', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(500), refuse(503), refuse(429), refuse(500));
  parts.send(1, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), {
    error: { code: 'DOWNLOAD_FAILED', message: 'the server answered 429; given up after 3 attempts' },
  });
  t.equal(parts.server.requests.length, 3);
});

t.test('a server that is away is a failed download in words', async (t) => {
  await using parts = await bench(t.testdir());
  const parameters = order(parts.server);
  await parts.server[Symbol.asyncDispose]();
  parts.send(1, 'installSoftware', parameters);
  t.match(await parts.answer(1), { error: { code: 'DOWNLOAD_FAILED', message: /ECONNREFUSED.*after 3 attempts/ } });
});

t.test('a cut download goes on where it was cut, as often as each attempt gets further', async (t) => {
  await using parts = await bench(t.testdir(), [first], { patience: { attempts: 2 } });
  const { server } = parts;
  const passage = once(parts.device.events, 'download');
  const quarter = first.length / 4;
  server.script.push(server.partly(quarter), server.partly(quarter), server.partly(quarter));
  parts.send(1, 'installSoftware', order(server));
  for (const percent of [20, 40, 70]) {
    await parts.progress(1, percent);
    server.cut();
  }
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.strictSame(
    server.requests.map(({ range, ifRange }) => [range, ifRange]),
    [
      [undefined, undefined],
      [`bytes=${quarter}-`, '"one"'],
      [`bytes=${quarter * 2}-`, '"one"'],
      [`bytes=${quarter * 3}-`, '"one"'],
    ],
  );
  t.strictSame(await passage, [{ bytes: first.length, resumed: 3, renewed: 0 }]);
});

t.test('when the file has become another one meanwhile it is downloaded from its begin', async (t) => {
  await using parts = await bench(t.testdir());
  const { server } = parts;
  const passage = once(parts.device.events, 'download');
  server.script.push(server.partly(HALF));
  parts.send(1, 'installSoftware', order(server));
  await parts.progress(1, 50);
  server.retag('"two"');
  server.cut();
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.match(server.requests[1], { range: `bytes=${HALF}-`, ifRange: '"one"' });
  t.match(await passage, [{ resumed: 0 }]);
});

t.test('without a strong ETag a cut download begins again', async (t) => {
  for (const tag of ['W/"weak"', undefined]) {
    await using parts = await bench(t.testdir());
    const { server } = parts;
    server.retag(tag);
    server.script.push(server.partly(HALF));
    parts.send(1, 'installSoftware', order(server));
    await parts.progress(1, 50);
    server.cut();
    t.match(await parts.answer(1), { status: 'succeeded' });
    t.strictSame(server.requests[1], { path: '/file', range: undefined, ifRange: undefined });
  }
});

for (const [what, reaction] of [
  ['416', refuse(416)],
  [
    'another range than was asked for',
    (response: Parameters<ReturnType<typeof refuse>>[0]) =>
      response
        .writeHead(206, { etag: '"one"', 'content-range': `bytes 0-${first.length - 1}/${first.length}` })
        .end(first),
  ],
] as const) {
  t.test(`after ${what} the download begins again`, async (t) => {
    await using parts = await bench(t.testdir());
    const { server } = parts;
    server.script.push(server.partly(HALF), reaction);
    parts.send(1, 'installSoftware', order(server));
    await parts.progress(1, 50);
    server.cut();
    t.match(await parts.answer(1), { status: 'succeeded' });
    t.strictSame(
      server.requests.map(({ range }) => range),
      [undefined, `bytes=${HALF}-`, undefined],
    );
  });
}

t.test('a server that falls silent is given up, and asked again', async (t) => {
  await using parts = await bench(t.testdir(), [first], { patience: { stall: 200 } });
  const { server } = parts;
  server.script.push(server.partly(HALF), () => {});
  parts.send(1, 'installSoftware', order(server));
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.equal(server.requests.length, 3);
});

t.test('with an expired URL the device asks for a fresh one, and goes on with that', async (t) => {
  await using parts = await bench(t.testdir());
  const { server } = parts;
  const passage = once(parts.device.events, 'download');
  server.script.push(server.partly(HALF), refuse(403));
  parts.send(1, 'installSoftware', order(server));
  await parts.progress(1, 50);
  server.cut();
  const { requestId, ...request } = await parts.request();
  t.strictSame(request, { type: 'softwareDownloadUrl', data: { transactionId: 1 } });
  parts.respond({ requestId: 'of somebody else', data: server.source('/wrong') });
  parts.respond({ requestId, data: server.source('/fresh') });
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.match(server.requests[2], { path: '/fresh', range: `bytes=${HALF}-` });
  t.strictSame(await passage, [{ bytes: first.length, resumed: 1, renewed: 1 }]);
});

t.test('when the service refuses a fresh URL the download has failed', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  const { requestId } = await parts.request();
  parts.respond({ requestId, error: { code: 'BINARY_DELETED', message: 'the binary is gone.' } });
  t.match(await parts.answer(1), {
    error: { code: 'DOWNLOAD_FAILED', message: 'no fresh URL: BINARY_DELETED: the binary is gone.' },
  });
});

t.test('a fresh URL that cannot be read is a failed download', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  const { requestId } = await parts.request();
  parts.respond({ requestId, data: { ...parts.server.source(), url: 'ftp://nowhere' } });
  t.match(await parts.answer(1), { error: { code: 'DOWNLOAD_FAILED', message: 'url is no http or https URL' } });
});

t.test('a service that never answers a request is not waited for without end', async (t) => {
  await using parts = await bench(t.testdir(), [first], { patience: { answer: 5 } });
  parts.server.script.push(refuse(403), refuse(403), refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), {
    error: { code: 'DOWNLOAD_FAILED', message: 'the URL is refused (403); given up after 3 attempts' },
  });
});

t.test('a repeated command brings a newer URL to its download', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(403));
  parts.send(1, 'installSoftware', order(parts.server));
  await parts.request();
  parts.send(1, 'installSoftware', order(parts.server, '1.0.0', '/newer'), 2);
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.strictSame(
    parts.server.requests.map(({ path }) => path),
    ['/file', '/newer'],
  );
  t.equal(parts.device.executions.get(1), 1);
});

t.test('a newer URL that is there before the old one is refused is used without asking', async (t) => {
  await using parts = await bench(t.testdir());
  const { server } = parts;
  const { promise: asked, resolve } = Promise.withResolvers<() => void>();
  server.script.push((response) => resolve(() => response.writeHead(403).end()));
  parts.send(1, 'installSoftware', order(server));
  const refuseNow = await asked;
  parts.send(1, 'installSoftware', order(server, '1.0.0', '/newer'), 2);
  await once(parts.device.events, 'command');
  refuseNow();
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.notOk(parts.broker.published.some(({ kind }) => kind === 'requests'));
});

t.test('a repeated command brings a newer URL to its place in the queue', async (t) => {
  await using parts = await bench(t.testdir(), [first, apk('1.1.0')]);
  const [old, fresh] = parts.servers as [FileServer, FileServer];
  old.script.push(old.partly(HALF));
  parts.send(1, 'installSoftware', order(old));
  parts.send(2, 'installSoftware', order(fresh, '1.1.0'));
  await parts.progress(1, 50);
  parts.send(2, 'installSoftware', order(fresh, '1.1.0', '/newer'), 2);
  const [, reaction] = await once(parts.device.events, 'command');
  t.equal(reaction, 'underway');
  old.cut();
  t.match(await parts.answer(2), { status: 'succeeded' });
  t.strictSame(
    fresh.requests.map(({ path }) => path),
    ['/newer'],
  );
});

t.test('without a connection the request for a fresh URL waits for the next one', async (t) => {
  await using parts = await bench(t.testdir());
  const { server, device } = parts;
  const { promise: asked, resolve } = Promise.withResolvers<() => void>();
  server.script.push((response) => resolve(() => response.writeHead(403, { connection: 'close' }).end()));
  parts.send(1, 'installSoftware', order(server));
  const refuseNow = await asked;
  await device.drop();
  const gone = new Promise((done) => server.sockets.values().next().value?.once('close', done));
  refuseNow();
  await gone;
  t.equal(parts.broker.published.filter(({ kind }) => kind === 'requests').length, 0);
  await device.connect();
  const { requestId } = await parts.request();
  parts.respond({ requestId, data: server.source('/fresh') });
  t.match(await parts.answer(1), { status: 'succeeded' });
});

t.test('an installation that ends without a connection is told on the next one', async (t) => {
  await using parts = await bench(t.testdir());
  const { server, device, broker } = parts;
  server.script.push(server.partly(HALF));
  parts.send(1, 'installSoftware', order(server));
  await parts.progress(1, 50);
  await device.drop();
  const answered = once(device.events, 'answer');
  server.cut();
  await answered;
  t.ok(device.outstanding >= 2, 'a status and an answer');
  await device.connect();
  t.match(await parts.answer(1), { status: 'succeeded' });
  await device.idle();
  t.strictSame(
    broker.published.slice(-2).map(({ kind }) => kind),
    ['status', 'acks'],
  );
});

t.test('progress is told from 0 to 100, in steps of at least ten percent', async (t) => {
  await using parts = await bench(t.testdir(), [Buffer.alloc(4 * 1024 * 1024)]);
  parts.send(1, 'updateFirmware', order(parts.server, '9.002.0'));
  await parts.answer(1);
  const told = parts.broker.acks.filter(({ status }) => status === 'processing').map((ack) => Number(ack['progress']));
  t.equal(told[0], 0);
  t.equal(told.at(-1), 100);
  told.slice(1).forEach((percent, index) => {
    t.ok(Math.floor(percent / 10) > Math.floor((told[index] ?? 0) / 10), `${percent} after ${told[index]}`);
  });
});

t.test('a firmware need not be an APK, and replaces the one before', async (t) => {
  const folder = t.testdir();
  await using parts = await bench(folder, [Buffer.alloc(100_000)]);
  parts.send(1, 'updateFirmware', { ...order(parts.server, '9.002.0'), package: 'com.lapel.firmware' });
  t.strictSame(await parts.answer(1), {
    deviceId,
    transactionId: 1,
    status: 'succeeded',
    result: { package: 'com.lapel.firmware', version: '9.002.0' },
  });
  t.equal(parts.device.state.firmwareVersion, '9.002.0');
  t.strictSame(
    parts.broker.published.filter(({ kind }) => kind === 'status').map(({ body }) => body),
    [{ firmwareVersion: '9.002.0' }],
  );
  t.strictSame(readdirSync(folder), []);
});

t.test('a long download holds nothing else up; the next one waits for it', async (t) => {
  await using parts = await bench(t.testdir(), [first, apk('1.1.0')]);
  const [old, fresh] = parts.servers as [FileServer, FileServer];
  old.script.push(old.partly(HALF));
  parts.send(1, 'installSoftware', order(old));
  parts.send(2, 'installSoftware', order(fresh, '1.1.0'));
  parts.send(3, 'setWifi', wifi('office'));
  t.match(await parts.answer(3), { status: 'succeeded' });
  t.equal(fresh.requests.length, 0);
  await parts.progress(1, 50);
  old.cut();
  t.strictSame(await parts.answer(2), succeeded(2, '1.1.0', 2));
  t.strictSame(
    parts.broker.acks.filter(({ status }) => status === 'succeeded').map(({ transactionId }) => transactionId),
    [3, 1, 2],
  );
});

t.test('a cancelled download stops, leaves nothing behind, and lets the next command go on', async (t) => {
  const folder = t.testdir();
  await using parts = await bench(folder);
  const { server, device, broker } = parts;
  server.script.push(server.partly(HALF));
  parts.send(1, 'installSoftware', order(server));
  await parts.progress(1, 50);
  t.strictSame(readdirSync(folder), [`${deviceId}-1.part`]);
  const closed = new Promise((resolve) => server.sockets.values().next().value?.once('close', resolve));
  parts.send(1, 'cancel');
  parts.send(2, 'setWifi', wifi('office'));
  t.match(await parts.answer(2), { status: 'succeeded' });
  await closed;
  await device.idle();
  t.strictSame(readdirSync(folder), []);
  t.strictSame(device.state.software, {});
  parts.send(1, 'installSoftware', order(server), 2);
  const [, reaction] = await once(device.events, 'command');
  t.equal(reaction, 'ignored');
  t.equal(server.requests.length, 1);
  t.notOk(broker.acks.some(({ transactionId, status }) => transactionId === 1 && status !== 'processing'));
});

t.test('a cancel stops a device that waits for a fresh URL, or rests, or installs', async (t) => {
  await using parts = await bench(t.testdir(), [first], {
    behaviour: { latency: { min: 60_000, max: 60_000 } },
    patience: { attempts: 100, pause: { min: 60_000, max: 60_000 } },
  });
  const { server, device } = parts;
  server.script.push(refuse(403), refuse(500));
  parts.send(1, 'installSoftware', order(server));
  await parts.request();
  parts.send(1, 'cancel');
  await once(device.events, 'command');
  await device.idle();
  parts.send(2, 'installSoftware', order(server));
  await server.requestsAre(2);
  parts.send(2, 'cancel');
  await once(device.events, 'command');
  await device.idle();
  parts.send(3, 'installSoftware', order(server));
  await once(device.events, 'download');
  parts.send(3, 'cancel');
  await once(device.events, 'command');
  await device.idle();
  t.strictSame(device.state.software, {});
  t.notOk(parts.broker.acks.some(({ status }) => status !== 'processing'));
});

t.test('a finished installation is answered from memory', async (t) => {
  await using parts = await bench(t.testdir());
  const { server, device, broker } = parts;
  parts.send(1, 'installSoftware', order(server));
  const answer = await parts.answer(1);
  await device.idle();
  parts.send(1, 'installSoftware', order(server), 2);
  const [, repeated] = await once(device.events, 'answer');
  t.equal(repeated, true);
  await device.idle();
  t.strictSame(await broker.until(() => broker.acks.filter(({ status }) => status !== 'processing')[1]), answer);
  t.equal(server.requests.length, 1);
  t.equal(device.executions.get(1), 1);
});

t.test('installed software is remembered over a restart of the simulator', async (t) => {
  const folder = t.testdir();
  const journal = () => createStateFile({ folder: join(folder, 'state'), deviceId, bound: 10 });
  const equipment = { software: { 'com.example.old': { version: '1', versionCode: 1, size: 0 } } };
  {
    await using parts = await bench(folder, [first], { journal: journal(), equipment });
    parts.send(1, 'installSoftware', order(parts.server));
    await parts.answer(1);
    await parts.device.idle();
  }
  await using parts = await bench(folder, [first], { journal: journal(), reportStatus: true });
  const status = await parts.broker.until(() => parts.broker.published[0]);
  t.match(status, {
    kind: 'status',
    body: { software: [{ package: 'com.example.old' }, { package: CAMERA, version: '1.0.0', versionCode: 1 }] },
  });
  parts.send(2, 'installSoftware', order(parts.server));
  t.match(await parts.answer(2), { error: { code: 'VERSION_CODE_NOT_HIGHER' } });
});

t.test('a device that is put away in the middle of a download leaves nothing behind', async (t) => {
  const folder = t.testdir();
  {
    await using parts = await bench(folder);
    parts.server.script.push(parts.server.partly(HALF));
    parts.send(1, 'installSoftware', order(parts.server));
    await parts.progress(1, 50);
  }
  t.strictSame(readdirSync(folder), []);
});

t.test('a temporary folder for downloads is removed at the end, a given one is not', async (t) => {
  const given = join(t.testdir(), 'made', 'when needed');
  const own = createDownloadFolder();
  const named = createDownloadFolder(given);
  const path = await own.path();
  t.equal(await own.path(), path);
  t.ok(existsSync(path));
  t.notOk(existsSync(given));
  await named.path();
  await own[Symbol.asyncDispose]();
  await named[Symbol.asyncDispose]();
  t.notOk(existsSync(path));
  t.ok(existsSync(given));
});

t.test('a folder that cannot be written to is the fault of the device', async (t) => {
  await using parts = await bench(join(t.testdir({ file: '' }), 'file'));
  parts.send(1, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), { error: { code: 'INTERNAL' } });
});

t.test('a response that cannot be read is a breach of the contract', async (t) => {
  await using parts = await bench(t.testdir());
  parts.respond({ data: {} });
  parts.respond({ requestId: 'a' });
  parts.respond({ requestId: 'a', error: { code: 7 } });
  parts.send(1, 'setWifi', wifi('office'));
  await parts.answer(1);
  t.strictSame(parts.violations, [
    'a response that cannot be read: requestId is missing',
    'a response that cannot be read: it has neither data nor error',
    'a response that cannot be read: code or message is missing',
  ]);
});
