import { contradictionsIn } from '@lapel/device-sim/scenario/contradictions';
import { readExpectation } from '@lapel/device-sim/scenario/expectation';
import t from 'tap';

const placesIn = (...written: readonly (string | { expect: string; phase: string })[]): number[] =>
  contradictionsIn(
    written.map((one) => {
      const { expect, phase } = typeof one === 'string' ? { expect: one, phase: null } : one;
      const read = readExpectation(expect, phase);
      if (typeof read === 'string') throw new Error(read);
      return read;
    }),
  ).map(({ place }) => place);

t.test('expectations that exclude each other are found at the later one', async (t) => {
  t.same(placesIn('lost == 0', 'lost >= 1'), [1]);
  t.same(placesIn('lost > 3', 'accepted > 1', 'lost < 3', 'lost == 3'), [2, 3]);
  t.same(placesIn('p99(delivered) < 1 s', 'p99(delivered) >= 1000 ms'), [1]);
  t.same(placesIn({ expect: 'late == 0', phase: 'work' }, { expect: 'late > 0', phase: 'work' }), [1]);
  t.same(placesIn('lost(group: a) == 0', 'lost(group: a) == 1'), [1]);
});

t.test('expectations that can hold together are none', async (t) => {
  t.same(placesIn('lost >= 0', 'lost <= 0', 'lost == 0', 'lost != 1'), []);
  t.same(placesIn('succeeded >= 1', 'succeeded < 50 %'), [], 'a number and a share');
  t.same(placesIn('p50(delivered) < 1 s', 'p99(delivered) > 2 s'), []);
  t.same(placesIn('late == 0', { expect: 'late > 0', phase: 'work' }), [], 'the run and a phase');
  t.same(placesIn('lost(group: a) == 0', 'lost(group: b) == 1', 'lost(group: b, action: setWifi) == 0'), []);
  t.same(placesIn('failed(INTERNAL) == 0', 'failed(STORAGE_FULL) == 1'), []);
});
