import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createObjectStore } from '../../src/platform/objects/object-store.ts';
import { openObjects } from '../../src/platform/objects/open-objects.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { startEmbedded } from './stores.ts';

const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
const address = { region: 'us-east-1', bucket: 'lapel', credentials };

async function listening(t: Test, server: ReturnType<typeof createTcpServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

await t.test('URLs are signed with the injected time, and presigning makes no request', async (t) => {
  const clock = createFakeClock();
  const store = createObjectStore({ ...address, endpoint: 'http://store.invalid:9', clock });
  const upload = await store.uploadUrl('a/b', { expiresIn: 3600 });
  t.match(upload.url, 'X-Amz-Date=20261120T093000Z');
  t.match(upload.url, 'http://store.invalid:9/lapel/a/b?');
  t.same([upload.startTimestamp, upload.endTimestamp, upload.expireIn], [1795167000, 1795170600, 3600]);
  const download = await store.downloadUrl('a/b', { expiresIn: 600 });
  t.equal(download.expiresAt, (1795167000 + 600) * 1_000_000);
});

await t.test('URLs name the public address, the service uses its own', async (t) => {
  const { endpoint, credentials, region, bucket } = await startEmbedded(t);
  const store = createObjectStore({
    endpoint,
    publicEndpoint: 'https://files.example/store',
    credentials,
    region,
    bucket,
    clock: systemClock,
  });
  t.teardown(() => store[Symbol.asyncDispose]());
  t.equal(await store.head('a'), undefined);
  t.match((await store.uploadUrl('a', { expiresIn: 1 })).url, 'https://files.example/store/lapel/a?');
});

await t.test('a store that is down is a clear error within seconds', async (t) => {
  const server = createTcpServer();
  const endpoint = await listening(t, server);
  server.close();
  const store = createObjectStore({ ...address, endpoint, clock: systemClock });
  const startedAt = performance.now();
  const works: (() => Promise<unknown>)[] = [
    () => store.head('a'),
    () => store.read('a', 0, 1),
    () => store.remove('a'),
  ];
  for (const work of works) {
    await t.rejects(work(), { code: 'OBJECT_STORE_UNAVAILABLE', cause: { code: 'ECONNREFUSED' } });
  }
  t.ok(performance.now() - startedAt < 10_000);
});

await t.test('a store that does not answer is given up at the deadline', async (t) => {
  const endpoint = await listening(
    t,
    createTcpServer((socket) => socket.resume().on('error', () => undefined)),
  );
  const clock = createFakeClock();
  const store = createObjectStore({ ...address, endpoint, clock, limits: { deadlineMs: 5_000 } });
  t.teardown(() => store[Symbol.asyncDispose]());
  const head = store.head('a');
  clock.advance(5_000);
  await t.rejects(head, { code: 'OBJECT_STORE_UNAVAILABLE' });
  t.equal(clock.timers(), 0);
});

await t.test('failed requests to the store are repeated, a bounded number of times', async (t) => {
  let requests = 0;
  let failures = 2;
  const server = createServer((_request, response) => {
    requests += 1;
    failures -= 1;
    response
      .writeHead(failures >= 0 ? 503 : 200, {
        etag: '"x"',
        'last-modified': 'Fri, 20 Nov 2026 09:30:00 GMT',
        'content-length': 0,
      })
      .end();
  });
  const store = createObjectStore({ ...address, endpoint: await listening(t, server), clock: systemClock });
  t.teardown(() => store[Symbol.asyncDispose]());
  t.same(await store.head('a'), { size: 0, etag: '"x"', uploadedAt: 1_795_167_000_000_000 });
  t.equal(requests, 3);
  failures = Number.POSITIVE_INFINITY;
  await t.rejects(store.head('a'), { code: 'OBJECT_STORE_UNAVAILABLE' });
  t.equal(requests, 6);
});

await t.test('if a store answers a range with the whole file, the rest is not read', async (t) => {
  let sent = 0;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 1e9 });
    const more = (): void => {
      sent += 65536;
      if (!response.destroyed && response.write(Buffer.alloc(65536))) setImmediate(more);
    };
    response.on('drain', more).on('error', () => undefined);
    more();
  });
  const store = createObjectStore({ ...address, endpoint: await listening(t, server), clock: systemClock });
  t.teardown(() => store[Symbol.asyncDispose]());
  await t.rejects(store.read('a', 0, 9), { code: 'OBJECT_STORE_UNAVAILABLE' });
  t.ok(sent < 50e6);
});

await t.test('while the process is busy its own store is slow, but available', async (t) => {
  const objects = await openObjects({
    config: { dataDir: t.testdir(), objects: readConfig({ env: { LAPEL_OBJECTS_PORT: '0' } }).objects },
    clock: systemClock,
    ids: randomIds,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    ownerOf: async () => '',
    distributedSince: async () => null,
    admits: async () => true,
    pages: () => [],
  });
  t.teardown(() => objects[Symbol.asyncDispose]());
  // Blocks the event loop for longer than a connection may take.
  const end = performance.now() + 2_400;
  const hog = (): void => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    if (performance.now() < end) setImmediate(hog);
  };
  hog();
  const found = await Promise.all(Array.from({ length: 200 }, () => objects.store.head('a')));
  t.same(new Set(found), new Set([undefined]));
});
