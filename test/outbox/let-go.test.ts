import t, { type Test } from 'tap';
import type { Command } from '../../src/core/outbox/connection-state.ts';
import { findDue } from '../../src/core/transactions/due-repository.ts';
import type { UnitOfWork } from '../../src/platform/database/sql.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import type { DatabaseKind } from '../postgres/databases.ts';
import { createTestOutbox, DEVICE } from './stand.ts';

const OF_DEVICE = { device: DEVICE };

/** A device with a command of a rollout that publishes nothing. */
async function start(t: Test, kind: DatabaseKind, parts: Parameters<typeof createTestOutbox>[2] = {}) {
  const database = await openDatabaseOf(kind, t);
  const { outbox, clock, insert } = createTestOutbox(t, database, parts);
  await database.transact(async (unit) => {
    await unit.run(
      `INSERT INTO rollouts (rollout_id, application_id, operation, selector, plan, state, at_work, publishes, drained, stage,
         approved, devices, entries, created_at) VALUES ('r', 'app', 'setWifi', '{}', '{}', 'running', 1, 0, 0, 0, 0, 1, 0, 0)`,
    );
    await insert(unit, 0);
    await unit.run(`UPDATE transactions SET rollout_id = 'r'`);
  });
  const published: number[] = [];
  const publish = ({ transactionId }: Command): void => void published.push(transactionId);
  return {
    database,
    outbox,
    published,
    letGo: (unit: UnitOfWork) => unit.run('UPDATE rollouts SET publishes = 1'),
    async open(): Promise<void> {
      outbox.open({ deviceId: DEVICE, epoch: 1, publish });
      await outbox.idle();
    },
    /** Makes a command, as a call does. */
    async make(unit: UnitOfWork, waits: boolean): Promise<void> {
      const slot = await outbox.reserve(unit, DEVICE, { waits });
      const transactionId = await insert(unit, slot ? 1 : 0);
      const [row] = await findDue(unit, DEVICE, transactionId - 1, 1, clock.now());
      slot?.send(row!);
    },
  };
}

onBoth(t, async (t, kind) => {
  for (const isFirst of [true, false])
    await t.test(
      `a command that was let go ${isFirst ? 'before' : 'after'} a newer one was made comes before it, although nobody was told`,
      async (t) => {
        const { database, outbox, published, open, letGo, make } = await start(t, kind);
        await open();
        t.same(published, [], 'its rollout holds the command back');
        const first = isFirst ? database.transact(letGo, OF_DEVICE) : undefined;
        const made = database.transact(async (unit) => {
          await make(unit, !isFirst);
          if (!isFirst) await letGo(unit);
        }, OF_DEVICE);
        await Promise.all([first, made]);
        await outbox.idle();
        t.same(published, [1, 2]);
      },
    );

  await t.test('a hold of which only this node knows is not asked about again and again', async (t) => {
    const { database, outbox, published, open, letGo, make } = await start(t, kind, {
      window: 1,
      held: { isHeld: (rolloutId) => rolloutId === 'r', waits: () => () => undefined },
      prepare: ({ transactionId }) => (transactionId === 1 ? Promise.resolve({}) : undefined),
    });
    await database.transact(async (unit) => {
      await letGo(unit);
      await make(unit, true);
    }, OF_DEVICE);
    await open();
    await outbox.idle();
    t.same(published, [2]);
    const row = await database.read.get<{ attempts: number }>(
      'SELECT attempts FROM transactions WHERE transaction_id = 1',
    );
    t.same(row, { attempts: 1 });
  });
});
