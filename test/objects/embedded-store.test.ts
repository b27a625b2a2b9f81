import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { rawRequest } from './raw-request.ts';
import { startEmbedded } from './stores.ts';

const KEY = 'packages/com.example.camera/1.0.0.apk';
const put = (url: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body: new Uint8Array(Buffer.from(body)), headers });
const codeOf = (text: string): string | undefined => /<Code>(\w+)<\/Code>/.exec(text)?.[1];
const litter = (folder: string): string[] => readdirSync(join(folder, 'objects', 'drafts'));
const objects = (folder: string): string[] => readdirSync(join(folder, 'objects', 'objects'));

async function withUrl(t: Test, parts: Parameters<typeof startEmbedded>[1] = {}) {
  const running = await startEmbedded(t, parts);
  const { url } = await running.store.uploadUrl(KEY, { expiresIn: 600 });
  return { ...running, url };
}

await t.test('every refusal is an XML error with a code of S3', async (t) => {
  const { url, store, as } = await withUrl(t, { limits: { objectBytes: 1000 } });
  const get = (await store.downloadUrl(KEY, { expiresIn: 60 })).url;
  const refusal = async (target: string, init: RequestInit = {}) => {
    const answer = await fetch(target, init);
    const text = await answer.text();
    t.match(answer.headers.get('content-type'), 'application/xml');
    t.match(text, `<RequestId>${answer.headers.get('x-amz-request-id')}</RequestId>`);
    return [answer.status, codeOf(text)];
  };
  t.same(await refusal(get), [404, 'NoSuchKey']);
  t.same(await refusal(`${get}&uploads`), [403, 'SignatureDoesNotMatch']);
  t.same(await refusal(get.split('?')[0]!), [403, 'AccessDenied']);
  t.same(await refusal(get.replace('.apk', '%zz')), [400, 'InvalidURI']);
  t.same(await refusal(get.replace('.apk', 'x'.repeat(1025))), [400, 'KeyTooLongError']);
  t.same(await refusal(`${get}&x-amz-expires=9`), [403, 'AccessDenied']);
  t.same(await refusal(get, { headers: { 'x-amz-unsigned': '1' } }), [403, 'AccessDenied']);
  t.same(await refusal(get, { headers: { authorization: 'Bearer x' } }), [403, 'AccessDenied']);
  t.same(await refusal(get, { method: 'DELETE' }), [403, 'SignatureDoesNotMatch']);
  t.same(await refusal((await as({ accessKeyId: 'nobody' }).downloadUrl(KEY, { expiresIn: 60 })).url), [
    403,
    'InvalidAccessKeyId',
  ]);
  t.same(await refusal((await as({ region: 'eu-west-1' }).downloadUrl(KEY, { expiresIn: 60 })).url), [
    403,
    'AccessDenied',
  ]);
  t.same(await refusal((await as({ aheadMs: 16 * 60_000 }).downloadUrl(KEY, { expiresIn: 60 })).url), [
    403,
    'AccessDenied',
  ]);
  t.same(await refusal((await as({ aheadMs: -60_000 }).downloadUrl(KEY, { expiresIn: 60 })).url), [
    403,
    'AccessDenied',
  ]);
  t.same(await refusal(url, { method: 'PUT', body: 'x'.repeat(1001) }), [400, 'EntityTooLarge']);
  t.same(await refusal(url, { method: 'PUT', body: 'x', headers: { 'content-md5': 'AAAA' } }), [400, 'InvalidDigest']);
  const other = createHash('md5').update('other').digest('base64');
  t.same(await refusal(url, { method: 'PUT', body: 'x', headers: { 'content-md5': other } }), [400, 'BadDigest']);
  t.same(await refusal(url, { method: 'PUT', body: 'x', headers: { 'if-none-match': '*' } }), [501, 'NotImplemented']);
  t.equal(await store.head(KEY), undefined);
});

await t.test('a request signed in its header with a wrong time is refused with that reason', async (t) => {
  const { as } = await startEmbedded(t);
  for (const [minutes, side] of [
    [16, 'ahead of'],
    [-16, 'behind'],
  ] as const) {
    const wrong = new RegExp(
      `^the object store refuses .* clock of this machine is 9[56]\\d s ${side} that of the store`,
    );
    const other = as({ aheadMs: minutes * 60_000 });
    await t.rejects(other.read(KEY, 0, 1), { cause: { message: wrong, cause: { name: 'RequestTimeTooSkewed' } } });
    await t.rejects(other.head(KEY), { cause: { message: wrong } }, 'an answer without a body, too');
  }
  await t.rejects(as({ aheadMs: 14 * 60_000 }).read(KEY, 0, 1), { cause: { name: 'NoSuchKey' } });
});

