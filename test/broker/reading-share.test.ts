import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { createReadingShare } from '../../src/broker/reading-share.ts';

t.test('what is too much for one turn goes round in the next ones', async (t) => {
  const share = createReadingShare();
  const order: string[] = [];
  /** A connection that has so many runs to hand on, each of which takes so long. */
  function connection(name: string, size: 'short' | 'long', milliseconds: number, runs: number): void {
    const resume = (): void => {
      order.push(name);
      share.took(milliseconds);
      runs -= 1;
      if (runs > 0) share.wait(resume, size);
    };
    share.wait(resume, size);
  }
  t.ok(share.free());
  share.took(100);
  t.notOk(share.free(), 'nothing more in this turn');

  connection('long 1', 'long', 20, 2);
  connection('long 2', 'long', 20, 2);
  connection('short 1', 'short', 1, 1);
  connection('short 2', 'short', 1, 2);
  await nextTurn();
  t.same(order, ['short 1', 'short 2', 'short 2', 'long 1'], 'short ones go first, and a long one goes in each turn');
  for (let count = 0; count < 5; count += 1) await nextTurn();
  t.same(order.slice(4), ['long 2', 'long 1', 'long 2'], 'and no connection goes twice before another');
  t.ok(share.free(), 'then packets are handed on at once again');
});
