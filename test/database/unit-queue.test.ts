import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createUnitQueue, type Waiting } from '../../src/platform/database/unit-queue.ts';

t.test(
  'a unit whose caller waits alone is committed at the end of its turn, whoever else was in the last commit',
  async (t) => {
    const batches: number[] = [];
    const commit = async (batch: Waiting[]): Promise<undefined> => {
      batches.push(batch.length);
      for (const unit of batch) unit.resolve(undefined);
      return undefined;
    };
    const { transact, transactSoon } = createUnitQueue(commit);
    const work = async (): Promise<void> => undefined;
    await Promise.all([transactSoon(work), transactSoon(work), transact(work)]);
    t.same(batches, [3], 'units that nobody waits for join the commit of others');

    const alone = transact(work);
    await turn();
    t.same(batches, [3, 1]);
    await alone;

    await Promise.all([transact(work), transact(work)]);
    void transact(work);
    await turn();
    t.same(batches, [3, 1, 2], 'where two callers waited, a second one is given a few turns to come');
    const second = transact(work);
    await second;
    t.same(batches, [3, 1, 2, 2]);
  },
);
