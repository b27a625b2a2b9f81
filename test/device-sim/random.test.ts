import { deriveSeed } from '@lapel/device-sim/random';
import t from 'tap';

t.test('the parts of neighbouring seeds have nothing in common', async (t) => {
  const seen = new Set<number>();
  const quarters = [0, 0, 0, 0];
  for (let seed = 0; seed < 100; seed += 1) {
    for (let part = 0; part < 100; part += 1) {
      const derived = deriveSeed(seed, part, 1);
      seen.add(derived);
      quarters[Math.floor(derived / 2 ** 30)]! += 1;
    }
  }
  t.equal(seen.size, 10_000);
  for (const quarter of quarters) t.ok(Math.abs(quarter - 2500) < 220, `${quarter} of 2500`);
  t.equal(deriveSeed(7, 1, 2), deriveSeed(7, 1, 2));
  t.not(deriveSeed(7, 1, 2), deriveSeed(7, 2, 1));
});
