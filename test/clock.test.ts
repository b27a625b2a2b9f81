import t from 'tap';
import { createTime } from '../src/runtime/clock.ts';
import type { Micros, Millis } from '../src/runtime/units.ts';

t.test('time is steady, jumps after a suspension of the machine, and never goes back', async (t) => {
  const machine = { wall: 1_000_000, steady: 5 };
  const now = createTime(
    () => machine.wall,
    () => machine.steady,
  );
  t.equal(now(), 1_000_000_000);
  machine.steady += 1.5;
  t.equal(now(), 1_000_001_500, 'microseconds');
  machine.wall += 3_600_000;
  t.equal(now(), 1_000_000_000 + 3_600_000_000, 'an hour in which only the wall’s went on');
  machine.steady += 10;
  machine.wall -= 7_200_000;
  t.equal(now(), 1_000_000_000 + 3_600_010_000, 'a clock that is put back is not followed');
});

t.test('a moment is not taken for the length of a timer', async (t) => {
  const micros: Micros = 1_000_000;
  // @ts-expect-error: the compiler refuses it, and `npm run check` fails when it does not any more
  const millis: Millis = micros;
  t.equal(millis, micros);
});
