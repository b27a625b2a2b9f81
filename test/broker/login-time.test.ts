import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createLoginTime } from '../../src/edge/mqtt/login-time.ts';

/** Timers that fire when the test says so, also late. */
function handTimers() {
  const timers: { milliseconds: number; task: () => void }[] = [];
  return {
    timers,
    after(milliseconds: number, task: () => void) {
      timers.push({ milliseconds, task });
      return () => undefined;
    },
    async fire(): Promise<void> {
      timers.shift()?.task();
      await turn();
    },
  };
}

t.test('one timer measures the login time of all connections, in pieces', async (t) => {
  const clock = handTimers();
  const expired: string[] = [];
  const time = createLoginTime<string>({ clock, milliseconds: 10_000 }, (name) => expired.push(name));
  for (const name of ['first', 'logged in', 'second']) time.begin(name);
  t.same(
    clock.timers.map(({ milliseconds }) => milliseconds),
    [1000],
  );
  time.end('logged in');
  for (let piece = 0; piece < 9; piece += 1) await clock.fire();
  time.begin('third');
  t.same(expired, []);
  await clock.fire();
  t.same(expired, ['first', 'second']);
  time.end('third');
  await clock.fire();
  t.same(clock.timers, [], 'and without connections there is no timer');
});

t.test(
  'a standstill of the service counts as one piece, and a CONNECT that arrived meanwhile is accepted',
  async (t) => {
    const clock = handTimers();
    const expired: string[] = [];
    const time = createLoginTime<string>({ clock, milliseconds: 10_000 }, (name) => expired.push(name));
    time.begin('device');
    await clock.fire(); // a minute late: a late timer fires once
    t.same(expired, []);
    for (let piece = 0; piece < 8; piece += 1) await clock.fire();
    const last = clock.fire();
    time.end('device'); // its CONNECT was in the socket, and is read before expired connections are closed
    await last;
    t.same(expired, []);
  },
);
