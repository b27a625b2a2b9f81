import { DomainError } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import type { Outcome } from '../../src/core/webhooks/delivery.ts';
import { insertEvent, saveOutcome } from '../../src/core/webhooks/delivery-repository.ts';
import { createOutcomeWriter } from '../../src/core/webhooks/outcome-writer.ts';
import { createLog } from '../../src/runtime/log.ts';
import { withGivenUp } from '../database/given-up.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import { createFakeClock } from '../fake-clock.ts';

/** The writer stores outcomes, and nothing waits for them. */
const storing = { saveOutcome, behind: () => undefined };

const outcomeOf = (deliveryId: string): Outcome => ({
  applicationId: 'app',
  setting: 'deviceEvent',
  deliveryId,
  sequence: null,
  round: 0,
  status: 'delivered',
  attempts: 1,
  url: null,
  statusCode: 204,
  error: null,
  nextAttemptAt: null,
  sent: null,
  answer: null,
  at: 1,
});

onBoth(t, async (t, kind) => {
  await t.test('outcomes that are written again after a failure are in their order of arrival', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const clock = createFakeClock();
    const log = createLog({ level: 'silent' });
    const seen: string[][] = [];
    const rested = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writer = createOutcomeWriter({
      ...storing,
      database,
      clock,
      log,
      also(_, batch) {
        seen.push(batch.map(({ deliveryId }) => deliveryId));
        return seen.length === 1 ? [Promise.reject(new Error('the first write fails'))] : undefined;
      },
      written: () => undefined,
      rested: () => rested[seen.length - 1]?.resolve(),
    });
    for (const deliveryId of ['c', 'a', 'b']) writer.add(outcomeOf(deliveryId));
    await rested[0]!.promise;
    clock.advance(1_000);
    await rested[1]!.promise;
    t.same(seen, [
      ['c', 'a', 'b'],
      ['c', 'a', 'b'],
    ]);
    await writer.close();
  });

  await t.test('outcomes whose unit commits after the wait for it was given up are told, and not held', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const told: string[] = [];
    const rested = Promise.withResolvers<void>();
    const writer = createOutcomeWriter({
      ...storing,
      database: {
        ...database,
        async transact(work, options) {
          await database.transact(work, options);
          throw new DomainError('DATABASE_UNAVAILABLE');
        },
      },
      clock: createFakeClock(),
      log: createLog({ level: 'silent' }),
      also: () => undefined,
      written: ({ deliveryId }) => told.push(deliveryId),
      rested: rested.resolve,
    });
    writer.add(outcomeOf('a'));
    await rested.promise;
    t.same(told, ['a']);
    await writer.close();
  });

  await t.test('outcomes whose unit is rolled back after the wait was given up are written again', async (t) => {
    const { database, rollBack } = withGivenUp(await openDatabaseOf(kind, t), 'soon');
    const clock = createFakeClock();
    const rested = Promise.withResolvers<void>();
    const told = Promise.withResolvers<string>();
    const writer = createOutcomeWriter({
      ...storing,
      database,
      clock,
      log: createLog({ level: 'silent' }),
      also: () => undefined,
      written: ({ deliveryId }) => told.resolve(deliveryId),
      rested: rested.resolve,
    });
    writer.add(outcomeOf('a'));
    await rested.promise;
    clock.advance(1_000); // nothing waits to be written now
    await rollBack();
    clock.advance(60_000);
    t.equal(await told.promise, 'a');
    await writer.close();
  });

  await t.test('an outcome counts when it was stored, and only then', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const told = new Map<string, boolean>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const writer = createOutcomeWriter({
      ...storing,
      database,
      clock: createFakeClock(),
      log: createLog({ level: 'silent' }),
      also: () => undefined,
      written: ({ deliveryId }, counts) => void told.set(deliveryId, counts),
      rested: resolve,
    });
    const delivery = {
      applicationId: 'app',
      deviceId: 'd',
      transactionId: null,
      setting: 'deviceEvent',
      unsent: false,
    } as const;
    await database.transact(async (unit) => {
      for (const deliveryId of ['b', 'a'])
        insertEvent(
          unit,
          { ...delivery, deliveryId, type: 'test', body: '{}', createdAt: 1, traceparent: null },
          () => undefined,
        );
    });
    for (const outcome of [outcomeOf('b'), outcomeOf('gone'), { ...outcomeOf('a'), round: 1 }]) writer.add(outcome);
    await promise;
    t.same(Object.fromEntries(told), { a: false, b: true, gone: false });
    await writer.close();
  });
});
