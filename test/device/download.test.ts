import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecured } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { download } from '@lapel/device/download/download';
import type { Position } from '@lapel/device/download/part-file';
import { checkSignature, readKeys } from '@lapel/device/download/signature';
import t, { type Test } from 'tap';
import { createAuthority, skip } from '../broker/authority.ts';

const MIB = 1024 * 1024;
/** Milliseconds after which a server that stands still is given up. */
const STILL = 60_000;
const FILE = randomBytes(3 * MIB + 17);
const sha256 = createHash('sha256').update(FILE).digest('hex');
const TAG = '"one"';

type Answer = (response: ServerResponse, from: number, request: IncomingMessage) => void;

/** Sends the file from a byte on, with a range if there is one. */
const whole: Answer = (response, from) => {
  const range = from > 0 ? { 'content-range': `bytes ${from}-${FILE.length - 1}/${FILE.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { etag: TAG, 'content-length': FILE.length - from, ...range });
  response.end(FILE.subarray(from));
};
/** Ends the connection behind so many bytes. */
const cutAfter =
  (bytes: number): Answer =>
  (response, from) => {
    const range = from > 0 ? { 'content-range': `bytes ${from}-${FILE.length - 1}/${FILE.length}` } : {};
    response.writeHead(from > 0 ? 206 : 200, { etag: TAG, 'content-length': FILE.length - from, ...range });
    response.write(FILE.subarray(from, from + bytes), () => response.destroy());
  };
const refuse =
  (status: number): Answer =>
  (response) =>
    void response.writeHead(status).end();

const redirect =
  (url: string): Answer =>
  (response) =>
    void response.writeHead(302, { location: url }).end();

/** A server with an answer for each request, the last one for all that follow, and a device that downloads from it. */
async function startServer(t: Test, ...answers: Answer[]) {
  const ranges: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    ranges.push(request.headers.range);
    const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(response, from, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
  const path = join(t.testdir(), 'file.apk');
  const stored: Position[] = [];
  const pauses: number[] = [];
  const stopped = new AbortController();
  let freshUrls = 0;
  const get = (wanted: object = {}, position: Position = { bytes: 0 }): Promise<void> =>
    download(
      path,
      { url, size: FILE.length, sha256, ...wanted },
      {
        position,
        store: (one) => void stored.push(one),
        freshUrl: async () => `${url}?fresh=${++freshUrls}`,
        online: async () => {},
        timers: {
          after(milliseconds, task) {
            if (milliseconds === STILL) return () => {};
            pauses.push(milliseconds);
            const timer = setImmediate(task);
            return () => clearImmediate(timer);
          },
        },
        signal: stopped.signal,
      },
    );
  return { get, url, path, stored, ranges, pauses, stopped, freshUrls: () => freshUrls };
}

t.test('a file is whole when the download ends, and no part of it is left beside it', async (t) => {
  const { get, path, stored, ranges } = await startServer(t, whole);
  await get();
  t.ok(readFileSync(path).equals(FILE));
  t.notOk(existsSync(`${path}.part`));
  t.ok(stored.length >= 2, 'each MiB is on the disk before the next');
  t.match(stored.at(-1), { tag: TAG });
  await get();
  t.equal(ranges.length, 1, 'after a power cut behind its end nothing is downloaded again');
});

t.test('a download that breaks off goes on behind its last byte', async (t) => {
  const { get, path, ranges } = await startServer(t, cutAfter(MIB), cutAfter(5000), whole);
  await get();
  t.ok(readFileSync(path).equals(FILE));
  t.equal(ranges[0], undefined);
  t.match(ranges.slice(1), [/^bytes=[1-9]\d*-$/, /^bytes=[1-9]\d*-$/]);
});

t.test('after a power cut it goes on behind the bytes that were synced, whatever stands behind them', async (t) => {
  const { get, path, ranges } = await startServer(t, whole);
  writeFileSync(`${path}.part`, Buffer.concat([FILE.subarray(0, MIB), Buffer.alloc(5000)]));
  await get({}, { bytes: MIB, tag: TAG });
  t.ok(readFileSync(path).equals(FILE));
  t.same(ranges, [`bytes=${MIB}-`]);
  truncateSync(path, 5);
  writeFileSync(`${path}.part`, FILE.subarray(0, 10));
  await get({}, { bytes: MIB, tag: TAG });
  t.equal(ranges.at(-1), undefined, 'a part that is shorter than it was is no part');
});

t.test('a file that has changed at the server is downloaded from its begin', async (t) => {
  const changed: Answer = (response, _from, { headers }) => {
    t.equal(headers['if-range'], '"former"');
    whole(response, 0, {} as IncomingMessage);
  };
  const { get, path } = await startServer(t, changed);
  writeFileSync(`${path}.part`, randomBytes(MIB));
  await get({}, { bytes: MIB, tag: '"former"' });
  t.ok(readFileSync(path).equals(FILE));
});

t.test('parts of two files are no file: it begins anew, once', async (t) => {
  const { get, path, ranges } = await startServer(t, whole);
  writeFileSync(`${path}.part`, randomBytes(MIB));
  await get({}, { bytes: MIB });
  t.ok(readFileSync(path).equals(FILE));
  t.same(ranges, [`bytes=${MIB}-`, undefined]);
});

t.test('another file than the one of the command fails at once', async (t) => {
  const { get, path, ranges } = await startServer(t, whole);
  for (const [wanted, message] of [
    [{ sha256: 'f'.repeat(64) }, /another SHA-256/],
    [{ size: FILE.length - 1 }, /has 3145745 bytes, and not 3145744/],
    [{ size: FILE.length + 1 }, /has 3145745 bytes, and not 3145746/],
  ] as const)
    await t.rejects(get(wanted), { code: 'DOWNLOAD_FAILED', message });
  t.equal(ranges.length, 3);
  t.notOk(existsSync(path));
  t.notOk(existsSync(`${path}.part`));
});

t.test('a URL that has expired is replaced by another, a few times', async (t) => {
  const { get, path, freshUrls } = await startServer(t, refuse(403), refuse(410), whole);
  await get();
  t.ok(readFileSync(path).equals(FILE));
  t.equal(freshUrls(), 2);
  const never = await startServer(t, refuse(403));
  await t.rejects(never.get(), { code: 'DOWNLOAD_FAILED', message: /none of its URLs/ });
  t.equal(never.freshUrls(), 3);
});

t.test('a redirect is followed, also from one host to another, but not for ever', async (t) => {
  const elsewhere = await startServer(t, whole);
  const { get, path, ranges } = await startServer(t, redirect(elsewhere.url));
  await get();
  t.ok(readFileSync(path).equals(FILE));
  t.equal(ranges.length, 1);
  const round = await startServer(t, (response) => redirect(round.url)(response, 0, {} as IncomingMessage));
  await t.rejects(round.get(), { code: 'DOWNLOAD_FAILED', message: /nothing more/ });
});

t.test('a redirect from https to http is not followed', { skip }, async (t) => {
  const plain = await startServer(t, whole);
  const authority = createAuthority(t.testdir(), 'store');
  const { certFile, keyFile } = authority.sign('store');
  const secured = createSecured({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (_request, response) =>
    response.writeHead(302, { location: plain.url }).end(),
  ).listen(0, '127.0.0.1');
  await once(secured, 'listening');
  t.teardown(() => secured.close());
  const url = `https://127.0.0.1:${(secured.address() as AddressInfo).port}/file`;
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, readFileSync(authority.ca, 'utf8')]);
  t.teardown(() => setDefaultCACertificates(trusted));
  await t.rejects(plain.get({ url }), { code: 'DOWNLOAD_FAILED', message: /redirects to http:/ });
  t.same(plain.ranges, [], 'nothing was asked over http');
});

