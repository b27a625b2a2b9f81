import { createRandom } from '@lapel/device-sim/random';
import t from 'tap';
import { killDevice } from './kills.ts';
import { cutPower } from './simulated-cuts.ts';

const CUTS = 1000;
const KILLS = 15;
const NOTHING_WRONG = { doneAgain: 0, unaware: 0, differing: 0, doubled: 0, lost: 0 };

for (const seed of [1])
  t.test(`the power of a simulated disk is cut ${CUTS} times, at any write (seed ${seed})`, async (t) => {
    const figures = cutPower(seed, CUTS);
    t.match(figures, { cuts: CUTS, ...NOTHING_WRONG });
    t.comment(JSON.stringify(figures));
    for (const name of ['commands', 'events', 'interrupted'] as const)
      t.ok(figures[name] > 100, `${name}: enough of them`);
  });

t.test(`the process of a device is killed ${KILLS} times, with its file on the disk`, async (t) => {
  t.setTimeout(300_000);
  const figures = await killDevice(t.testdir(), KILLS, createRandom(1));
  t.comment(JSON.stringify(figures));
  t.match(figures, { cuts: KILLS, ...NOTHING_WRONG });
  t.ok(figures.events > 0 && figures.commands > 0);
});
