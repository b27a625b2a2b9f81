import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { useS3Credentials } from '../s3-credentials.ts';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'].map((name) => `com.example.${name}`);
const CONTENT = Buffer.from('this is no archive, and it has no more than these words');

t.test('files that wait behind two others are inspected when those have ended', async (t) => {
  useS3Credentials();
  const held = new Set<() => void>();
  const store = createServer((request, response) => {
    response.setHeader('etag', '"one"').setHeader('last-modified', 'Fri, 20 Nov 2026 09:30:00 GMT');
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    // The digest of a file is made of all its bytes; only inspections read ranges.
    if (start === undefined) response.setHeader('content-length', CONTENT.length).end(CONTENT);
    else {
      const part = CONTENT.subarray(Number(start), Number(end) + 1);
      response.statusCode = 206;
      response.setHeader('content-range', `bytes ${start}-${end}/${CONTENT.length}`);
      held.add(() => response.setHeader('content-length', part.length).end(part));
    }
  });
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  t.teardown(() => store.close());
  const env = { LAPEL_S3_ENDPOINT: `http://127.0.0.1:${(store.address() as AddressInfo).port}` };
  const world = await startWorld(t, { env });
  const tenant = await world.createTenant();
  const register = (name: string) =>
    tenant.api.post(`${tenant.path}/apps`, { json: { package: name, version: '1.0.0', fileSize: CONTENT.length } });
  for (const name of NAMES) await register(name);
  for (const name of NAMES) await tenant.api.get(`${tenant.path}/packages/${name}/versions/1.0.0/binaries`);

  const warned = async (): Promise<string[]> =>
    (await world.admin().get('/admin/v1/binary-warnings')).body.warnings.map((one: { package: string }) => one.package);
  await until(() => held.size === 2);
  t.same(await warned(), [], 'two at a time');
  const release = (): void => {
    for (const answer of held) answer();
    held.clear();
  };
  store.on('request', release);
  release();
  await world.idle();
  t.same((await warned()).sort(), NAMES);
});
