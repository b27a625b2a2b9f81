import { createTimerWheel } from '@lapel/device-sim/timer-wheel';
import t from 'tap';
import { handTimers } from './hand-timers.ts';

t.test('tasks run in their order, never early and at most a tick late, however far away they are', async (t) => {
  const real = handTimers();
  const wheel = createTimerWheel(real);
  const spans = [0, 1, 3, 4, 5, 250, 4095, 4096, 4097, 8191, 30_000, 3_600_000, 4_194_304, 5_000_000];
  const ran: { span: number; late: number }[] = [];
  for (const span of spans.toReversed()) wheel.after(span, () => ran.push({ span, late: real.now() - span }));
  t.equal(real.waiting(), 1, 'one real timer for all of them');
  let most = 0;
  while ((await real.next()) !== undefined) most = Math.max(most, real.waiting());
  t.equal(most, 1);
  t.strictSame(
    ran.map(({ span }) => span).toSorted((a, b) => a - b),
    spans,
  );
  for (const { span, late } of ran) t.ok(late >= 0 && late <= 4, `${span} is ${late} late`);
  const ticks = ran.map(({ span }) => Math.max(1, Math.ceil(span / 4)));
  t.strictSame(
    ticks,
    ticks.toSorted((a, b) => a - b),
  );
});

t.test('a cancelled task never runs, and an empty wheel sets no timer', async (t) => {
  const real = handTimers();
  const wheel = createTimerWheel(real);
  const cancels = [10, 5000, 100_000_000].map((span) => wheel.after(span, () => t.fail('it was cancelled')));
  const ran: number[] = [];
  const done = wheel.after(20, () => ran.push(real.now()));
  for (const cancel of cancels) cancel();
  for (const cancel of cancels) cancel();
  while ((await real.next()) !== undefined);
  t.strictSame(ran, [20]);
  done();
  t.equal(real.waiting(), 0);
  wheel.after(50, () => t.fail('it was cancelled'))();
  t.equal(real.waiting(), 0);
});

t.test('a task may set others and cancel others, and an earlier one than all before is not late', async (t) => {
  const real = handTimers();
  const wheel = createTimerWheel(real);
  const ran: string[] = [];
  const say = (text: string) => () => ran.push(`${text} ${real.now()}`);
  const never = wheel.after(12, say('never'));
  wheel.after(6000, say('last'));
  wheel.after(8, () => {
    say('first')();
    never();
    wheel.after(0, say('second'));
    wheel.after(8, say('third'));
  });
  while ((await real.next()) !== undefined);
  t.strictSame(ran, ['first 8', 'second 12', 'third 16', 'last 6000']);
});

t.test('after a pause of the process everything that is due runs, in its order', async (t) => {
  const real = handTimers();
  const wheel = createTimerWheel(real);
  const ran: number[] = [];
  for (const span of [9000, 100, 4097, 20_000, 4100]) wheel.after(span, () => ran.push(span));
  real.elapse(10_000);
  await real.next();
  t.strictSame(ran, [100, 4097, 4100, 9000]);
  wheel.after(4, () => ran.push(4));
  while ((await real.next()) !== undefined);
  t.strictSame(ran, [100, 4097, 4100, 9000, 4, 20_000]);
  t.ok(real.now() <= 20_004);
});