await t.test('an upload without a length is refused before its body', async (t) => {
  const { url, folder } = await withUrl(t);
  const answer = await rawRequest(url, { headers: { 'Transfer-Encoding': 'chunked' }, body: '1\r\nx\r\n0\r\n\r\n' });
  t.same([answer.status, codeOf(answer.text)], [411, 'MissingContentLength']);
  t.same([litter(folder), objects(folder)], [[], []]);
});

await t.test('a request with two hosts is refused', async (t) => {
  const { url, folder } = await withUrl(t);
  const answer = await rawRequest(url, { headers: { host: 'other.example', 'Content-Length': '1' }, body: 'x' });
  t.same([answer.status, codeOf(answer.text)], [400, 'InvalidArgument']);
  t.same(objects(folder), []);
});

await t.test('a client that asks first sends nothing when it is refused', async (t) => {
  const { url, store } = await withUrl(t);
  const ask = { 'Content-Length': '5000000000', Expect: '100-continue' };
  const refused = await rawRequest(url.replace('1.0.0', '1.0.1'), { headers: ask });
  t.equal(refused.status, 403);
  t.notMatch(refused.text, '100 Continue');
  const tooLarge = await rawRequest(url, { headers: { ...ask, 'Content-Length': '5368709121' } });
  t.same([tooLarge.status, codeOf(tooLarge.text)], [400, 'EntityTooLarge']);
  t.notMatch(tooLarge.text, '100 Continue');
  const taken = await rawRequest(url, {
    headers: { ...ask, 'Content-Length': '5' },
    afterwards: (socket) =>
      socket.once('data', (answer) => {
        t.match(answer.toString(), /^HTTP\/1\.1 100 Continue/);
        socket.write('hello');
      }),
  });
  t.equal(taken.status, 200);
  t.equal((await store.head(KEY))?.size, 5);
});

await t.test('a client that sends a large body without asking still reads why it was refused', async (t) => {
  const { url } = await withUrl(t);
  for (let round = 0; round < 5; round += 1) {
    const answer = await rawRequest(url.replace('1.0.0', '1.0.1'), {
      headers: { 'Content-Length': String(600_000) },
      body: Buffer.alloc(600_000),
    });
    t.same([answer.status, codeOf(answer.text)], [403, 'SignatureDoesNotMatch']);
  }
});

await t.test('a broken-off upload leaves no object and no temporary file', async (t) => {
  const { url, folder, embedded } = await withUrl(t);
  for (const sent of [0, 1, 65_536, 999_999]) {
    await rawRequest(url, {
      headers: { 'Content-Length': '1000000' },
      body: Buffer.alloc(sent),
      afterwards: (socket) => socket.end(),
    });
  }
  await embedded.idle();
  t.same([litter(folder), objects(folder)], [[], []]);
});

await t.test('a silent connection is closed, a slow one is not', async (t) => {
  const { url, folder, embedded, store } = await withUrl(t, { limits: { idleMs: 2_000 } });
  await rawRequest(url, { headers: { 'Content-Length': '10' }, body: 'abc' });
  await embedded.idle();
  t.same([litter(folder), objects(folder)], [[], []]);
  const slow = await rawRequest(url, {
    headers: { 'Content-Length': '10' },
    afterwards(socket) {
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        socket.write('x');
        if (sent === 10) clearInterval(timer);
      }, 300); // 3 s in total: longer than the bound, in steps far below it, also on a busy machine
    },
  });
  t.equal(slow.status, 200);
  t.equal((await store.head(KEY))?.size, 10);
});

await t.test('temporary files of a crash are removed at the next start; objects and the key stay', async (t) => {
  const first = await withUrl(t);
  await put(first.url, 'kept');
  writeFileSync(join(first.folder, 'objects', 'drafts', '7'), 'half');
  await first.embedded.drain();
  const second = await startEmbedded(t, { folder: first.folder });
  t.same(litter(first.folder), []);
  t.same(second.credentials, first.credentials);
  t.equal((await second.store.read(KEY, 0, 10)).toString(), 'kept');
});

await t.test('the secret key is for its owner only', async (t) => {
  const { folder, credentials } = await startEmbedded(t);
  const file = join(folder, 'object-store-key');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(readFileSync(file, 'utf8').trim(), credentials.secretAccessKey);
  t.equal(Buffer.from(credentials.secretAccessKey, 'base64url').length, 32);
});

