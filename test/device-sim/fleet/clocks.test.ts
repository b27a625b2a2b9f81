import { clockErrorOf } from '@lapel/device-sim/fleet/clocks';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';

t.test('clocks are fast or slow within their bounds, drift on, and are the same in every run', (t) => {
  const timers = handTimers();
  const clocks = { wrong: { min: 1000, max: 60_000 }, drift: 2000 };
  const errors = Array.from({ length: 100 }, (_, place) => clockErrorOf(clocks, 7, place, timers));
  const first = errors.map((now) => now());
  t.ok(first.every((error) => Math.abs(error) >= 1000 && Math.abs(error) <= 60_000));
  t.ok(first.some((error) => error < 0) && first.some((error) => error > 0));
  t.strictSame(
    first,
    first.map((_, place) => clockErrorOf(clocks, 7, place, timers)()),
  );
  timers.elapse(1_800_000);
  t.ok(errors.every((now, place) => Math.abs(Math.abs(now()) - Math.abs(first[place]!) - 1000) < 1e-6));
  t.end();
});
