import t, { type Test } from 'tap';
import type { Rollout } from '../../src/core/rollouts/rollout.ts';
import { createWays } from '../../src/core/rollouts/ways-back.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { storeRollout } from './stored-rollout.ts';

/** The devices of a page. */
const PAGE = 500;

/** A revert of a rollout that gave something to more devices than a page has. `joins` tells whether the revert runs. */
async function reverting(t: Test, joins: () => boolean, more: Partial<Rollout> = {}) {
  const { database, clock } = openTestDatabase(t);
  const all = Array.from({ length: PAGE + 1 }, (_, index) => String(1_000 + index));
  await storeRollout(database, 'rol_1', { deviceIds: all, ...more });
  const revert = await storeRollout(database, 'rol_2', { deviceIds: [], plan: { reverts: 'rol_1' } });
  await database.transact(
    async (unit) => void (await unit.run("UPDATE rollout_members SET state = 'succeeded', transaction_id = 1")),
  );
  const joined: string[] = [];
  const ways = createWays({
    database,
    clock,
    joining: {
      async join(_, deviceIds) {
        const runs = joins();
        if (runs) joined.push(...deviceIds);
        return runs;
      },
    },
  });
  return { all, joined, ways, revert, clock };
}

t.test('a revert that is paused while it gathers its devices gathers the same ones after the resume', async (t) => {
  const answers = [true, false, true];
  const { all, joined, ways, revert } = await reverting(t, () => answers.shift() ?? true);
  t.equal(await ways.gather(revert), 'now');
  t.equal(joined.length, PAGE);
  t.equal(await ways.gather(revert), 'now', 'it was paused');
  t.equal(await ways.gather(revert), undefined);
  t.same(joined, all);
});

t.test('a revert that has ended while it gathered its devices leaves nothing in memory', async (t) => {
  const { all, joined, ways, revert } = await reverting(t, () => true);
  t.equal(await ways.gather(revert), 'now');
  ways.forget(revert.rolloutId);
  t.equal(await ways.gather(revert), 'now');
  t.same(joined, [...all.slice(0, PAGE), ...all.slice(0, PAGE)]);
});

t.test('a revert gathers nothing before the commands of its rollout are cancelled', async (t) => {
  const { joined, ways, revert, clock } = await reverting(t, () => true, { drained: false });
  t.ok(((await ways.gather(revert)) as number) > clock.now());
  t.same(joined, []);
});
