import t, { type Test } from 'tap';
import { addCount } from '../../src/core/rollouts/count-repository.ts';
import { findMember } from '../../src/core/rollouts/member-repository.ts';
import { createPlaces, hasFree } from '../../src/core/rollouts/places.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { storeRollout } from './stored-rollout.ts';

/** A rollout in which one device may be carrying out a command, and does not hold it yet. */
async function full(t: Test, maxUnfinished: number) {
  const { database, clock } = openTestDatabase(t);
  const rollout = await storeRollout(database, 'rol_1', { deviceIds: ['d'], plan: { maxUnfinished } });
  await database.transact(async (unit) => {
    await unit.run(
      `INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts, created_at, updated_at)
       VALUES (1, 'd', 'app', 'installSoftware', 'queued', 1, 0, 0, 0)`,
    );
    await unit.run("UPDATE rollout_members SET state = 'unfinished', transaction_id = 1");
    await addCount(unit, 'rol_1', { stage: 0, state: 'unfinished', code: '', devices: 1 });
  });
  return { database, clock, rollout };
}

t.test('a place is free only while fewer devices than the bound have one', async (t) => {
  for (const [most, isFree] of [
    [1, false],
    [2, true],
  ] as const) {
    const { database, rollout } = await full(t, most);
    t.equal(await database.transact((unit) => hasFree(unit, rollout)), isFree, `${most}`);
  }
});

t.test('a device keeps its place if its command goes out while its absence is found', async (t) => {
  for (const [isPublished, code] of [
    [true, null],
    [false, 'NO_PLACE'],
  ] as const) {
    const { database, clock, rollout } = await full(t, 1);
    const places = createPlaces({
      database,
      clock,
      metrics: { rolloutsFull: { inc: () => undefined } } as never,
      async connected() {
        if (isPublished)
          await database.transact(async (unit) => void (await unit.run('UPDATE transactions SET attempts = 1')));
        return new Set<string>();
      },
      letGo: async () => undefined,
      withdrawIn: async () => 'kept',
      wake: () => undefined,
    });
    await places.serve(rollout);
    t.match(await database.transact((unit) => findMember(unit, 'rol_1', 'd')), { state: 'unfinished', code });
  }
});
