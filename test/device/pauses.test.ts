import { pauseAfter } from '@lapel/device/connection/pauses';
import t from 'tap';

t.test('the pauses between attempts double up to two minutes, and a half of each is random', async (t) => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 7, 8, 1000].map((failures) => pauseAfter(failures, false, () => 1));
  t.same(longest, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 120_000, 120_000, 120_000]);
  t.same(
    [0, 1, 8].map((failures) => pauseAfter(failures, false, () => 0)),
    [500, 1000, 60_000],
  );
});

t.test('a device that tries a list of networks pauses for five seconds at most', async (t) => {
  t.same(
    [0, 2, 9].map((failures) => pauseAfter(failures, true, () => 1)),
    [1000, 4000, 5000],
  );
});