await t.test('any key is stored safely, and apart from others', async (t) => {
  const { store, folder } = await startEmbedded(t);
  const keys = [
    'a',
    'a/',
    'A',
    'a//b',
    'a/b',
    '日本/é',
    'e\u0301',
    '\u00e9',
    '%2e%2e',
    'a+b',
    'a b',
    'x\u0000y',
    '\n',
    '🎥'.repeat(256),
    "a'&<>",
  ];
  for (const key of keys)
    t.equal((await put((await store.uploadUrl(key, { expiresIn: 60 })).url, `of ${key}`)).status, 200, key);
  for (const key of keys) t.equal((await store.read(key, 0, 2000)).toString(), `of ${key}`, key);
  // Keys that URLs cannot carry: clients resolve the dots, and then the path is another one.
  for (const key of ['../../escape', 'a/../../../b', '.', '..']) {
    const { url } = await store.uploadUrl(key, { expiresIn: 60 });
    const path = url.slice(url.indexOf('/', 8));
    const answer = await rawRequest(url, { headers: { 'Content-Length': '1' }, body: 'x' });
    t.not(answer.status, 200, path);
    await rawRawPut(url, path);
  }
  t.equal(objects(folder).length, new Set(objects(folder)).size);
  for (const name of objects(folder)) t.match(name, /^[0-9a-f]{64}$/);
  t.same(readdirSync(folder).sort(), ['object-store-key', 'objects']);
});

