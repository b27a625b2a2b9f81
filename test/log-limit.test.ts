import t from 'tap';
import { createLogLimit, KEPT_OF_OWNER, KEPT_SOURCES } from '../src/runtime/log-limit.ts';
import { createFakeClock } from './fake-clock.ts';

t.test('a source has a line a minute, and the next one says how many were left out', async (t) => {
  const clock = createFakeClock();
  const limit = createLogLimit({ clock });
  t.same([limit('a'), limit('a'), limit('b'), limit('a')], [0, undefined, 0, undefined]);
  clock.advance(59_999);
  t.equal(limit('a'), undefined);
  clock.advance(1);
  t.same([limit('a'), limit('a'), limit('b')], [3, undefined, 0]);
});

t.test('endless sources make a bounded number of lines, and one for all others', async (t) => {
  const clock = createFakeClock();
  const limit = createLogLimit({ clock });
  let lines = 0;
  for (let source = 0; source < 3 * KEPT_SOURCES; source += 1) lines += limit(String(source)) === undefined ? 0 : 1;
  t.equal(lines, KEPT_SOURCES + 1);
  t.equal(limit('0'), undefined, 'the first are still known');
  clock.advance(60_000);
  t.equal(limit('new'), 0, 'those that were quiet for a minute make room');
});

t.test('endless sources of one owner take no line of another', async (t) => {
  const clock = createFakeClock();
  const limit = createLogLimit({ clock });
  let lines = 0;
  for (let source = 0; source < 3 * KEPT_SOURCES; source += 1)
    lines += limit(`many ${source}`, 'many') === undefined ? 0 : 1;
  t.equal(lines, KEPT_OF_OWNER + 1, 'and one for all others of that owner');
  for (let source = 0; source < 50; source += 1) t.equal(limit(`few ${source}`, 'few'), 0);
  clock.advance(60_000);
  t.equal(limit('many 0', 'many'), 0);
  t.equal(limit('many 2999', 'many'), 0, 'those that were quiet make room');
});
