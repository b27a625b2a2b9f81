import t from 'tap';
import type { Command } from '../../src/core/outbox/connection-state.ts';
import { createOutbox } from '../../src/core/outbox/outbox.ts';
import * as due from '../../src/core/transactions/due-repository.ts';
import { insertTransaction } from '../../src/core/transactions/transaction-repository.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createLog } from '../../src/runtime/log.ts';
import { NO_TRACING } from '../../src/runtime/tracing.ts';
import { Watch } from '../../src/runtime/watch.ts';
import { withGivenUp } from '../database/given-up.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import { createFakeClock } from '../fake-clock.ts';

const DEVICE = '490154203237518';

onBoth(t, async (t, kind) => {
  await t.test('commands whose claim is rolled back after the wait was given up are claimed again', async (t) => {
    const { database, rollBack } = withGivenUp(await openDatabaseOf(kind, t), 'crowd');
    const clock = createFakeClock();
    const outbox = createOutbox({
      ...due,
      database,
      clock,
      log: createLog({ level: 'silent' }),
      metrics: createMetrics(),
      watch: new Watch(),
      tracing: NO_TRACING,
      prepare: () => undefined,
      held: { isHeld: () => false, waits: () => () => undefined },
      heldBack: () => undefined,
      ownership: {
        look: async () => ({ nodeId: null, epoch: 1, behind: 1 }),
        wake: () => undefined,
        lost: () => undefined,
      },
      storePubacks: async () => undefined,
      delivered: () => undefined,
      cancelDelivered: () => undefined,
    });
    t.teardown(() => outbox[Symbol.asyncDispose]());
    const command = { deviceId: DEVICE, applicationId: 'app', operation: 'setWifi', attempts: 0 } as const;
    await database.transact((unit) =>
      insertTransaction(
        unit,
        { ...command, createdAt: clock.now(), publishedAt: null, subject: null, traceparent: null },
        '{}',
      ),
    );
    const published = Promise.withResolvers<Command>();
    outbox.open({ deviceId: DEVICE, epoch: 1, publish: published.resolve });
    await outbox.idle();
    clock.advance(1_000); // the claim is tried again, and finds that nothing is due
    await rollBack();
    clock.advance(1_000);
    t.match(await published.promise, { operation: 'setWifi', attempt: 1 });
  });
});
