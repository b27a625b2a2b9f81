import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { watchService } from '@lapel/device-sim/scenario/service-watch';
import { systemTimers, type Timers } from '@lapel/device-sim/timers';
import t, { type Test } from 'tap';

/** A server whose answers the test decides, and the clock of the simulator, which the test moves. */
async function startWatched(t: Test, { stoodStill = (): number => 0, token = 'secret' } = {}) {
  const asked: ServerResponse[] = [];
  let bytes = 50_000_000;
  let ahead = 0;
  const server = createServer((request, response) => {
    if (request.url === '/metrics') {
      const isKnown = request.headers.authorization === 'Bearer secret';
      response.writeHead(isKnown ? 200 : 401).end(isKnown ? `a 1\nprocess_resident_memory_bytes ${bytes}\n` : '');
      return;
    }
    asked.push(response);
    server.emit('asked');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const timers: Timers = {
    now: () => ahead,
    after: (_, task) => systemTimers.after(0, task),
  };
  const watch = watchService({ api: url, admin: { url, token }, timers, stoodStill });
  t.teardown(() => {
    watch.stop();
    server.closeAllConnections();
    server.close();
  });
  return {
    watch,
    server,
    /** Answers the next call after so many milliseconds of the simulator's clock. */
    async answer(after: number) {
      while (asked.length === 0) await once(server, 'asked');
      ahead += after;
      asked.shift()?.end('{}');
      while (asked.length === 0) await once(server, 'asked');
    },
    grow: (more: number) => (bytes += more),
  };
}

t.test('a call that waits for more than a second is a stall, a quicker one is none', async (t) => {
  const { watch, answer } = await startWatched(t);
  await answer(10);
  await answer(900);
  t.equal(watch.counts().stalled, 0);
  await answer(1100);
  t.equal(watch.counts().stalled, 1);
  await answer(5000);
  await answer(10);
  t.equal(watch.counts().stalled, 2, 'one long silence is one stall');
  t.match(
    watch.notes('stalled').map(({ text }) => text),
    [/^the service answered no call for 1\.\d s$/, /^the service answered no call for 5\.\d s$/],
  );
});

t.test('the time in which the simulator itself stood still is no stall of the service', async (t) => {
  const { watch, answer } = await startWatched(t, { stoodStill: () => 4500 });
  await answer(5000);
  t.equal(watch.counts().stalled, 0);
  await answer(6000);
  t.equal(watch.counts().stalled, 1);
});

t.test('a service that is made to fail does not stall', async (t) => {
  const { watch, answer } = await startWatched(t);
  await answer(10);
  watch.suspend(true);
  await answer(5000);
  await answer(5000);
  watch.suspend(false);
  await answer(5000); // this call began before the service was back
  t.equal(watch.counts().stalled, 0);
  await answer(1100);
  t.equal(watch.counts().stalled, 1);
});

t.test('a connection that ends without an answer is no stall', async (t) => {
  const { watch, answer, server } = await startWatched(t);
  await answer(10);
  server.closeAllConnections();
  await answer(10);
  t.equal(watch.counts().stalled, 0);
});

t.test('the growth of the memory counts from the look that says so', async (t) => {
  const { watch, grow } = await startWatched(t);
  await watch.weigh();
  t.equal(watch.counts().memory, 0);
  grow(7_000_000);
  await watch.weigh(true);
  grow(3_000_000);
  await watch.weigh();
  t.equal(watch.counts().memory, 3_000_000);
  t.match(
    watch.notes('memory').map(({ text }) => text),
    ['the service uses 57 MB of memory', 'the memory of the service has grown to 60 MB'],
  );
});

t.test('without access to administration there is no memory', async (t) => {
  const { watch } = await startWatched(t, { token: 'wrong' });
  await watch.weigh();
  t.equal(watch.counts().memory, undefined);
  t.same(watch.notes('memory'), []);
});

t.test(
  'a service that stands still for a part of each second is halted, and one that begins slowly is not',
  async (t) => {
    const { watch, answer } = await startWatched(t);
    for (let second = 0; second < 3; second += 1) {
      await answer(300);
      await answer(10);
    }
    t.equal(watch.counts().halted, 0, 'it may load its code at first');
    for (let second = 0; second < 13; second += 1) {
      await answer(300);
      await answer(10);
    }
    t.match(watch.counts(), { halted: 16 * 300 - 1000, watched: 16 * (300 + 100), stalled: 0 });
    t.match(watch.notes('halted')[0], { text: 'the service answered no call for 300 ms' });
  },
);

t.test('the time in which the service stood still is known, also while it does', async (t) => {
  const { watch, answer } = await startWatched(t);
  await answer(10);
  t.equal(watch.stoodStill(0, 10_000), 0);
  await answer(4000);
  t.equal(watch.stoodStill(0, 10_000), 4000);
  t.equal(watch.stoodStill(1010, 2010), 1000, 'of a span that lies in it');
});
