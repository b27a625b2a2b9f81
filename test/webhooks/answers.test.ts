import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import t, { type Test } from 'tap';
import type { Answer } from '../../src/core/webhooks/retry-schedule.ts';
import { createSender } from '../../src/core/webhooks/sender.ts';
import { createAuthority, skip } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { type AnswerWith, startPlainReceiver } from './plain-receiver.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const NO_BODY = 'Content-Length: 0\r\n\r\n';
const LONG = 'y'.repeat(100_000);

function createTestSender(t: Test, clock = createFakeClock()) {
  const sender = createSender({ clock, allowPrivate: true, timeoutMs: 10_000 });
  t.teardown(() => sender[Symbol.asyncDispose]());
  return { ...sender, clock };
}

/** Writes a byte at a time, so that each arrives by itself. */
async function byBytes(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay(true);
  for (const byte of Buffer.from(text, 'latin1')) {
    if (socket.destroyed) return;
    await new Promise<void>((sent) => socket.write(Buffer.from([byte]), () => setImmediate(sent)));
  }
}

async function writeEndlessly(socket: Socket, text: string): Promise<void> {
  while (!socket.destroyed) await new Promise<void>((sent) => socket.write(text, () => setImmediate(sent)));
}

const say =
  (text: string): AnswerWith =>
  (socket) =>
    void socket.write(text, 'latin1');
const sayAndClose =
  (text: string): AnswerWith =>
  (socket) =>
    void socket.end(text, 'latin1');

