// One table of facts, checked against the embedded store and against a store of other authors.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/runtime/clock.ts';
import { rawRequest } from './raw-request.ts';
import { type RunningStore, startEmbedded, startSwift } from './stores.ts';

const KEY = "packages/com.example.camera/1.0.0+ü (1)/it's!*~.apk";
const APK = 'application/vnd.android.package-archive';
const bytes = (length: number): Buffer => {
  const block = createHash('sha512').update('lapel').digest();
  return Buffer.alloc(length, block);
};
const put = (url: string, body: Buffer | string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'PUT', body: new Uint8Array(Buffer.from(body)), headers });
/** Replaces one parameter of a URL. */
function tampered(url: string, name: string, change: (value: string) => string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, change(changed.searchParams.get(name) ?? ''));
  return changed.href;
}
const otherKey = (url: string): string => url.replace('camera/', 'camerb/');

const FACTS: Record<string, (t: Test, running: RunningStore) => Promise<void>> = {
  'what was uploaded is seen by head, read and download': async (t, { store }) => {
    const body = bytes(300_000);
    // The clock of the store: that of the machine may be a moment ahead of it.
    const before = Math.floor(systemClock.now() / 1_000_000);
    const upload = await store.uploadUrl(KEY, { contentLength: body.length, expiresIn: 3600 });
    t.equal(upload.endTimestamp - upload.startTimestamp, 3600);
    t.equal(upload.expireIn, 3600);
    t.ok(upload.startTimestamp >= before && upload.startTimestamp <= before + 60);
    t.equal(await store.head(KEY), undefined);
    const answer = await put(upload.url, body, { 'content-type': APK });
    t.equal(answer.status, 200);
    const head = await store.head(KEY);
    t.match(head, { size: body.length, etag: answer.headers.get('etag')! });
    t.ok(head!.uploadedAt >= before * 1_000_000 && head!.uploadedAt < (before + 60) * 1_000_000);
    const { url, expiresAt } = await store.downloadUrl(KEY, { expiresIn: 600 });
    t.ok(expiresAt >= (before + 600) * 1_000_000 && expiresAt < (before + 660) * 1_000_000);
    const got = await fetch(url);
    t.equal(got.headers.get('content-type'), APK);
    t.ok(Buffer.from(await got.arrayBuffer()).equals(body));
    t.ok((await store.read(KEY, 1000, 1999)).equals(body.subarray(1000, 2000)));
    t.equal((await store.read(KEY, body.length - 5, body.length + 500)).length, 5);
    const whole = async (etag: string): Promise<Buffer> => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of store.stream(KEY, { etag })) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    t.ok((await whole(head!.etag)).equals(body));
    await t.rejects(whole('"another"'), { code: 'OBJECT_STORE_UNAVAILABLE' });
    await t.rejects(store.read(KEY, body.length, body.length + 5), { code: 'OBJECT_STORE_UNAVAILABLE' });
  },
  'all objects that begin so are listed, in pages': async (t, { store }) => {
    const keys = Array.from({ length: 8 }, (_, number) => `listed/${number} ü&<.apk`);
    for (const key of [...keys, 'other/1'])
      t.equal((await put((await store.uploadUrl(key, { expiresIn: 60 })).url, 'x')).status, 200);
    const all = async (prefix: string) => {
      const found = [];
      for await (const page of store.list(prefix)) found.push(...page);
      return found;
    };
    const found = await all('listed/');
    t.same(found.map(({ key }) => key).sort(), keys);
    const now = Date.now() * 1000;
    for (const { uploadedAt } of found) t.ok(Math.abs(uploadedAt - now) < 120_000_000, 'with the time of its upload');
    for (const key of keys) await store.remove(key);
    t.same(await all('listed/'), []);
    await store.remove('other/1');
  },
  'a download can be resumed by range': async (t, { store }) => {
    const body = bytes(100_000);
    await put((await store.uploadUrl(KEY, { expiresIn: 60 })).url, body);
    const { url } = await store.downloadUrl(KEY, { expiresIn: 60 });
    const etag = (await store.head(KEY))!.etag;
    const range = async (value: string, headers = {}) => {
      const answer = await fetch(url, { headers: { range: value, ...headers } });
      return {
        status: answer.status,
        range: answer.headers.get('content-range'),
        body: Buffer.from(await answer.arrayBuffer()),
      };
    };
    const rest = await range('bytes=40000-', { 'if-match': etag });
    t.same([rest.status, rest.range], [206, 'bytes 40000-99999/100000']);
    t.ok(rest.body.equals(body.subarray(40_000)));
    t.ok((await range('bytes=-10')).body.equals(body.subarray(-10)));
    const huge = await range('bytes=99990-99999999999999999999');
    t.same([huge.status, huge.body.length], [206, 10]);
    t.equal((await range('bytes=100000-')).status, 416);
    t.equal((await range('bytes=99999999999999999999-')).status, 416);
    t.equal((await range('bytes=0-1', { 'if-match': '"another"' })).status, 412);
  },
  'a signed content length is the only one that is taken': async (t, { store }) => {
    const { url } = await store.uploadUrl(KEY, { contentLength: 10, expiresIn: 60 });
    t.equal((await put(url, bytes(9))).status, 403, 'smaller');
    t.equal((await put(url, bytes(11))).status, 403, 'larger');
    t.equal(await store.head(KEY), undefined);
    t.equal((await put(url, bytes(10))).status, 200);
  },
  'a URL is good for its method, path and key only': async (t, { store, bucket, refusals }) => {
    const refused = (status: number, what: string) => t.ok(refusals.includes(status), `${what}: ${status}`);
    const { url } = await store.uploadUrl(KEY, { expiresIn: 60 });
    refused((await put(otherKey(url), 'x')).status, 'another key');
    refused((await put(url.replace(`/${bucket}/`, '/other/'), 'x')).status, 'another bucket');
    refused((await put(url.replace('/packages/', '/./packages/../packages//'), 'x')).status, 'another path');
    t.equal((await put(url, 'x')).status, 200);
    for (const method of ['GET', 'DELETE', 'POST']) refused((await fetch(url, { method })).status, method);
    const { url: download } = await store.downloadUrl(KEY, { expiresIn: 60 });
    refused((await put(download, 'y')).status, 'an upload to a URL for download');
    refused((await fetch(download, { method: 'DELETE' })).status, 'a removal');
    refused((await fetch(otherKey(download))).status, 'another download');
    t.equal(await (await fetch(download)).text(), 'x');
  },
  'a URL that was changed, or signed by another, is refused': async (t, { store, as, refusals }) => {
    const refused = (status: number, what: string) => t.ok(refusals.includes(status), `${what}: ${status}`);
    const { url } = await store.uploadUrl(KEY, { expiresIn: 60 });
    for (const [name, change] of [
      ['X-Amz-Signature', (value: string) => value.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
      ['X-Amz-Signature', () => ''],
      ['X-Amz-Expires', () => '600'],
      ['X-Amz-Credential', (value: string) => value.replace('us-east-1', 'us-east-2')],
      ['X-Amz-Credential', (value: string) => value.replace('e', 'f')],
      ['X-Amz-SignedHeaders', () => 'host;range'],
      ['x-id', () => 'GetObject'],
      ['extra', () => '1'],
    ] as const) {
      refused((await put(tampered(url, name, change), 'x')).status, name);
    }
    refused((await put(`${url}&X-Amz-Expires=604800`, 'x')).status, 'a parameter that comes twice');
    for (const name of ['secretAccessKey', 'accessKeyId'] as const) {
      const foreign = await as({ [name]: 'test:another' }).uploadUrl(KEY, { expiresIn: 60 });
      refused((await put(foreign.url, 'x')).status, `another ${name}`);
    }
    refused((await put(url.split('?')[0]!, 'x')).status, 'no signature');
    t.equal(
      (await rawRequest(url, { headers: { Host: 'other.example', 'Content-Length': '1' }, body: 'x' })).status,
      403,
      'host',
    );
    t.equal(await store.head(KEY), undefined);
  },
  'a URL is good for its time only': async (t, { store, as, refusals }) => {
    const refused = (status: number, what: string) => t.ok(refusals.includes(status), `${what}: ${status}`);
    const late = await as({ aheadMs: -61_000 }).uploadUrl(KEY, { expiresIn: 60 });
    refused((await put(late.url, 'x')).status, 'expired');
    t.equal(await store.head(KEY), undefined);
    const still = await as({ aheadMs: -50_000 }).uploadUrl(KEY, { expiresIn: 60 });
    t.equal((await put(still.url, 'x')).status, 200);
  },
  'the service itself is refused with a wrong key or a wrong time': async (t, { as }) => {
    for (const other of [
      { secretAccessKey: 'wrong' },
      { accessKeyId: 'test:nobody' },
      { aheadMs: -3_600_000 },
      { aheadMs: 3_600_000 },
    ]) {
      await t.rejects(as(other).head(KEY), { code: 'OBJECT_STORE_UNAVAILABLE' }, JSON.stringify(other));
    }
  },
  'a removed object is gone, and a second removal is no error': async (t, { store }) => {
    await put((await store.uploadUrl(KEY, { expiresIn: 60 })).url, 'x');
    await store.remove(KEY);
    t.equal(await store.head(KEY), undefined);
    t.equal((await fetch((await store.downloadUrl(KEY, { expiresIn: 60 })).url)).status, 404);
    await t.resolves(store.remove(KEY));
  },
  'a URL that is still valid makes a removed object anew': async (t, { store }) => {
    const { url } = await store.uploadUrl(KEY, { expiresIn: 60 });
    await put(url, 'first');
    await store.remove(KEY);
    t.equal((await put(url, 'again')).status, 200);
    t.equal((await store.read(KEY, 0, 100)).toString(), 'again');
  },
  'an upload replaces what was there': async (t, { store }) => {
    const { url } = await store.uploadUrl(KEY, { expiresIn: 60 });
    await put(url, 'first and longer');
    const { etag } = (await store.head(KEY))!;
    await put(url, 'second');
    const now = (await store.head(KEY))!;
    t.equal(now.size, 6);
    t.not(now.etag, etag);
  },
  'an upload that is cut leaves what was there': async (t, { store, idle }) => {
    const { url } = await store.uploadUrl(KEY, { expiresIn: 60 });
    const cut = (body: Buffer) =>
      rawRequest(url, {
        headers: { 'Content-Length': '1000000' },
        body,
        afterwards: (socket) => void once(socket, 'connect').then(() => socket.end()),
      });
    await cut(bytes(400_000));
    await idle();
    t.equal(await store.head(KEY), undefined);
    await put(url, 'whole');
    await cut(bytes(999_999));
    await idle();
    t.equal((await store.head(KEY))?.size, 5);
  },
  'what follows the declared length is no part of the object': async (t, { store, idle }) => {
    const { url } = await store.uploadUrl(KEY, { contentLength: 10, expiresIn: 60 });
    await rawRequest(url, {
      headers: { 'Content-Length': '10', Connection: 'keep-alive' },
      body: bytes(5000),
      afterwards: (socket) => socket.end(),
    });
    await idle();
    const head = await store.head(KEY);
    if (head) t.ok((await store.read(KEY, 0, 100)).equals(bytes(10)));
    t.equal(head?.size ?? 10, 10);
  },
  'an upload must say how long it is': async (t, { store }) => {
    const { url } = await store.uploadUrl(KEY, { expiresIn: 60 });
    const answer = await rawRequest(url, { headers: {}, body: '' });
    t.ok([411, 200].includes(answer.status), String(answer.status));
    if (answer.status === 200) t.equal((await store.head(KEY))?.size, 0, 'HTTP may take no length for an empty body');
  },
  'an empty object is one': async (t, { store }) => {
    const { url } = await store.uploadUrl(KEY, { contentLength: 0, expiresIn: 60 });
    t.equal((await rawRequest(url, { headers: { 'Content-Length': '0' } })).status, 200);
    t.equal((await store.head(KEY))?.size, 0);
    const { url: download } = await store.downloadUrl(KEY, { expiresIn: 60 });
    t.equal(await (await fetch(download)).text(), '');
  },
  'forty uploads and downloads at once do not mix': async (t, { store }) => {
    const keys = Array.from({ length: 40 }, (_, at) => `many/${at}`);
    const bodyOf = (key: string): Buffer => Buffer.concat([Buffer.from(key), bytes(50_000)]);
    // An uploader comes again after SlowDown.
    const persist = async (work: () => Promise<Response>): Promise<Response> => {
      const answer = await work();
      if (answer.status !== 503) return answer;
      await answer.text();
      return persist(work);
    };
    await Promise.all(
      keys.map(async (key) => {
        const { url } = await store.uploadUrl(key, { expiresIn: 60 });
        t.equal((await persist(() => put(url, bodyOf(key)))).status, 200);
        const { url: download } = await store.downloadUrl(key, { expiresIn: 60 });
        const got = await persist(() => fetch(download));
        t.ok(Buffer.from(await got.arrayBuffer()).equals(bodyOf(key)), key);
      }),
    );
  },
};

function checkAll(t: Test, running: RunningStore): Promise<void> {
  return Object.entries(FACTS).reduce<Promise<unknown>>(
    (before, [title, fact]) =>
      before.then(async () => {
        for (const key of [KEY]) await running.store.remove(key);
        await t.test(title, (t) => fact(t, running));
      }),
    Promise.resolve(),
  ) as Promise<void>;
}

await t.test('the embedded store', async (t) => checkAll(t, await startEmbedded(t)));

const swift = await startSwift(t);
await t.test('OpenStack Swift', { skip: typeof swift === 'string' && `SKIPPED: ${swift}` }, async (t) => {
  if (typeof swift !== 'string') await checkAll(t, swift);
});
