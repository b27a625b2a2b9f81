import t from 'tap';
import { liveDays } from './simulated-days.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const NOTHING_WRONG = { doneAgain: 0, unaware: 0, differing: 0, doubled: 0, lost: 0, unanswered: 0, late: 0 };

for (const seed of [1, 2, 3])
  t.test(`ten days with nights, tunnels and power cuts lose nothing, and double nothing (seed ${seed})`, async (t) => {
    const figures = liveDays(seed, 10);
    t.comment(JSON.stringify(figures));
    t.match(figures, NOTHING_WRONG);
    for (const [name, least] of [
      ['logins', 100],
      ['powerCuts', 15],
      ['deadConnections', 50],
      ['commands', 100],
      ['events', 1000],
      ['repeated', 10],
    ] as const)
      t.ok(figures[name] > least, `${name}: enough of them`);
  });

t.test('the same seed gives the same days', async (t) => {
  t.same(liveDays(4, 2), liveDays(4, 2));
});

t.test('a disk that forgets writes which were synced is noticed', async (t) => {
  class ForgetfulDisk extends SimulatedDisk {
    override sync(): void {}
  }
  const { lost, doneAgain, unaware } = liveDays(1, 10, new ForgetfulDisk());
  t.ok(lost > 0, 'lost events');
  t.ok(doneAgain + unaware > 0, 'commands that are begun again');
});
