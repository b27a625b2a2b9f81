import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { useS3Credentials } from '../s3-credentials.ts';
import { startWorld } from '../world.ts';

const apk = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../../tools/demo/apks', name));

t.test('an upload that differs from its registration is distributed, and administration gets a warning', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const upload = async (name: string, version: string, binary: Buffer): Promise<void> => {
    const json = { package: name, version, fileSize: binary.length };
    const answer = await tenant.api.post(`${tenant.path}/apps`, { json });
    await fetch(answer.body.urlList[0].uploadUrl, { method: 'PUT', body: new Uint8Array(binary) });
  };
  const warnings = async () => {
    await world.idle();
    return (await world.admin().get('/admin/v1/binary-warnings')).body.warnings;
  };
  const versionPath = (name: string, version: string) => `${tenant.path}/packages/${name}/versions/${version}`;

  await upload('com.example.camera', '1.0.0', apk('camera-1.0.0.apk'));
  await upload('com.example.camera', '1.2.0', apk('camera-claims-1.2.0-embeds-9.9.9.apk'));
  await upload('com.example.other', '1.1.0', apk('camera-1.1.0.apk'));
  await upload('com.example.text', '1.0.0', Buffer.from('this is no archive'));
  t.same(await warnings(), [], 'nothing was seen yet');

  await tenant.api.get(`${versionPath('com.example.camera', '1.0.0')}/binaries`); // op 20
  const started = await tenant.api.post(`${versionPath('com.example.camera', '1.2.0')}/distributions`); // op 26
  t.equal(started.status, 201);
  await tenant.api.get(`${versionPath('com.example.text', '1.0.0')}/binaries`);
  await world.idle();
  await tenant.api.post(`${versionPath('com.example.other', '1.1.0')}/distributions`);
  t.match(await warnings(), [
    {
      package: 'com.example.camera',
      version: '1.2.0',
      warning: 'the file has the version name 9.9.9.',
      found: { package: 'com.example.camera', versionName: '9.9.9', versionCode: 3 },
    },
    { package: 'com.example.other', version: '1.1.0', warning: 'the file is of the package com.example.camera.' },
    { package: 'com.example.text', version: '1.0.0', found: null },
  ]);

  const other = await world.createTenant('other');
  const own = async ({ api, path }: typeof tenant) => (await api.get(`${path}/binary-warnings?limit=1&offset=1`)).body;
  t.match(await own(tenant), { warnings: [{ package: 'com.example.other' }], total: 3 }, 'its developer sees it, too');
  t.same(await own(other), { warnings: [], total: 0 }, 'no other developer does');

  await upload('com.example.text', '1.0.0', apk('camera-1.0.0.apk'));
  await tenant.api.get(`${versionPath('com.example.text', '1.0.0')}/binaries`);
  t.match(
    (await warnings()).at(-1),
    { package: 'com.example.text', found: { versionName: '1.0.0' } },
    'a new upload is read anew',
  );
  await tenant.api.delete(`${versionPath('com.example.text', '1.0.0')}/binaries`);
  await tenant.api.delete(versionPath('com.example.text', '1.0.0'));
  t.equal((await warnings()).length, 2, 'a version that is removed takes its warning along');
});

t.test('when the service stops while it reads a file, nothing about the file is stored or logged', async (t) => {
  useS3Credentials();
  const store = createServer((request, response) => {
    response.setHeader('etag', '"one"').setHeader('last-modified', 'Fri, 20 Nov 2026 09:30:00 GMT');
    if (request.method === 'HEAD') response.setHeader('content-length', 1_000_000).end();
    else store.emit('asked', request.headers.range); // and it never answers
  });
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  t.teardown(() => store.close());
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const log = createLog({ level: 'warn', destination });
  const env = { LAPEL_S3_ENDPOINT: `http://127.0.0.1:${(store.address() as AddressInfo).port}` };
  const world = await startWorld(t, { env, log });
  const tenant = await world.createTenant();
  const json = { package: 'com.example.camera', version: '1.0.0', fileSize: 1_000_000 };
  await tenant.api.post(`${tenant.path}/apps`, { json });

  const asked = (whole: boolean) =>
    new Promise<void>((resolve) => {
      store.on('asked', (range?: string) => (range === undefined) === whole && resolve());
    });
  const both = [asked(true), asked(false)];
  const device = await world.activatedDevice(tenant);
  world.clock.advance(1000); // stores the deliveries
  await tenant.api.post(`${tenant.path}/packages/com.example.camera/versions/1.0.0/distributions`);
  const wanted = { package: json.package, version: json.version };
  t.equal((await tenant.api.put(`${device.path}/apps`, { json: wanted })).status, 201);
  await Promise.all(both); // the service reads its manifest and makes its digest
  await world.service[Symbol.asyncDispose]();
  t.equal(world.clock.timers(), 0, 'nobody waits for the store any more');
  t.same(lines, []);
  await world.restart();
  t.same((await world.admin().get('/admin/v1/binary-warnings')).body.warnings, []);
});
