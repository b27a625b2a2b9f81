import t, { type Test } from 'tap';
import { addCount } from '../../src/core/rollouts/count-repository.ts';
import type { Count } from '../../src/core/rollouts/counts.ts';
import type { Rollout } from '../../src/core/rollouts/rollout.ts';
import { findRollout, updateRollout } from '../../src/core/rollouts/rollout-repository.ts';
import { createSteps } from '../../src/core/rollouts/steps.ts';
import type { UnitOfWork } from '../../src/platform/database/sql.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { storeRollout } from './stored-rollout.ts';

const STAGES = [{ devices: 2, continueWhen: { succeededPercent: 60 } }, { devices: 1 }];
const count = (state: Count['state'], devices: number, code = ''): Count => ({ stage: 0, state, code, devices });

/** Takes a rollout a step further, while something else is committed after the step has read the counts. */
async function stepWhile(t: Test, counts: readonly Count[], between: (unit: UnitOfWork) => Promise<unknown>) {
  const { database, clock } = openTestDatabase(t);
  const plan = { stages: STAGES };
  const begun = { stage: 0, stageSince: 1, shareSince: 1, drained: true };
  const rollout = await storeRollout(database, 'rol_1', { deviceIds: [], plan, ...begun });
  const change = (work: (unit: UnitOfWork) => Promise<unknown>): Promise<void> =>
    database.transact(async (unit) => void (await work(unit)));
  await change(async (unit) => {
    for (const one of counts) await addCount(unit, 'rol_1', one);
  });
  let isFirst = true;
  const done: string[] = [];
  const note =
    (what: string) =>
    async (_: UnitOfWork, one: Rollout): Promise<Rollout> => {
      done.push(what);
      return one;
    };
  const steps = createSteps({
    database: {
      ...database,
      read: {
        ...database.read,
        async all<Row>(...asked: Parameters<typeof database.read.all>) {
          const rows = await database.read.all<Row>(...asked);
          if (isFirst && asked[0].includes('rollout_counts')) {
            isFirst = false;
            await change(between);
          }
          return rows;
        },
      },
    },
    clock,
    trust: { isSettled: () => true },
    transitions: { pause: note('pause'), beginStage: note('begin') } as never,
    joining: { look: async () => undefined } as never,
    places: { serve: async () => ({ free: 0, at: undefined }) } as never,
    obstacles: { of: async () => undefined } as never,
    ways: {} as never,
    issuing: {} as never,
    withdrawal: {} as never,
    connected: () => new Set<string>(),
    supersede: async () => undefined,
    revert: async () => undefined,
  });
  await steps.advance(rollout);
  return done;
}

t.test('a stage begins only if the one before has its share in the commit', async (t) => {
  const passing = [count('succeeded', 2), count('failed', 1)];
  t.same(await stepWhile(t, passing, async () => undefined), ['begin']);
  t.same(await stepWhile(t, passing, (unit) => addCount(unit, 'rol_1', count('failed', 1, 'INTERNAL'))), []);
});

t.test('a stage has failed only if it has so in the commit', async (t) => {
  const failing = [count('succeeded', 1), count('failed', 1)];
  t.same(await stepWhile(t, failing, async () => undefined), ['pause']);
  t.same(await stepWhile(t, failing, (unit) => addCount(unit, 'rol_1', count('waiting', 1))), [], 'somebody retries');
});

t.test('nothing is done with a rollout whose history has gone on since it was read', async (t) => {
  const passing = [count('succeeded', 2)];
  const goOn = async (unit: UnitOfWork): Promise<void> => {
    const rollout = await findRollout(unit, 'rol_1', unit.forUpdate);
    // Somebody has paused it and let it go on.
    if (rollout) await updateRollout(unit, { ...rollout, entries: rollout.entries + 2 });
  };
  t.same(await stepWhile(t, passing, goOn), []);
});
