import t from 'tap';
import { createHistogram, since } from '../../device-sim/histogram.ts';

t.test('a percentile is the value that so many do not exceed, at most two percent too high', (t) => {
  const times = createHistogram();
  for (let ms = 1; ms <= 1000; ms += 1) times.record(ms);
  t.equal(times.count, 1000);
  for (const percent of [1, 50, 90, 99]) {
    const value = times.percentile(percent) ?? 0;
    t.ok(value >= percent * 10 && value <= percent * 10 * 1.02, `p${percent} is ${value}`);
  }
  t.equal(times.percentile(100), 1000, 'never above the highest');
  t.end();
});

t.test('without values there is no percentile', (t) => {
  t.equal(createHistogram().percentile(99), undefined);
  t.strictSame(createHistogram().buckets(), []);
  t.end();
});

t.test('none is too short or too long to count', (t) => {
  const times = createHistogram();
  for (const ms of [-1, 0, 0.001, 1e12]) times.record(ms);
  t.equal(times.count, 4);
  t.equal(times.buckets().length, 2);
  t.ok((times.percentile(50) ?? 1) <= 0.01);
  t.end();
});

t.test('two become one, and what came later is what was not there before', (t) => {
  const [one, two] = [createHistogram(), createHistogram()];
  for (const ms of [1, 2, 3]) one.record(ms);
  const before = one.buckets();
  for (const ms of [200, 300, 300]) {
    one.record(ms);
    two.record(ms);
  }
  t.strictSame(since(one.buckets(), before), two.buckets());
  const both = createHistogram(before);
  both.add(two.buckets());
  t.strictSame(both.buckets(), one.buckets());
  t.end();
});
