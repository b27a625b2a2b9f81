import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createBusyKeys } from '../../src/platform/database/busy-keys.ts';
import { createUnitQueue, type Waiting } from '../../src/platform/database/unit-queue.ts';

t.test(
  'a unit whose caller waits alone is committed at the end of its turn, whichever units were in the last commit',
  async (t) => {
    const batches: number[] = [];
    const commit = async (batch: Waiting[]): Promise<undefined> => {
      batches.push(batch.length);
      for (const unit of batch) unit.resolve(undefined);
      return undefined;
    };
    const { transact } = createUnitQueue(commit);
    const work = async (): Promise<void> => undefined;
    await Promise.all([transact(work, { pace: 'soon' }), transact(work, { pace: 'soon' }), transact(work)]);
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

t.test('while somebody waits for the whole service, no unit is kept to join a commit', async (t) => {
  const batches: number[] = [];
  const commit = async (batch: Waiting[]): Promise<undefined> => {
    batches.push(batch.length);
    for (const unit of batch) unit.resolve(undefined);
    return undefined;
  };
  const { transact, hurry } = createUnitQueue(commit);
  const work = async (): Promise<void> => undefined;
  const kept = transact(work, { pace: 'soon' });
  await turn();
  t.same(batches, [], 'it is kept');
  const done = hurry();
  await turn();
  t.same(batches, [1]);
  await kept;
  const next = transact(work, { pace: 'soon' });
  await turn();
  t.same(batches, [1, 1]);
  await next;
  done();
  const last = transact(work, { pace: 'soon' });
  await turn();
  t.same(batches, [1, 1], 'afterwards it is kept again');
  await last;
});

t.test(
  'however many units of a busy device wait, units of other devices go on, and its own keep their order',
  async (t) => {
    const gate = Promise.withResolvers<void>();
    const done: string[] = [];
    const commit = async (batch: Waiting[]): Promise<undefined> => {
      if (batch.some(({ key }) => key === 'busy') && done.length === 0) await gate.promise;
      for (const unit of batch) unit.resolve(await unit.work(undefined as never));
      return undefined;
    };
    const { transact, idle } = createUnitQueue(commit, { lanes: 2, perKey: 4, busy: createBusyKeys() });
    const unit = (name: string) => async () => done.push(name);
    void transact(unit('first'), { device: 'busy' });
    await turn();
    const own = Array.from({ length: 1_000 }, (_, index) => transact(unit(`own ${index}`), { device: 'busy' }));
    await transact(unit('of another'), { device: 'other' });
    await transact(unit('of a third'), { device: 'third' });
    t.same(done, ['of another', 'of a third']);
    gate.resolve();
    await Promise.all(own);
    t.same(done.slice(2), ['first', ...own.map((_, index) => `own ${index}`)]);
    await idle();
  },
);

t.test('a commit beside another one begins only some time after it', async (t) => {
  const gate = Promise.withResolvers<void>();
  let apartMs = Number.POSITIVE_INFINITY;
  const batches: string[][] = [];
  const commit = async (batch: Waiting[]): Promise<undefined> => {
    batches.push(batch.map(({ key = '' }) => key));
    if (batches.length === 1) await gate.promise;
    for (const unit of batch) unit.resolve(undefined);
    return undefined;
  };
  const { transact } = createUnitQueue(commit, { lanes: 2, apartMs: () => apartMs, busy: createBusyKeys() });
  const work = async (): Promise<void> => undefined;
  const a = transact(work, { device: 'a' });
  await turn();
  const b = transact(work, { device: 'b' });
  for (let turns = 0; turns < 10; turns += 1) await turn();
  t.same(batches, [['a']]);
  apartMs = 1;
  await Promise.all([b, transact(work, { device: 'c' })]);
  t.same(batches, [['a'], ['b', 'c']]);
  gate.resolve();
  await a;
});
