import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { startTimeout } from '../src/runtime/timeout.ts';

/** Keeps the event loop busy. */
function stall(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

t.test('a bound ends by itself, once', async (t) => {
  let late = 0;
  await new Promise<void>((resolve) => {
    startTimeout(20, () => {
      late += 1;
      resolve();
    });
  });
  await wait(40);
  t.equal(late, 1);
});

t.test('an answer that arrived while this process was busy is not late', async (t) => {
  const server = createServer((socket) => socket.end('an answer')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(socket, 'connect');
  const end = startTimeout(500, () => socket.destroy(new Error('late')));
  stall(600);
  const [answer] = await once(socket, 'data');
  end();
  t.equal(String(answer), 'an answer');
});
