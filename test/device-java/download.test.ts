import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@lapel/tools/harness/free-port';
import t from 'tap';
import { missing } from '../installed.ts';
import { until } from '../until.ts';
import { startWorld, transactionIdOf } from '../world.ts';
import { drive } from './driven.ts';
import { compiled } from './java.ts';

const MEBIBYTE = 1024 ** 2;
const APK = { package: 'com.example.camera', version: '1.0.0' };
const FILE = randomBytes(6 * MEBIBYTE);

t.test('a download in Java goes on after a power cut where it was', { skip: missing.java() }, async (t) => {
  t.setTimeout(300_000);
  const folder = t.testdir({ data: {} });
  const classes = await compiled();
  const [objects, relayed] = [await freePort(), await freePort()];
  const world = await startWorld(t, {
    dataDir: join(folder, 'data'),
    env: { LAPEL_OBJECTS_PORT: String(objects), LAPEL_OBJECTS_URL: `http://127.0.0.1:${relayed}` },
  });

  /** Between the device and the store: it lets so many bytes of a file through, and then stands still. */
  const network = { most: Number.POSITIVE_INFINITY, asked: [] as string[] };
  const relay = createServer((socket) => {
    const store = connect(objects, '127.0.0.1');
    for (const one of [socket, store]) {
      one.on('error', () => {});
      t.teardown(() => one.destroy());
    }
    let isFile = false;
    let passed = 0;
    socket.on('data', (chunk) => {
      const [head = ''] = chunk.toString('latin1').split('\r\n\r\n');
      if (head.startsWith('GET ')) {
        isFile = true;
        network.asked.push(/^range: (.*)$/im.exec(head)?.[1] ?? 'all');
      }
      store.write(chunk);
    });
    store.on('data', (chunk) => {
      const rest = isFile ? Math.max(0, network.most - passed) : chunk.length;
      passed += chunk.length;
      socket.write(chunk.subarray(0, rest));
    });
    socket.on('close', () => store.destroy());
    store.on('close', () => passed < network.most && socket.end());
  }).listen(relayed, '127.0.0.1');
  await once(relay, 'listening');
  t.teardown(() => relay.close());

  const tenant = await world.createTenant();
  const { deviceId, credential } = await world.registerDevice();
  const { hostname, port } = new URL(world.service.addresses.mqtt);
  const path = `${tenant.path}/devices/${deviceId}`;
  const file = join(folder, 'file');
  const device = drive(t, { classes, given: [hostname, port, deviceId, file], credential });
  device.start();
  await tenant.api.post(path, { json: {} });
  t.match((await tenant.event()).data.transaction, { status: 'succeeded' });

  const upload = await tenant.api.post(`${tenant.path}/apps`, { json: { ...APK, fileSize: FILE.length } });
  const { status } = await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: FILE });
  t.equal(status, 200);
  await tenant.api.post(`${tenant.path}/packages/${APK.package}/versions/${APK.version}/distributions`);

  network.most = 3.5 * MEBIBYTE;
  const installed = transactionIdOf(await tenant.api.put(`${path}/apps`, { json: APK }));
  const part = `${file}.apk.part`;
  await until(() => existsSync(part) && readFileSync(part).length > 3 * MEBIBYTE);
  await device.cutPower();
  network.most = Number.POSITIVE_INFINITY;
  device.start();
  t.match((await tenant.event()).data.transaction, { transactionId: installed, status: 'succeeded', result: APK });
  const { begin } = device.told.findLast((line) => line.begin) ?? {};
  t.match(begin, { transactionId: installed, interrupted: true });
  const known = begin?.progress?.bytes ?? 0;
  t.ok(known >= 3 * MEBIBYTE && known <= 3.5 * MEBIBYTE, `${known} bytes were known to be on the disk`);
  t.same(network.asked, ['all', `bytes=${known}-`], 'first the whole file, then only the rest');
  const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  t.equal(hashOf(readFileSync(`${file}.apk`)), hashOf(FILE));
  t.notOk(existsSync(part), 'the part has become the file');
});