/** Each answer, and whether it is read without undici. */
const ANSWERS: Record<string, { answer: AnswerWith; direct: boolean }> = {
  'no body': { answer: say(`${OK}Date: Fri, 27 Nov 2026 16:26:40 GMT\r\n${NO_BODY}`), direct: true },
  'a body': { answer: say('HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\nX-Empty:\r\n\r\nhello'), direct: true },
  'a body in chunks': {
    answer: say(`${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`),
    direct: true,
  },
  'a failure in chunks': {
    answer: say('HTTP/1.1 500 \r\ntransfer-encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n'),
    direct: true,
  },
  '204': { answer: say('HTTP/1.1 204 No Content\r\n\r\n'), direct: true },
  'Retry-After': {
    answer: say('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\ncontent-length: 2\r\n\r\nno'),
    direct: true,
  },
  'a redirect': { answer: say(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n${NO_BODY}`), direct: true },
  'Connection: close': { answer: sayAndClose(`${OK}Connection: close\r\n${NO_BODY}`), direct: true },
  'a short Keep-Alive': { answer: say(`${OK}Keep-Alive: timeout=1\r\n${NO_BODY}`), direct: true },
  'a reset': { answer: (socket) => void socket.resetAndDestroy(), direct: true },
  'an end': { answer: (socket) => void socket.end(), direct: true },
  '304': { answer: say('HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n'), direct: false },
  'byte by byte': {
    answer: (socket) => void byBytes(socket, 'HTTP/1.1 404 No\r\ncontent-length: 5\r\n\r\nhello'),
    direct: false,
  },
  'chunks byte by byte': {
    answer: (socket) =>
      void byBytes(socket, 'HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'),
    direct: false,
  },
  'chunks with an extension': {
    answer: say('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n'),
    direct: false,
  },
  'chunks with a trailer': {
    answer: say('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx: y\r\n\r\n'),
    direct: false,
  },
  'chunks and another answer': {
    answer: say(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 500 No\r\n${NO_BODY}`),
    direct: false,
  },
  'chunks and a length': {
    answer: say(`${OK}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    direct: false,
  },
  'a body until the end': { answer: sayAndClose('HTTP/1.1 503 No\r\n\r\nbye'), direct: false },
  'HTTP/1.0': { answer: sayAndClose('HTTP/1.0 200 OK\r\n\r\nhi'), direct: false },
  'two answers': { answer: say(`${OK}${NO_BODY}HTTP/1.1 500 No\r\n${NO_BODY}`), direct: false },
  'two lengths': { answer: say(`${OK}content-length: 0\r\ncontent-length: 1\r\n\r\nx`), direct: false },
  'a length that is no number': { answer: say(`${OK}content-length: +0\r\n\r\n`), direct: false },
  'two Retry-After': {
    answer: say(`HTTP/1.1 503 No\r\nretry-after: 1\r\nretry-after: 2\r\n${NO_BODY}`),
    direct: false,
  },
  'a folded header': { answer: say(`${OK}x: a\r\n b\r\n${NO_BODY}`), direct: false },
  'a header with white space': { answer: say(`${OK}retry-after:\t9 \r\n${NO_BODY}`), direct: false },
  'a header outside of ASCII': { answer: say(`${OK}x: \xe9\r\n${NO_BODY}`), direct: false },
  'a header without a colon': { answer: say(`${OK}x\r\n${NO_BODY}`), direct: false },
  '100': { answer: say(`HTTP/1.1 100 Continue\r\n\r\n${OK}${NO_BODY}`), direct: false },
  '101': { answer: say('HTTP/1.1 101 Go\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'), direct: false },
  'no HTTP': { answer: say('hello\r\n\r\n'), direct: false },
  'headers without an end': {
    answer: (socket) => {
      socket.write(OK);
      void writeEndlessly(socket, `x-${'a'.repeat(1000)}: 1\r\n`);
    },
    direct: false,
  },
  'a body without an end': {
    answer: (socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n');
      void writeEndlessly(socket, `3e8\r\n${'a'.repeat(1000)}\r\n`);
    },
    direct: false,
  },
  'a long body': {
    answer: say(`HTTP/1.1 500 No\r\ncontent-length: ${LONG.length}\r\n\r\n${LONG}`),
    direct: false,
  },
  'a part of a body, then the end': { answer: sayAndClose(`${OK}content-length: 9\r\n\r\nabc`), direct: false },
};

const shown = ({ beginning, ...answer }: Answer): object => ({ ...answer, beginning: beginning?.toString('latin1') });

/** Posts three messages, one after another. undici takes all that have a header outside of ASCII. */
async function postThree(t: Test, answer: AnswerWith, way: 'direct' | 'undici') {
  const { post } = createTestSender(t);
  const receiver = await startPlainReceiver(t, answer);
  const answers: (object | undefined)[] = [];
  for (const id of ['1', '2', '3']) {
    const headers = { 'webhook-id': id, ...(way === 'undici' && { x: '\xe9' }) };
    const got = await post({ url: receiver.url, headers, body: '{"text":"\u00fc"}', keepsBeginning: true });
    answers.push(got && shown(got));
  }
  return { answers, seen: receiver.seen, connections: receiver.connections() };
}

for (const [name, { answer, direct }] of Object.entries(ANSWERS)) {
  t.test(`an answer counts alike, whoever reads it: ${name}`, async (t) => {
    const [ours, undicis] = [await postThree(t, answer, 'direct'), await postThree(t, answer, 'undici')];
    t.strictSame(ours.answers, undicis.answers);
    t.strictSame(ours.seen, ['1', '2', '3'], 'each message is sent once');
    t.strictSame(undicis.seen, ours.seen);
    // undici keeps the connections of some of these answers. The connection of an answer that it had to read is closed.
    if (direct) t.equal(ours.connections, undicis.connections < 3 ? 1 : 3);
    else t.ok(ours.connections > 1);
  });
}

void t.test('a message is not sent again when its answer has begun', async (t) => {
  const { answers, seen } = await postThree(t, sayAndClose(`${OK}content-le`), 'direct');
  t.match(answers[0], { statusCode: null, error: 'other side closed (UND_ERR_SOCKET)' });
  t.equal(seen[1], '2');
});

void t.test('an answer that stops in the middle ends at the time limit, with the status that has come', async (t) => {
  for (const [beginning, expected] of [
    ['HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nabc', { statusCode: 500, error: null }],
    [`${OK}content-`, { statusCode: null, error: 'no answer within 10 s' }],
    ['', { statusCode: null, error: 'no answer within 10 s' }],
  ] as const) {
    const { post, clock } = createTestSender(t);
    const receiver = await startPlainReceiver(t, say(beginning));
    const answer = post({ url: receiver.url, headers: {}, body: '{}' });
    await until(() => receiver.seen.length === 1);
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate); // what was written is read in the next turn
    clock.advance(9_999);
    t.equal(receiver.open(), 1);
    clock.advance(1);
    t.match(await answer, expected);
    await until(() => receiver.open() === 0);
  }
});

void t.test(
  'a connection that comes when its attempt is over, or when the sender has ended, carries no message',
  async (t) => {
    for (const how of ['over', 'ended'] as const) {
      const receiver = await startPlainReceiver(t, say(`${OK}${NO_BODY}`));
      const asked = Promise.withResolvers<() => void>();
      const clock = createFakeClock();
      const sender = createSender({
        clock,
        allowPrivate: true,
        timeoutMs: 10_000,
        lookup: (_name, _options, found) => asked.resolve(() => found(null, [{ address: '127.0.0.1', family: 4 }])),
      });
      const answer = sender.post({ url: receiver.url.replace('127.0.0.1', 'hook.example'), headers: {}, body: '{}' });
      const resolveName = await asked.promise;
      if (how === 'over') clock.advance(10_000);
      else sender.abortAll();
      t.match(await answer, how === 'over' ? { error: 'no answer within 10 s' } : undefined);
      if (how === 'ended') await sender[Symbol.asyncDispose]();
      resolveName();
      await until(() => receiver.connections() === 1 && receiver.open() === 0);
      t.same(receiver.seen, []);
      await sender[Symbol.asyncDispose]();
    }
  },
);

void t.test('each attempt has its own time limit', async (t) => {
  const { post, clock } = createTestSender(t);
  const receiver = await startPlainReceiver(t, () => undefined);
  const ends: string[] = [];
  const send = (name: string): void => {
    void post({ url: receiver.url, headers: {}, body: '{}' }).then(() => ends.push(name));
  };
  send('first');
  clock.advance(4_000);
  send('second');
  clock.advance(6_000);
  await until(() => ends.length > 0);
  t.strictSame(ends, ['first']);
  clock.advance(3_999);
  await new Promise(setImmediate);
  t.strictSame(ends, ['first']);
  clock.advance(1);
  await until(() => ends.length > 1);
  t.equal(clock.timers(), 0);
});

void t.test('an idle connection is closed after its time', async (t) => {
  for (const [hint, kept] of [
    ['', 4_000],
    ['Keep-Alive: timeout=30\r\n', 28_000],
    ['Keep-Alive: max=5, timeout=9999\r\n', 600_000],
  ] as const) {
    const { post, clock } = createTestSender(t);
    const receiver = await startPlainReceiver(t, say(`${OK}${hint}${NO_BODY}`));
    const send = () => post({ url: receiver.url, headers: {}, body: '{}' });
    await send();
    clock.leap(kept - 1);
    await send();
    t.equal(receiver.connections(), 1);
    clock.advance(kept + 1_000);
    await until(() => receiver.open() === 0);
    t.equal(clock.timers(), 0);
  }
});

void t.test('a connection that was idle for too long is not used, even if no timer has closed it', async (t) => {
  const clock = createFakeClock();
  const { post } = createTestSender(t, { ...clock, after: () => () => undefined });
  const receiver = await startPlainReceiver(t, say(`${OK}${NO_BODY}`));
  for (const [pause, connections] of [
    [0, 1],
    [3_999, 1],
    [4_000, 2],
  ] as const) {
    clock.advance(pause);
    await post({ url: receiver.url, headers: {}, body: '{}' });
    t.equal(receiver.connections(), connections);
  }
});

void t.test('a receiver whose answers undici must read keeps its connections, too', async (t) => {
  const { post } = createTestSender(t);
  const receiver = await startPlainReceiver(t, say('HTTP/1.1 304 Not Modified\r\n\r\n'));
  for (let sent = 0; sent < 10; sent += 1) await post({ url: receiver.url, headers: {}, body: '{}' });
  t.equal(receiver.seen.length, 10);
  t.ok(receiver.connections() < 5);
});

void t.test('bytes that come between two messages are not the answer of the next one', async (t) => {
  const { post } = createTestSender(t);
  const sockets: Socket[] = [];
  const receiver = await startPlainReceiver(t, (socket) => {
    sockets.push(socket);
    socket.write(`${OK}${NO_BODY}`);
  });
  t.match(await post({ url: receiver.url, headers: {}, body: '{}' }), { statusCode: 200 });
  sockets[0]?.write(`HTTP/1.1 500 No\r\n${NO_BODY}`);
  await until(() => receiver.open() === 0);
  t.match(await post({ url: receiver.url, headers: {}, body: '{}' }), { statusCode: 200 });
  t.equal(receiver.connections(), 2);
});

void t.test(
  'a message whose kept connection has ended goes on a new one, because others may have ended, too',
  async (t) => {
    const { post } = createTestSender(t);
    const receiver = await startPlainReceiver(t, (socket, onThis) => {
      if (onThis === 1) socket.write(`${OK}${NO_BODY}`);
      else socket.destroy();
    });
    const send = () => post({ url: receiver.url, headers: {}, body: '{}' });
    await Promise.all([send(), send(), send()]);
    t.equal(receiver.connections(), 3);
    t.match(await send(), { statusCode: 200, error: null });
    t.equal(receiver.connections(), 4);
  },
);

void t.test('each message in progress has a connection of its own', async (t) => {
  const { post } = createTestSender(t);
  const waiting: Socket[] = [];
  const receiver = await startPlainReceiver(t, (socket) => {
    if (waiting.push(socket) < 5) return;
    for (const each of waiting.splice(0).reverse()) each.write(`${OK}${NO_BODY}`);
  });
  const bodies = Array.from({ length: 10 }, (_, index) => 'x'.repeat(index * 10_000));
  const answers = await Promise.all(bodies.map((body) => post({ url: receiver.url, headers: {}, body })));
  t.ok(answers.every((answer) => answer?.statusCode === 200));
  t.equal(receiver.seen.length, 10);
});

void t.test('a header that could end early is left to undici, which refuses it', async (t) => {
  const { post } = createTestSender(t);
  const receiver = await startPlainReceiver(t, say(`${OK}${NO_BODY}`));
  const answer = await post({ url: receiver.url, headers: { traceparent: 'a\r\nx: y' }, body: '{}' });
  t.match(answer, { statusCode: null, error: /invalid traceparent header/ });
  t.equal(receiver.connections(), 0);
});

void t.test('a webhook goes to a literal IPv6 address', async (t) => {
  const { post } = createTestSender(t);
  const receiver = await startPlainReceiver(t, say(`${OK}${NO_BODY}`), { host: '::1' });
  t.match(await post({ url: receiver.url, headers: {}, body: '{}' }), { statusCode: 200, error: null });
});

void t.test('webhooks go over TLS, and to nobody whose certificate is not trusted', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const authority = createAuthority(folder, 'receivers');
  const { cert, key } = authority.sign('receiver');
  const receiver = await startPlainReceiver(t, say(`${OK}${NO_BODY}`), { tls: { cert, key } });
  const stranger = createTestSender(t);
  const refused = await stranger.post({ url: receiver.url, headers: {}, body: '{}' });
  t.match(refused, { statusCode: null, error: /unable to verify|self.signed/ });
  t.same(receiver.seen, []);
  const before = getCACertificates('default');
  t.teardown(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, authority.own().cert.toString()]);
  const { post } = createTestSender(t);
  const connections = receiver.connections();
  for (const id of ['1', '2', '3']) {
    const answer = await post({ url: receiver.url, headers: { 'webhook-id': id }, body: '{}' });
    t.match(answer, { statusCode: 200, error: null });
  }
  t.same(receiver.seen, ['1', '2', '3']);
  t.equal(receiver.connections(), connections + 1);
});
