import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDownloadFolder } from '@lapel/device-sim/files/download-folder';
import t from 'tap';
import { narrowNetwork } from '../narrow-network.ts';
import { wifi } from '../plain-broker.ts';
import { apk, bench, deviceId, first, HALF, order, succeeded } from './download-bench.ts';
import { type FileServer, refuse } from './file-server.ts';

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

t.test('a size is checked even if the server does not state one', async (t) => {
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
    error: { code: 'DOWNLOAD_FAILED', message: 'the download is no APK: the file is not a zip archive' },
  });
});

t.test('attempts without progress are bounded', async (t) => {
  await using parts = await bench(t.testdir());
  parts.server.script.push(refuse(500), refuse(503), refuse(429), refuse(500));
  parts.send(1, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), {
    error: { code: 'DOWNLOAD_FAILED', message: 'the server answered 429; given up after 3 attempts' },
  });
  t.equal(parts.server.requests.length, 3);
});

t.test('a missing server is a failed download with a sentence', async (t) => {
  await using parts = await bench(t.testdir());
  const parameters = order(parts.server);
  await parts.server[Symbol.asyncDispose]();
  parts.send(1, 'installSoftware', parameters);
  t.match(await parts.answer(1), { error: { code: 'DOWNLOAD_FAILED', message: /ECONNREFUSED.*after 3 attempts/ } });
});

t.test('a cut download resumes where it was cut, as long as each attempt makes progress', async (t) => {
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

t.test('if the file has changed meanwhile, it is downloaded from its beginning', async (t) => {
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

t.test('a silent server is given up, and asked again', async (t) => {
  // On a busy machine an answer may come after the 200 ms as well: more attempts make up for it.
  await using parts = await bench(t.testdir(), [first], { patience: { stall: 200, attempts: 20 } });
  const { server } = parts;
  server.script.push(server.partly(HALF), () => {});
  parts.send(1, 'installSoftware', order(server));
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.ok(server.requests.length >= 3, 'it has asked after both silences');
});

t.test('progress is reported from 0 to 100, in steps of at least ten percent', async (t) => {
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

t.test('a narrow network delays each byte of a download', async (t) => {
  const { options, waited } = narrowNetwork();
  await using parts = await bench(t.testdir(), [Buffer.alloc(800_000)], options);
  parts.send(1, 'updateFirmware', order(parts.server, '9.002.0'));
  t.match(await parts.answer(1), { status: 'succeeded' });
  t.ok(waited() >= 800, `${waited()} ms for 800 kB at 1 MB a second`);
});

t.test('a long download delays only the next download', async (t) => {
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

t.test('a cancelled download stops, leaves nothing behind, and lets the next command begin', async (t) => {
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

t.test('a cancel stops a device that waits for a fresh URL, pauses, or installs', async (t) => {
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

t.test('a device that is removed in the middle of a download leaves nothing behind', async (t) => {
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

t.test('a folder without write access is reported as a failure of the device', async (t) => {
  await using parts = await bench(join(t.testdir({ file: '' }), 'file'));
  parts.send(1, 'installSoftware', order(parts.server));
  t.match(await parts.answer(1), { error: { code: 'INTERNAL' } });
});
