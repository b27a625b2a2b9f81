import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import t, { type Test } from 'tap';
import { createKeptConnections } from '../../src/core/webhooks/http/kept-connections.ts';
import { createSender } from '../../src/core/webhooks/http/sender.ts';
import type { Answer } from '../../src/core/webhooks/retry-schedule.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createAuthority, skip } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { ANSWERS, NO_BODY, OK, say, sayAndClose } from './answers.ts';
import { type AnswerWith, startPlainReceiver } from './plain-receiver.ts';

type Choices = Partial<Parameters<typeof createSender>[0]>;
type Message = Parameters<ReturnType<typeof createSender>['post']>[0];

function makeSender(choices: Choices) {
  const metrics = createMetrics();
  const kept = createKeptConnections({ metrics, most: { service: 256, developer: 64 } });
  const usual = { clock: createFakeClock(), direct: true, allowPrivate: true, timeoutMs: 10_000 };
  const sender = createSender({ ...usual, metrics, kept, ...choices });
  return {
    ...sender,
    metrics,
    post: (message: Omit<Message, 'owner'> & { owner?: string }) => sender.post({ owner: 'dev-1', ...message }),
  };
}

function createTestSender(t: Test, choices: Omit<Choices, 'clock'> = {}, clock = createFakeClock()) {
  const sender = makeSender({ ...choices, clock });
  t.teardown(() => sender[Symbol.asyncDispose]());
  return { ...sender, clock };
}

/** Both ways name a fault of an answer, but not in the same words. */
const shown = ({ beginning, error, ...answer }: Answer): object => ({
  ...answer,
  error: error?.replace(/^the answer .*/s, 'the answer has a fault') ?? null,
  beginning: beginning?.toString('latin1'),
});

/** Posts three messages, one after another. */
async function postThree(t: Test, answer: AnswerWith, direct: boolean) {
  const { post } = createTestSender(t, { direct });
  const receiver = await startPlainReceiver(t, answer);
  const answers: (object | undefined)[] = [];
  for (const id of ['1', '2', '3']) {
    const got = await post({
      url: receiver.url,
      headers: { 'webhook-id': id },
      body: '{"text":"\u00fc"}',
      keepsBeginning: true,
    });
    answers.push(got && shown(got));
  }
  return { answers, seen: receiver.seen, connections: receiver.connections() };
}

for (const [name, { answer, kept }] of Object.entries(ANSWERS)) {
  t.test(`each way of sending reads an answer alike: ${name}`, async (t) => {
    const [ours, nodes] = [await postThree(t, answer, true), await postThree(t, answer, false)];
    t.strictSame(ours.answers, nodes.answers);
    t.strictSame(ours.seen, ['1', '2', '3'], 'each message is sent once');
    t.strictSame(nodes.seen, ours.seen);
    t.equal(ours.connections, kept ? 1 : 3);
    t.equal(nodes.connections, 3);
  });
}

void t.test('a message is not sent again when its answer has begun', async (t) => {
  const { answers, seen } = await postThree(t, sayAndClose(`${OK}content-le`), true);
  t.match(answers[0], { statusCode: null, error: 'the receiver closed the connection before its answer was complete' });
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
      const sender = makeSender({
        clock,
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

void t.test('idle connections are bounded for each developer and in all, and the oldest is closed first', async (t) => {
  const { post, metrics } = createTestSender(t);
  const receivers: Awaited<ReturnType<typeof startPlainReceiver>>[] = [];
  const send = async (owner: string): Promise<void> => {
    const receiver = await startPlainReceiver(t, say(`${OK}Keep-Alive: timeout=600\r\n${NO_BODY}`));
    receivers.push(receiver);
    await post({ url: receiver.url, owner, headers: {}, body: '{}' });
  };
  const open = () => receivers.filter((receiver) => receiver.open() > 0).length;
  for (let count = 0; count < 70; count += 1) await send('dev-1');
  await until(() => open() === 64);
  t.same(
    receivers.slice(0, 7).map((receiver) => receiver.open()),
    [0, 0, 0, 0, 0, 0, 1],
  );
  for (let other = 2; other < 7; other += 1) for (let count = 0; count < 60; count += 1) await send(`dev-${other}`);
  await until(() => open() === 256);
  const text = await metrics.registry.metrics();
  t.match(text, /lapel_receiver_connections_kept 256/);
  t.match(text, /lapel_receiver_connections_closed_total\{bound="developer"\} 6/);
  t.match(text, /lapel_receiver_connections_closed_total\{bound="service"\} 108/);
  t.match(text, /lapel_webhook_messages_total\{way="direct"\} 370/);
});

void t.test('an idle connection is closed after its time', async (t) => {
  for (const [hint, kept] of [
    ['', 4_000],
    ['Keep-Alive: timeout=30\r\n', 28_000],
    ['Keep-Alive: max=5, timeout=9999\r\n', 30_000],
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
  const { post } = createTestSender(t, {}, { ...clock, after: () => () => undefined });
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

void t.test('a receiver that answers without a body keeps its connection', async (t) => {
  const { post } = createTestSender(t);
  const receiver = await startPlainReceiver(t, say('HTTP/1.1 304 Not Modified\r\n\r\n'));
  for (let sent = 0; sent < 10; sent += 1) await post({ url: receiver.url, headers: {}, body: '{}' });
  t.equal(receiver.seen.length, 10);
  t.equal(receiver.connections(), 1);
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

void t.test('a header that could end early is refused', async (t) => {
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
