import { startActing } from '@lapel/device-sim/scenario/acting';
import type { Plan } from '@lapel/device-sim/scenario/plan';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';

const plan: Plan = {
  action: { do: 'setWifi', groups: [], share: 1, pace: { perSecond: 10 } },
  total: 20,
  dueAt: (n) => n * 100,
  placeOf: (n) => n % 2,
  numberOf: (n) => n + 1,
};

t.test('an action knows its due time, also after a standstill', async (t) => {
  const timers = handTimers();
  timers.elapse(5000);
  const begun: { due: number; at: number }[] = [];
  const acting = startActing({
    plans: [plan],
    timers,
    act: (_plan, _n, due) => void begun.push({ due, at: timers.now() }),
  });
  timers.elapse(350);
  await timers.next();
  t.strictSame(begun, [
    { due: 5000, at: 5000 },
    { due: 5100, at: 5350 },
    { due: 5200, at: 5350 },
    { due: 5300, at: 5350 },
  ]);
  acting.stop();
});

t.test('actions of another process of the run are neither made nor counted as left', async (t) => {
  const timers = handTimers();
  const made: number[] = [];
  const acting = startActing({
    plans: [plan],
    timers,
    isMine: ({ placeOf }, n) => placeOf(n) === 1,
    act: (_plan, n) => void made.push(n),
  });
  timers.elapse(300);
  await timers.next();
  timers.elapse(400);
  const { left, answered } = acting.stop();
  t.strictSame(made, [1, 3]);
  t.equal(left, 2, 'the 5th and the 7th');
  await answered;
});

t.test('actions whose rate grows come closer and closer, and none is left out', async (t) => {
  const timers = handTimers();
  const begun: number[] = [];
  const acting = startActing({
    plans: [{ ...plan, total: 4, dueAt: (n) => [0, 500, 700, 800][n]! }],
    timers,
    act: (_plan, n) => void begun.push(n),
  });
  timers.elapse(600);
  await timers.next();
  t.strictSame(begun, [0, 1]);
  timers.elapse(250);
  t.equal(acting.stop().left, 2);
});
