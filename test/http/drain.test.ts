import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { raw, startListener as start } from './listener-world.ts';

t.test('draining finishes requests in flight, closes their connections, and accepts nothing more', async (t) => {
  const { listener, request, port, held, entered } = await start(t);
  const idleConnection = raw(port, 'GET /strict HTTP/1.1\r\nHost: a\r\n\r\n');
  const inFlight = request('GET', '/held');
  await entered.promise;
  let idle = false;
  const becameIdle = listener.idle().then(() => {
    idle = true;
  });
  const drained = listener.drain();
  t.match(await idleConnection, /^HTTP\/1.1 200 /, 'an idle keep-alive connection is closed');
  t.equal(idle, false, 'not idle while a request is in flight');
  held.resolve();
  t.match(await inFlight, { status: 200, headers: { connection: 'close' }, body: { done: true } });
  await drained;
  await becameIdle;
  t.equal(await raw(port, 'GET /strict HTTP/1.1\r\nHost: a\r\n\r\n'), '', 'refused');
});

t.test('a drain closes connections that have sent nothing, and answers a request that has just arrived', async (t) => {
  const { port, request, listener } = await start(t);
  const [silent, asking] = [connect({ host: '127.0.0.1', port }), connect({ host: '127.0.0.1', port })];
  await Promise.all([once(silent, 'connect'), once(asking, 'connect')]);
  let answer = '';
  asking.setEncoding('utf8').on('data', (text: string) => (answer += text));
  const closed = Promise.all([once(silent.resume(), 'close'), once(asking, 'close')]);
  await request('GET', '/strict'); // connections are accepted in their order
  asking.write('GET /strict HTTP/1.1\r\nHost: a\r\n\r\n');
  await listener.drain(); // the clock stands still, so no time limit ends it
  await closed;
  t.match(answer, /^HTTP\/1\.1 200 /);
});

t.test('a drain answers a request that has just arrived on a connection that was kept', async (t) => {
  const { port, listener } = await start(t);
  const kept = connect({ host: '127.0.0.1', port }).setEncoding('utf8');
  let answers = '';
  kept.on('data', (text: string) => (answers += text));
  kept.write('GET /strict HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(kept, 'data');
  const closed = once(kept, 'close');
  kept.write('GET /strict HTTP/1.1\r\nHost: a\r\n\r\n'); // the listener has not read it yet
  await listener.drain();
  await closed;
  t.match(answers, /^HTTP\/1\.1 200 [\s\S]+HTTP\/1\.1 200 [\s\S]+connection: close/i);
});

t.test('a listener that leaves answers each request, and closes its connection with the answer', async (t) => {
  const clock = createFakeClock();
  const { port, listener } = await start(t, undefined, { clock });
  const get = 'GET /strict HTTP/1.1\r\nHost: a\r\n\r\n';
  async function keep() {
    const kept = { socket: connect({ host: '127.0.0.1', port }), received: '' };
    kept.socket.setEncoding('utf8').on('data', (text: string) => (kept.received += text));
    kept.socket.write(get);
    await once(kept.socket, 'data');
    return kept;
  }
  const [used, idle] = [await keep(), await keep()];
  t.match(used.received, /connection: keep-alive/i);
  t.equal(listener.trouble(), undefined);
  const left = listener.leave();
  t.equal(listener.trouble(), 'does not accept connections', 'a balancer hears it');
  const closed = once(used.socket, 'close');
  used.socket.write(get);
  await closed;
  t.match(used.received, /^HTTP\/1\.1 200 [\s\S]+HTTP\/1\.1 200 [\s\S]+connection: close/i);
  t.match(await raw(port, get), /^HTTP\/1\.1 200 [\s\S]*connection: close/i, 'also on a new connection');
  t.equal(idle.socket.readyState, 'open', 'one that is idle may be used until the end');
  clock.advance(500);
  await left;
  const ended = once(idle.socket, 'close');
  await listener.drain();
  await ended;
});

t.test('a listener without connections leaves at once', async (t) => {
  const { listener } = await start(t);
  await listener.leave(); // the clock stands still
  t.equal(listener.trouble(), 'does not accept connections');
});

t.test('a connection whose answer began before the drain is closed at its end', async (t) => {
  const { listener, port } = await start(t);
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const asked = get({ host: '127.0.0.1', port, path: '/long', agent });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  t.equal(answer.headers.connection, 'keep-alive');
  const drained = listener.drain();
  const ended = once(answer.resume(), 'end');
  await drained; // no time has passed
  await ended;
  t.ok(answer.complete);
});
