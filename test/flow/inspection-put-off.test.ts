import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { useS3Credentials } from '../s3-credentials.ts';
import { until } from '../until.ts';
import { startWorld, type Tenant } from '../world.ts';

const CONTENT = Buffer.from('this is no archive, and it has no more than these words');
const MINUTE_MS = 60_000;

/** A store with the same file for every name. Inspections read ranges; they fail or wait as the test wants it. */
async function startStore(t: Test) {
  useS3Credentials();
  const held: (() => void)[] = [];
  const state = { fails: false, holds: false, reads: 0 };
  const server = createServer((request, response) => {
    response.setHeader('etag', '"one"').setHeader('last-modified', 'Fri, 20 Nov 2026 09:30:00 GMT');
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (start === undefined) {
      response.setHeader('content-length', CONTENT.length).end(CONTENT);
      return;
    }
    state.reads += 1;
    const answer = (): void => {
      const part = CONTENT.subarray(Number(start), Number(end) + 1);
      response.statusCode = state.fails ? 403 : 206;
      if (state.fails) response.end();
      else
        response
          .setHeader('content-range', `bytes ${start}-${end}/${CONTENT.length}`)
          .setHeader('content-length', part.length)
          .end(part);
    };
    if (state.holds) held.push(answer);
    else answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const release = (): void => {
    state.holds = false;
    for (const answer of held.splice(0)) answer();
  };
  const env = { LAPEL_S3_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  return { state, release, env };
}

/** Registers a version, and looks at its file, which begins its inspection. */
async function seen({ api, path }: Tenant, name: string): Promise<void> {
  const json = { package: `com.example.${name}`, version: '1.0.0', fileSize: CONTENT.length };
  await api.post(`${path}/apps`, { json });
  await api.get(`${path}/packages/${json.package}/versions/1.0.0/binaries`);
}

t.test('a file whose inspection has failed too often is inspected later', async (t) => {
  const store = await startStore(t);
  const world = await startWorld(t, { env: store.env });
  const tenant = await world.createTenant();
  const warned = async () => (await world.admin().get('/admin/v1/binary-warnings')).body.warnings as object[];
  store.state.fails = true;
  await seen(tenant, 'camera');
  for (let tries = 1; tries <= 10; tries += 1) {
    await until(() => store.state.reads >= tries);
    await world.idle();
    if (tries < 10) world.clock.advance(1000 * 2 ** tries);
  }
  const { values } = await world.service.metrics.inspectionsPutOff.get();
  t.match(values, [{ value: 1, labels: { why: 'failed' } }]);
  store.state.fails = false;
  for (let minutes = 0; minutes < 15; minutes += 1) {
    t.same(await warned(), []);
    world.clock.advance(MINUTE_MS);
    await world.idle();
  }
  t.match(await warned(), [{ package: 'com.example.camera' }]);
  t.same((await world.service.metrics.overlooked.get()).values, []);
});

t.test('an inspection that a stop interrupts is carried out after the start', async (t) => {
  const store = await startStore(t);
  const world = await startWorld(t, { env: store.env });
  const tenant = await world.createTenant();
  store.state.holds = true;
  for (const name of ['a', 'b', 'c']) await seen(tenant, name);
  await until(() => store.state.reads === 2);
  await world.service[Symbol.asyncDispose]();
  store.release();
  await world.restart();
  await world.idle();
  const { warnings } = (await world.admin().get('/admin/v1/binary-warnings')).body;
  t.match(warnings, [{ package: 'com.example.a' }, { package: 'com.example.b' }, { package: 'com.example.c' }]);
});

t.test('a distributed version whose inspection a crash has lost is inspected after the start', async (t) => {
  const store = await startStore(t);
  const world = await startWorld(t, { env: store.env });
  const tenant = await world.createTenant();
  await seen(tenant, 'camera');
  await tenant.api.post(`${tenant.path}/packages/com.example.camera/versions/1.0.0/distributions`);
  await world.idle();
  await (await world.raw()).all('DELETE FROM binary_contents');
  await world.restart();
  await world.idle();
  t.match((await world.admin().get('/admin/v1/binary-warnings')).body, {
    warnings: [{ package: 'com.example.camera' }],
  });
});

t.test('files above the number that may wait in memory wait in the database', async (t) => {
  const store = await startStore(t);
  const env = { ...store.env, LAPEL_RATE_LIMIT: '0', LAPEL_DEVELOPER_PACKAGES: '0' };
  const world = await startWorld(t, { env });
  const tenant = await world.createTenant();
  store.state.holds = true;
  const putOff = async () => (await world.service.metrics.inspectionsPutOff.get()).values;
  const count = async (): Promise<number> => (await putOff())[0]?.value ?? 0;
  // On a slow machine the first ones give up before a thousand wait, so there may be more.
  for (let first = 0; (await count()) < 3 && first < 4_000; first += 67)
    await Promise.all(Array.from({ length: 67 }, (_, index) => seen(tenant, `p${first + index}`)));
  t.ok((await count()) >= 3);
  t.match(await putOff(), [{ labels: { why: 'full' } }]);
  const rows = async () => (await world.raw()).all("SELECT 1 FROM binary_contents WHERE etag = ''");
  await until(async () => (await rows()).length >= 3);
});

t.test('an inspection that nobody takes up is said to be overlooked, and carried out', async (t) => {
  const store = await startStore(t);
  // On PostgreSQL each node searches every minute, so the row would not be overlooked.
  const world = await startWorld(t, { env: store.env, database: 'sqlite' });
  const tenant = await world.createTenant();
  await seen(tenant, 'camera');
  await world.idle();
  await (await world.raw()).all("UPDATE binary_contents SET etag = '', warning = NULL, read_at = 1");
  const overlooked = async () => (await world.service.metrics.overlooked.get()).values;
  const before = store.state.reads;
  for (let looks = 0; looks < 3; looks += 1) {
    world.clock.advance(MINUTE_MS);
    await world.idle();
    await until(async () => looks < 2 || (await overlooked()).length === 1);
  }
  t.match(await overlooked(), [{ value: 1, labels: { what: 'inspections' } }]);
  await until(() => store.state.reads > before);
});