/** A PUT with an unchanged path, including dots. */
async function rawRawPut(url: string, path: string): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.resume();
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`);
  await once(socket, 'close');
}

await t.test('the reader of an object that is replaced or removed continues to read the old one', async (t) => {
  const { url, store } = await withUrl(t);
  const body = Buffer.alloc(30 * 1024 * 1024, 'old.');
  await put(url, body);
  const reads = [];
  const { url: download } = await store.downloadUrl(KEY, { expiresIn: 60 });
  for (const change of [() => put(url, 'new'), () => store.remove(KEY)]) {
    const answer = await fetch(download);
    t.match(Object.fromEntries(answer.headers), {
      'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const reader = answer.body!.getReader();
    const hash = createHash('sha256').update((await reader.read()).value!);
    await change();
    for (let part = await reader.read(); !part.done; part = await reader.read()) hash.update(part.value);
    reads.push(hash.digest('hex'));
    if (reads.length === 1) t.equal((await store.head(KEY))?.size, 3);
    if (reads.length === 1) await put(url, body);
  }
  t.same(reads, Array(2).fill(createHash('sha256').update(body).digest('hex')));
  t.equal(await store.head(KEY), undefined);
});

await t.test('transfers beyond the bound get SlowDown, and are counted', async (t) => {
  const { url, store, metrics } = await withUrl(t, { limits: { uploads: 1, downloads: 0 } });
  let first: Promise<unknown> = Promise.resolve();
  await new Promise<void>((running) => {
    first = rawRequest(url, {
      headers: { 'Content-Length': '5', Expect: '100-continue' },
      afterwards: (socket) =>
        socket.once('data', () => {
          void put(url, 'second').then(async (answer) => {
            t.equal(answer.status, 503);
            t.ok(Number(answer.headers.get('retry-after')) > 0);
            t.equal(codeOf(await answer.text()), 'SlowDown');
            socket.write('first');
            running();
          });
        }),
    });
  });
  t.match(await first, { status: 200 });
  t.equal((await put(url, 'third')).status, 200, 'a place is free again');
  const answer = await fetch((await store.downloadUrl(KEY, { expiresIn: 60 })).url);
  t.equal(answer.status, 503);
  const refused = await metrics.objectsRefused.get();
  t.same(
    refused.values.map(({ labels, value }) => [labels.bound, value]),
    [
      ['uploads', 1],
      ['downloads', 1],
    ],
  );
});

await t.test('an upload that would take the disk space of the database is refused before it is sent', async (t) => {
  const { url, folder } = await withUrl(t, { limits: { reservedBytes: Number.MAX_SAFE_INTEGER } });
  const answer = await rawRequest(url, { headers: { 'Content-Length': '5', Expect: '100-continue' } });
  t.same([answer.status, codeOf(answer.text)], [507, 'InsufficientStorage']);
  t.notMatch(answer.text, '100 Continue');
  t.same(litter(folder), []);
});

await t.test('a disk that gets full during an upload is reported, and no temporary file stays', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-full-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    t.comment('SKIPPED: a small file system cannot be mounted here');
    return;
  }
  try {
    const { url, store, embedded } = await withUrl(t, { folder, limits: { reservedBytes: -1e9 } });
    const answer = await put(url, Buffer.alloc(8_000_000));
    t.same([answer.status, codeOf(await answer.text())], [507, 'InsufficientStorage']);
    await embedded.idle();
    t.same(litter(folder), []);
    t.equal((await put(url, Buffer.alloc(1_000_000))).status, 200, 'what fits still goes in');
    t.equal((await store.head(KEY))?.size, 1_000_000);
  } finally {
    execFileSync('umount', ['-l', folder]);
    rmdirSync(folder);
  }
});

await t.test('conditions and ranges follow HTTP', async (t) => {
  const { url, store } = await withUrl(t);
  await put(url, '0123456789', { 'content-type': 'text/x' });
  const { url: download } = await store.downloadUrl(KEY, { expiresIn: 60 });
  const { etag } = (await store.head(KEY))!;
  const get = async (headers: Record<string, string>) => {
    const answer = await fetch(download, { headers });
    return [answer.status, answer.status < 400 ? await answer.text() : codeOf(await answer.text())];
  };
  const date = (await fetch(download)).headers.get('last-modified')!;
  t.same(await get({ range: 'bytes=2-3' }), [206, '23']);
  t.same(await get({ range: 'bytes=0-0,2-2' }), [200, '0123456789'], 'several ranges: the whole');
  t.same(await get({ range: 'bytes=5-2' }), [200, '0123456789'], 'not a range');
  t.same(await get({ range: 'bytes=-0' }), [416, 'InvalidRange']);
  t.same(await get({ range: 'bytes=2-3', 'if-range': etag }), [206, '23']);
  t.same(await get({ range: 'bytes=2-3', 'if-range': date }), [206, '23']);
  t.same(await get({ range: 'bytes=2-3', 'if-range': '"other"' }), [200, '0123456789']);
  t.same(await get({ 'if-match': `"x", ${etag}` }), [200, '0123456789']);
  t.same(await get({ 'if-match': '"x"' }), [412, 'PreconditionFailed']);
  t.same(await get({ 'if-none-match': `W/${etag}` }), [304, '']);
  t.same(await get({ 'if-modified-since': date }), [304, '']);
  t.same(await get({ 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }), [412, 'PreconditionFailed']);
});

await t.test('a damaged file is an error, not an object', async (t) => {
  const { url, store, folder } = await withUrl(t);
  await put(url, 'whole');
  const file = join(folder, 'objects', 'objects', objects(folder)[0]!);
  for (const content of [Buffer.alloc(0), readFileSync(file).subarray(0, -1), readFileSync(file).subarray(1)]) {
    const whole = readFileSync(file);
    writeFileSync(file, content);
    const answer = await fetch((await store.downloadUrl(KEY, { expiresIn: 60 })).url);
    t.same([answer.status, codeOf(await answer.text())], [500, 'InternalError']);
    writeFileSync(file, whole);
  }
});

await t.test('draining lets an upload finish, and cuts off transfers that do not end', async (t) => {
  const clock = createFakeClock(Math.floor(Date.now() * 1000));
  const { url, embedded, folder } = await withUrl(t, { clock });
  /** An upload of five bytes whose head was accepted, and whose body is not sent yet. */
  async function begin() {
    const begun = Promise.withResolvers<Socket>();
    const answer = rawRequest(url, {
      headers: { 'Content-Length': '5', Expect: '100-continue' },
      afterwards: (socket) => socket.once('data', () => begun.resolve(socket)),
    });
    return { answer, socket: await begun.promise };
  }
  const finishing = await begin();
  const hanging = await begin();
  const drained = embedded.drain();
  finishing.socket.write('hello');
  t.match(await finishing.answer, { status: 200 });
  clock.advance(8_000);
  await Promise.all([drained, hanging.answer]);
  t.same(litter(folder), []);
  t.equal(objects(folder).length, 1);
});

await t.test('a download that ends while the store drains does not keep its connection', async (t) => {
  const { url, embedded, store } = await withUrl(t, { clock: createFakeClock(Math.floor(Date.now() * 1000)) });
  const size = 24 * 1024 * 1024; // more than the buffers of a connection take
  t.equal((await put(url, Buffer.alloc(size))).status, 200);
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const download = get((await store.downloadUrl(KEY, { expiresIn: 60 })).url, { agent });
  const [answer]: [IncomingMessage] = (await once(download, 'response')) as [IncomingMessage];
  t.equal(answer.headers.connection, 'keep-alive');
  const drained = embedded.drain();
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  t.equal(bytes, size);
  await drained; // the clock stands still, so nothing cuts the connection
});

await t.test('a drain of the store closes a connection that has sent nothing', async (t) => {
  const { port, embedded, store } = await withUrl(t, { clock: createFakeClock(Math.floor(Date.now() * 1000)) });
  const silent = connect({ host: '127.0.0.1', port });
  await once(silent, 'connect');
  t.equal(await store.head(KEY), undefined); // connections are accepted in their order
  await Promise.all([once(silent.resume(), 'close'), embedded.drain()]); // the clock stands still
});
