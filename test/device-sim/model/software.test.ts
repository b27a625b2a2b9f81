import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createStateFile } from '@lapel/device-sim/model/state-file';
import t from 'tap';
import { apk, bench, CAMERA, deviceId, first, order, succeeded } from '../files/download-bench.ts';
import type { FileServer } from '../files/file-server.ts';

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

t.test('a package with another versionName is installed, and reported as failed', async (t) => {
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

t.test('a file that does not fit into the free storage is not even requested', async (t) => {
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
