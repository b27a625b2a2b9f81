import { bytes } from '@lapel/device-sim/show';
import t from 'tap';

t.test('sizes have the unit that fits, also those of a memory that has shrunk', async (t) => {
  t.same([0, 999, 25_500, 77_800_000, 1.5e9].map(bytes), ['0 B', '999 B', '25.5 kB', '77.8 MB', '1.5 GB']);
  t.same([-11_800_000, -25_500, -3].map(bytes), ['-11.8 MB', '-25.5 kB', '-3 B']);
});
