import { createHistogram, mean, percentile } from '@lapel/device-sim/histogram';
import t from 'tap';

t.test('a percentile is never too low, and at most a thirtieth too high', (t) => {
  const histogram = createHistogram();
  for (let each = 1; each <= 1000; each += 1) histogram.record(each / 10);
  const data = histogram.data();
  for (const [share, exact] of [
    [0, 0.1],
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ] as const) {
    const found = percentile(data, share);
    t.ok(found >= exact && found <= exact * 1.031, `${share}: ${found} for ${exact}`);
  }
  t.match({ ...data, mean: Math.round(mean(data)) }, { count: 1000, min: 0.1, max: 100, mean: 50 });
  t.end();
});

t.test('the histograms of two processes add up to that of one', (t) => {
  const [one, two, both] = [createHistogram(), createHistogram(), createHistogram()];
  for (let each = 0; each < 100; each += 1) {
    (each % 2 === 0 ? one : two).record(each);
    both.record(each);
  }
  one.add(JSON.parse(JSON.stringify(two.data())));
  one.add(createHistogram().data());
  t.strictSame(one.data(), both.data());
  t.equal(percentile(createHistogram().data(), 0.5), 0);
  t.end();
});
