import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { DomainError } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { BODY_LIMIT, readWhole } from '../../src/edge/http/read-body.ts';
import { startListener } from './listener-world.ts';

const JSON_TYPE = 'Content-Type: application/json\r\n';
const SMALL = 64 * 1024;
const padded = (size: number): string => `{"clientId":"a"}`.padEnd(size);

/** Bodies and headers of each kind that the reader tells apart. */
const BODIES: readonly [name: string, body: string | Buffer, headers?: string][] = [
  ['a good one', '{"clientId":"a"}'],
  ['an unknown field', '{"x":1}'],
  ['a field that occurs twice', '{"clientId":"a","clientId":"b"}'],
  ['characters of several bytes', '{"clientId":"é\u{1f4f7}"}'],
  ['an escaped lone surrogate', '{"clientId":"\\ud800"}'],
  ['a name with a meaning in JavaScript', '{"__proto__":{"clientId":"a"},"constructor":1}'],
  ['a list', '[]'],
  ['null', 'null'],
  ['a number', '1e999'],
  ['white space alone', '  \n'],
  ['NUL', '\0'],
  ['a half object', '{"clientId":'],
  ['a comma too many', '{"clientId":"a",}'],
  ['text behind the value', 'null x'],
  ['a byte order mark', '\ufeff{"clientId":"a"}'],
  ['a byte order mark alone', '\ufeff'],
  ['10,000 levels', '['.repeat(10_000)],
  ['a wrong byte', Buffer.from([0x22, 0xff, 0x22])],
  ['half a character', Buffer.from([0x22, 0xc3])],
  ['as much as is parsed as it is', padded(SMALL)],
  ['a byte more', padded(SMALL + 1)],
  ['another type', '{"clientId":"a"}', 'Content-Type: text/plain\r\n'],
  ['another type and no JSON', '{', 'Content-Type: text/plain\r\n'],
  ['no type', '{"clientId":"a"}', ''],
  ['a type of its own', '{"clientId":"a"}', 'Content-Type: application/merge-patch+json; charset=utf-8\r\n'],
  ['a form', 'clientId=a', 'Content-Type: application/x-www-form-urlencoded\r\n'],
  ['a compressed one', '{"clientId":"a"}', `${JSON_TYPE}Content-Encoding: gzip\r\n`],
  ['one that is expressly not compressed', '{"clientId":"a"}', `${JSON_TYPE}Content-Encoding: IDENTITY\r\n`],
];

type Send = (port: number, body: Buffer, headers: string) => Promise<string>;

const answerOf = (port: number, head: string, ...parts: Buffer[]): Promise<string> =>
  answerAt('/echo', port, head, ...parts);

async function answerAt(path: string, port: number, head: string, ...parts: Buffer[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  const [first, ...later] = parts;
  socket.write(
    Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head}\r\n`), first!]),
  );
  for (const part of later) {
    while (!received.includes('100 Continue\r\n\r\n')) await once(socket, 'data');
    socket.write(part);
  }
  await once(socket, 'close');
  const [status = ''] = /HTTP\/1\.1 (?!100)\d+/.exec(received) ?? [];
  return `${status} ${received.slice(received.lastIndexOf('\r\n\r\n'))}`;
}

const NOTHING = Buffer.alloc(0);
const sized = (body: Buffer, headers: string): string => `${headers}Content-Length: ${body.length}\r\n`;

const WAYS: Readonly<Record<string, Send>> = {
  // The search for the caller takes longer than the body, which is here as a whole when it is read.
  'with a search for its caller': (port, body, headers) => answerAt('/echo-own', port, sized(body, headers), body),
  'after its head': (port, body, headers) =>
    answerOf(port, `${sized(body, headers)}Expect: 100-continue\r\n`, NOTHING, body),
  'in two pieces': (port, body, headers) =>
    answerOf(port, `${sized(body, headers)}Expect: 100-continue\r\n`, body.subarray(0, 1), body.subarray(1)),
  'in chunks': (port, body, headers) => {
    const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
    return answerOf(port, `${headers}Transfer-Encoding: chunked\r\n`, chunk);
  },
};

t.test('a body gets the same answer, whether it comes with its head, later, in pieces or in chunks', async (t) => {
  const { port } = await startListener(t);
  const answers = new Set<string>();
  for (const [name, text, headers = JSON_TYPE] of BODIES) {
    const body = Buffer.from(text);
    const atOnce = await answerOf(port, sized(body, headers), body);
    answers.add(atOnce.slice(0, 12));
    for (const [way, send] of Object.entries(WAYS)) t.equal(await send(port, body, headers), atOnce, `${name}, ${way}`);
  }
  t.same([...answers].sort(), ['HTTP/1.1 200', 'HTTP/1.1 400'], 'good and bad bodies were sent');
});

t.test('a body whose bytes are all here is read, although its request is not complete yet', (t) => {
  const request = new Readable({ read: () => undefined });
  request.push('{"a":1}');
  const told = Object.assign(request, { headers: { 'content-length': '7' }, complete: false });
  t.same(readWhole(told as unknown as IncomingMessage, { limit: BODY_LIMIT }), { a: 1 });
  t.end();
});

t.test('a request that is refused before its small body is read leaves the connection open', async (t) => {
  const refusal = new DomainError('RATE_LIMITED', { values: { seconds: 1 } });
  const { request } = await startListener(t, undefined, { authorize: () => Promise.reject(refusal) });
  for (const body of ['{"clientId":"a"}', '']) {
    const { status, headers } = await request('POST', '/echo-own', body);
    t.equal(status, 429);
    t.equal(headers.connection, 'keep-alive');
  }
  t.match(await request('POST', '/echo', '{"clientId":"a"}'), { status: 200 }, 'nothing of the body is left');
});

t.test('the bound of a route holds for each way that a body comes', async (t) => {
  const { port } = await startListener(t);
  for (const [size, expected] of [
    [1_000, /^HTTP\/1.1 200 /],
    [1_001, /^HTTP\/1.1 413 [\s\S]*larger than 1000 bytes/],
    [15_000, /^HTTP\/1.1 413 /],
    [70_000, /^HTTP\/1.1 413 /],
  ] as const) {
    const body = Buffer.from(padded(size));
    const chunk = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
    const ask = (head: string, ...parts: Buffer[]): Promise<string> => answerAt('/echo-short', port, head, ...parts);
    t.match(await ask(sized(body, JSON_TYPE), body), expected, `${size} bytes with their length`);
    t.match(await ask(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, chunk), expected, `${size} bytes in a chunk`);
  }
});

t.test('a request that is refused when its body was read leaves the connection open', async (t) => {
  const { request } = await startListener(t);
  const { status, headers } = await request('POST', '/refuse-own', '{"clientId":"a"}');
  t.equal(status, 429);
  t.equal(headers.connection, 'keep-alive');
});

t.test('a head that promises a body which is empty is a missing body', async (t) => {
  const { port } = await startListener(t);
  for (const head of ['', 'Content-Length: 0\r\n']) {
    t.match(await answerOf(port, `${JSON_TYPE}${head}`, NOTHING), /^HTTP\/1\.1 400 [\s\S]*"Field required"/);
  }
  t.match(
    await answerOf(port, `${JSON_TYPE}Transfer-Encoding: chunked\r\n`, Buffer.from('0\r\n\r\n')),
    /Field required/,
  );
});
