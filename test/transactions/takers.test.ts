import t from 'tap';
import { createDeliveryMarks } from '../../src/core/transactions/delivery-marks.ts';
import type { OnFinished } from '../../src/core/transactions/ends.ts';
import { createSettlement } from '../../src/core/transactions/settlement.ts';
import { findTransaction, insertTransaction } from '../../src/core/transactions/transaction-repository.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createLog } from '../../src/runtime/log.ts';
import { NO_TRACING } from '../../src/runtime/tracing.ts';
import { Watch } from '../../src/runtime/watch.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import { createFakeClock } from '../fake-clock.ts';

const DEVICE = '490154203237518';

onBoth(t, async (t, kind) => {
  await t.test('functions that take the end of a transaction join its commit, in their order', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const clock = createFakeClock();
    const [metrics, watch] = [createMetrics(), new Watch()];
    const marks = createDeliveryMarks({
      database,
      clock,
      log: createLog({ level: 'silent' }),
      watch,
      endsAt: () => undefined,
    });
    const called: string[] = [];
    let refusal: Error | undefined;
    /** Writes to the row of the transaction, so that the commit shows whether the write was part of it. */
    const first: OnFinished = (unit, { transactionId, status }) => {
      called.push(`first ${status}`);
      const text = 'UPDATE transactions SET subject = ? WHERE transaction_id = ?';
      return { written: unit.run(text, 'seen', transactionId), deliveryId: 'msg_of_the_first' };
    };
    const second: OnFinished = (_, { status }) => {
      called.push(`second ${status}`);
      return { written: refusal ? Promise.reject(refusal) : Promise.resolve() };
    };
    const settlement = createSettlement({
      database,
      clock,
      metrics,
      watch,
      tracing: NO_TRACING,
      marks,
      onLate: [],
      onFinished: [first, second],
      cancelled: async () => undefined,
      answered: () => undefined,
      dueAt: () => undefined,
    });
    const make = (): Promise<number> =>
      database.transact((unit) =>
        insertTransaction(
          unit,
          {
            deviceId: DEVICE,
            applicationId: 'app',
            operation: 'setWifi',
            attempts: 1,
            createdAt: clock.now(),
            publishedAt: null,
            subject: 'unseen',
            traceparent: null,
          },
          '{}',
        ),
      );
    const stored = async (transactionId: number) => {
      const { status, subject, deliveryId } = (await findTransaction(database.read, transactionId)) ?? {};
      return { status, subject, deliveryId };
    };

    const [good, bad] = [await make(), await make()];
    await settlement.settle(DEVICE, { transactionId: good, status: 'succeeded' });
    t.same(called, ['first succeeded', 'second succeeded']);
    t.same(await stored(good), { status: 'succeeded', subject: 'seen', deliveryId: 'msg_of_the_first' });

    refusal = new Error('the second cannot join');
    await t.rejects(settlement.settle(DEVICE, { transactionId: bad, status: 'failed' }), refusal);
    t.same(await stored(bad), { status: 'queued', subject: 'unseen', deliveryId: null }, 'nothing was committed');
    refusal = undefined;
    await settlement.settle(DEVICE, { transactionId: bad, status: 'failed' });
    t.match(await stored(bad), { status: 'failed', subject: 'seen' });
  });
});
