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

t.test('a connection has its time, counted in pieces by one timer for all', async (t) => {
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

t.test('the time in which the service stood still is one piece, and who has spoken meanwhile is let in', async (t) => {
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
});
