import t from 'tap';
import { createTokenBuckets } from '../src/runtime/token-buckets.ts';
import { createFakeClock } from './fake-clock.ts';

t.test('above ten thousand owners only the one that was silent for longest is forgotten', async (t) => {
  const { take } = createTokenBuckets({ clock: createFakeClock(), perSecond: 1 });
  const empty = (owner: string): void => {
    for (let count = 0; count < 2; count += 1) take(owner);
  };
  for (let owner = 0; owner < 10_000; owner += 1) empty(String(owner));
  t.equal(take('0')?.allowed, false, 'all are remembered, and this one comes again');
  for (const owner of ['new', 'newer']) empty(owner);
  const allowed = (...owners: string[]) => owners.map((owner) => take(owner)?.allowed);
  t.same(allowed('newer', 'new', '0', '9999', '4', '3'), [false, false, false, false, false, false]);
  t.same(allowed('1', '2'), [true, true]);
});
