import { isStarved, readKernel } from '@lapel/device-sim/scenario/kernel-pressure';
import t, { type Test } from 'tap';

/** The counters of a kernel: milliseconds of waiting, ticks of work, and ticks that the host took away. */
const kernel = (t: Test, { waited = 0, worked = 0, stolen = 0 }) =>
  readKernel(
    t.testdir({
      pressure: { cpu: `some avg10=1.00 avg60=1.00 avg300=1.00 total=${waited * 1000}\nfull avg10=0.00 total=0\n` },
      stat: `cpu  ${worked} 0 0 0 0 0 0 ${stolen} 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\n`,
    }),
  );

t.test('a machine is starved whose programs wait for a processor for most of the time', async (t) => {
  const before = kernel(t, { waited: 5000 });
  t.equal(isStarved(before, kernel(t, { waited: 5500 }), 1000), false);
  t.equal(isStarved(before, kernel(t, { waited: 5700 }), 1000), true);
});

t.test('a machine is starved whose host takes its processors away', async (t) => {
  const before = kernel(t, { worked: 1000, stolen: 10 });
  t.equal(isStarved(before, kernel(t, { worked: 1195, stolen: 15 }), 1000), false);
  t.equal(isStarved(before, kernel(t, { worked: 1150, stolen: 60 }), 1000), true);
});

t.test('a kernel that says nothing starves nobody', async (t) => {
  const none = readKernel(t.testdir({}));
  t.strictSame(none, { waited: 0, ticks: 0, stolen: 0 });
  t.equal(isStarved(none, none, 1000), false);
});
