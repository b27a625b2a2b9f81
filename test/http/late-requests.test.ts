import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { startListener } from './listener-world.ts';

// Milliseconds: Node counts these with the clock of the machine, the listener with the clock of the test.
const TIME = 20;
const HELD = 'GET /held HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 16\r\n\r\n';

/** A connection, and what has arrived on it. */
function open(t: Test, port: number, text: string) {
  const socket = connect({ host: '127.0.0.1', port });
  t.teardown(() => socket.destroy());
  // A reset is an end as well: the answers that have arrived say whether it came too soon.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const one = { socket, received: '', closed };
  socket.setEncoding('utf8').on('data', (piece: string) => (one.received += piece));
  socket.write(text);
  return one;
}

/** A fake clock that counts how often the listener has given a client time for the rest of a request. */
function countingClock() {
  const clock = createFakeClock();
  const given = { times: 0 };
  const after: typeof clock.after = (milliseconds, task) => {
    if (milliseconds === TIME) given.times += 1;
    return clock.after(milliseconds, task);
  };
  return { clock: { ...clock, after }, given };
}

/** A connection that has sent `text`, on which a request is in work until `release` is called, and Node's time is over. */
async function late(t: Test, text: string) {
  const { clock, given } = countingClock();
  const bounds = { clock, headersTimeout: TIME, requestTimeout: TIME };
  const { port, held, entered, listener } = await startListener(t, undefined, bounds);
  let isInWork = false;
  void entered.promise.then(() => (isInWork = true));
  // On a machine that is slow, Node may end a connection before it has read its bytes, which resets it. So both clients try
  // again.
  let client = open(t, port, text);
  await until(async () => {
    if (client.socket.destroyed) client = open(t, port, text);
    await Promise.race([entered.promise, client.closed]);
    return isInWork;
  });
  // Node looks at the older request first, so it has looked at that of the client when a later one is ended.
  await until(async () => {
    const slow = open(t, port, 'GET /strict HT');
    // On such a machine the listener may also take one for late by its own fault, and wait for the rest of it.
    await Promise.race([slow.closed, pause(1_000)]);
    slow.socket.destroy();
    return slow.received.startsWith('HTTP/1.1 408 ');
  });
  t.pass('a client that is slow by itself is ended');
  const before = given.times;
  /** Resolves when the listener waits for the rest, for which it gives time. */
  const release = (): Promise<void> => {
    held.resolve();
    return until(() => client.socket.destroyed || given.times > before);
  };
  const statuses = () => client.received.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
  return { clock, client, release, statuses, idle: () => listener.idle() };
}

for (const [what, before] of [
  ['while the service read no more from the connection', HELD.repeat(40)],
  ['while an earlier request was in work', HELD],
] as const) {
  const answers = Array<string>(before.length / HELD.length).fill('200');

  t.test(`a head that arrived in part ${what} is not late`, async (t) => {
    const { client, release, statuses } = await late(t, `${before}GET /strict HT`);
    await release();
    client.socket.write('TP/1.1\r\nHost: a\r\n\r\nGET /strict HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await client.closed;
    t.same(statuses(), [...answers, '200', '200']);
  });

  t.test(`a head that arrived in part ${what} has the whole time again`, async (t) => {
    const { clock, client, release, statuses } = await late(t, `${before}GET /strict HT`);
    await release();
    clock.advance(TIME - 1);
    await until(() => client.socket.destroyed || statuses().length === answers.length);
    t.equal(client.socket.readyState, 'open');
    clock.advance(1);
    await client.closed;
    t.same(statuses(), [...answers, '408']);
  });

  t.test(`a body that arrived in part ${what} is not late`, async (t) => {
    const { client, release, statuses } = await late(t, `${before}${POST}{"client`);
    await release();
    client.socket.write(`Id":"a"}GET /strict HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await client.closed;
    t.same(statuses(), [...answers, '200', '200']);
  });

  t.test(`a body that arrived in part ${what} has the whole time again`, async (t) => {
    const { clock, client, release, statuses } = await late(t, `${before}${POST}{"client`);
    await release();
    clock.advance(TIME - 1);
    await until(() => client.socket.destroyed || statuses().length === answers.length);
    t.equal(client.socket.readyState, 'open');
    clock.advance(1);
    await client.closed;
    t.same(statuses(), [...answers, '408']);
  });
}

t.test('a connection is not ended while it waits for its next request, after one that was late', async (t) => {
  const { clock, client, release, statuses, idle } = await late(t, `${HELD}GET /strict HT`);
  await release();
  client.socket.write('TP/1.1\r\nHost: a\r\n\r\n');
  while (statuses().length < 2) await once(client.socket, 'data');
  await idle();
  clock.advance(TIME);
  client.socket.write('GET /strict HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await client.closed;
  t.same(statuses(), ['200', '200', '200']);
});

t.test('a late body has its time also when its request was answered before', async (t) => {
  const { clock, client, release, statuses } = await late(
    t,
    `${HELD}POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 16\r\n\r\n{"client`,
  );
  await release();
  await until(() => client.socket.destroyed || statuses().length === 2);
  t.same(statuses(), ['200', '403']);
  clock.advance(TIME - 1);
  client.socket.write('I');
  clock.advance(1);
  await client.closed.catch(() => undefined); // bytes that nobody has read make a reset of the end
  t.ok(client.socket.destroyed);
});