t.test('a server that sends nothing is asked with longer and longer pauses, and given up', async (t) => {
  const { get, ranges, pauses } = await startServer(t, refuse(503));
  await t.rejects(get(), { code: 'DOWNLOAD_FAILED', message: /nothing more/ });
  t.same(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000]);
  t.equal(ranges.length, 8);
});

t.test('a device that stops leaves the part for its next start', async (t) => {
  const { get, path, stopped } = await startServer(t, (response, from, request) => {
    cutAfter(MIB)(response, from, request);
    setImmediate(() => stopped.abort(new Error('stopped')));
  });
  await t.rejects(get(), { message: /stopped|aborted/ });
  t.ok(existsSync(`${path}.part`));
});

t.test('a signature of a trusted key is the one of package, version and SHA-256', async (t) => {
  const [first, second] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const pem = (key: typeof first): string => key.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const keys = readKeys([pem(first), pem(second)]);
  const parameters = { package: 'com.example.camera', version: '1.1.0', sha256 };
  const text = `lapel-software-v1\ncom.example.camera\n1.1.0\n${sha256}\n`;
  const signature = sign(null, Buffer.from(text), second.privateKey).toString('base64');
  t.doesNotThrow(() => checkSignature(keys, { ...parameters, signature }), 'also of the key in reserve');
  for (const other of [
    parameters,
    { ...parameters, signature, version: '1.1.1' },
    { ...parameters, signature, package: 'com.example.other' },
    { ...parameters, signature, sha256: 'f'.repeat(64) },
    { ...parameters, signature: `A${signature.slice(1)}` },
    { ...parameters, signature: 7 },
  ])
    t.throws(() => checkSignature(keys, other), { code: 'SIGNATURE_REJECTED' });
  t.throws(() => checkSignature([], { ...parameters, signature }), { code: 'SIGNATURE_REJECTED' });
  const rsa = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  t.throws(() => readKeys([pem(rsa as never)]), /not an ed25519 key/);
});
