import t from 'tap';
import type { Command } from '../../src/core/outbox/connection-state.ts';
import { withGivenUp } from '../database/given-up.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import { createTestOutbox, DEVICE } from './stand.ts';

onBoth(t, async (t, kind) => {
  await t.test('commands whose claim is rolled back after the wait was given up are claimed again', async (t) => {
    const { database, rollBack } = withGivenUp(await openDatabaseOf(kind, t), 'crowd');
    const { outbox, clock, insert } = createTestOutbox(t, database, { behind: 1 });
    await database.transact((unit) => insert(unit, 0));
    const published = Promise.withResolvers<Command>();
    outbox.open({ deviceId: DEVICE, epoch: 1, publish: published.resolve });
    await outbox.idle();
    clock.advance(1_000); // the claim is tried again, and finds that nothing is due
    await rollBack();
    clock.advance(1_000);
    t.match(await published.promise, { operation: 'setWifi', attempt: 1 });
  });
});
