import t from 'tap';
import { insertEvent, saveOutcome } from '../../src/core/webhooks/delivery-repository.ts';
import { createDeliveryLog } from '../../src/core/webhooks/log/delivery-log.ts';
import { makeRangeDue } from '../../src/core/webhooks/log/delivery-log-repository.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver } from './test-receiver.ts';

/** No rest: the tests have no single calls. */
const throttle = async (): Promise<void> => undefined;

void t.test('a redelivery requested while an outcome is written is carried out', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, metrics, clock, row } = await createSetUp(t, receiver.url);
  let redelivery: Promise<void> | undefined;
  const { webhooks, record } = await open({
    through: (database) => ({
      ...database,
      transact(work, options) {
        const writing = database.transact(work, options);
        if (options?.pace !== 'soon') return writing;
        redelivery ??= createLog(database).redeliver('app-1', deliveryId); // joins the commit of the outcome
        return writing;
      },
    }),
  });
  const createLog = (database: Parameters<typeof createDeliveryLog>[0]['database']) =>
    createDeliveryLog({ database, clock, metrics, webhooks, throttle, findApplication: applications.findIn });
  const deliveryId = await record();
  await receiver.next();
  await webhooks.idle();
  await redelivery;
  await webhooks.idle();
  t.match(await row(deliveryId), { status: 'delivered', attempts: 1 });
  t.equal(receiver.requests.length, 2);
});

void t.test('a range ends, however many are made and delivered meanwhile', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, metrics, clock, database } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  await Promise.all(Array.from({ length: 500 }, () => record()));
  await webhooks.idle();
  let units = 0;
  const busy: typeof database = {
    ...database,
    async transact(work, options) {
      const done = await database.transact(work, options);
      units += 1;
      if (units > 3) return done;
      clock.advance(1);
      await Promise.all(Array.from({ length: 500 }, () => record()));
      await webhooks.idle();
      return done;
    },
  };
  const log = createDeliveryLog({
    database: busy,
    clock,
    metrics,
    webhooks,
    throttle,
    findApplication: applications.findIn,
  });
  const range = { status: 'delivered', since: 0, until: Number.MAX_SAFE_INTEGER } as const;
  t.equal(await log.countRange('app-1', range), 500, 'counted before');
  t.equal(await log.redeliverRange('app-1', range), 500);
  await webhooks.idle();
  t.equal(receiver.requests.length, 500 + 500 + 3 * 500, 'what came meanwhile was sent once');
});

void t.test('a range goes out at a pace, also over several calls, and one call at a time', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, addApplication, metrics, clock, database } = await createSetUp(t, receiver.url);
  await addApplication('app-2', null);
  const { webhooks, record } = await open();
  await Promise.all(Array.from({ length: 1_200 }, () => record()));
  await webhooks.idle();
  const log = createDeliveryLog({ database, clock, metrics, webhooks, throttle, findApplication: applications.findIn });
  const range = { status: 'delivered', since: 0, until: Number.MAX_SAFE_INTEGER } as const;
  const sent = (): number => receiver.requests.length - 1_200;

  const first = log.redeliverRange('app-1', range);
  await t.rejects(log.redeliverRange('app-1', range), { code: 'REDELIVERY_RUNNING' });
  t.equal(await log.redeliverRange('app-2', range), 0, 'another application may');
  t.equal(await first, 1_200);
  await webhooks.idle();
  t.ok(sent() >= 1_000 && sent() <= 1_050, `${sent()} at once`);
  const before = sent();
  await record();
  await webhooks.idle();
  t.equal(sent(), before + 1, 'a new one of the same receiver does not wait');
  clock.advance(1_000);
  await webhooks.idle();
  t.equal(sent(), 1_201, 'the rest within a second');

  t.ok((await log.redeliverRange('app-1', range)) >= 1_200, 'after its end the next one may');
  await webhooks.idle();
  t.ok(sent() <= 1_201 + 250, `${sent() - 1_201} more at once: the pace goes on`);
});

void t.test('a node that dies in the middle of a range blocks the application for half a minute only', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, metrics, clock, database } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  await Promise.all(Array.from({ length: 120 }, () => record()));
  await webhooks.idle();
  const parts = { clock, metrics, webhooks, throttle, findApplication: applications.findIn };
  let units = 0;
  const stuck = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const dying = createDeliveryLog({
    ...parts,
    database: {
      ...database,
      async transact(work, options) {
        units += 1;
        if (units === 3) {
          stuck.resolve();
          await goesOn.promise;
        }
        return database.transact(work, options);
      },
    },
  });
  const other = createDeliveryLog({ ...parts, database });
  const range = { status: 'delivered', since: 0, until: Number.MAX_SAFE_INTEGER } as const;
  const first = dying.redeliverRange('app-1', range);
  await stuck.promise; // after its first page
  await t.rejects(other.redeliverRange('app-1', range), { code: 'REDELIVERY_RUNNING' });
  clock.advance(29_999);
  await t.rejects(other.redeliverRange('app-1', range), { code: 'REDELIVERY_RUNNING' }, 'it may still be at work');
  clock.advance(1);
  const second = other.redeliverRange('app-1', range);
  goesOn.resolve();
  await t.rejects(first, { code: 'REDELIVERY_RUNNING' }, 'a node that was only slow ends its range');
  t.ok((await second) >= 70);
  await webhooks.idle();
  t.ok(await other.redeliverRange('app-1', range), 'and the end of one does not end the turn of another');
});

void t.test('a turn that a wrong clock has stored blocks no range, and delays no webhook', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, metrics, clock, database } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const log = createDeliveryLog({ database, clock, metrics, webhooks, throttle, findApplication: applications.findIn });
  await record();
  await webhooks.idle();
  const range = { status: 'delivered', since: 0, until: Number.MAX_SAFE_INTEGER } as const;
  t.equal(await log.redeliverRange('app-1', range), 1);
  await webhooks.idle();
  const late = clock.now() + 40 * 24 * 3_600_000_000;
  await database.transact((unit) => unit.run('UPDATE redeliveries SET held_until = ?, paced_until = ?', late, late));
  t.equal(await log.redeliverRange('app-1', range), 1);
  await webhooks.idle();
  t.equal(receiver.requests.length, 3);
});

void t.test('a range that is asked for again puts off nothing that is due before', async (t) => {
  const { database } = await createSetUp(t, null);
  const delivery = {
    applicationId: 'app-1',
    deviceId: 'd',
    transactionId: null,
    setting: 'deviceEvent',
    unsent: false,
  } as const;
  await database.transact(async (unit) =>
    insertEvent(
      unit,
      { ...delivery, deliveryId: 'm', type: 'test', body: '{}', createdAt: 1, traceparent: null },
      () => undefined,
    ),
  );
  const dueAt = async () =>
    (await database.read.get<{ at: number }>(`SELECT next_attempt_at AS at FROM deliveries WHERE delivery_id = 'm'`))
      ?.at;
  const ask = (status: 'exhausted' | 'pending', at: number) =>
    database.transact((unit) =>
      makeRangeDue(
        unit,
        'app-1',
        { status, since: 0, until: 9 },
        { after: '', before: 'z' },
        { now: at, dueAt: at },
        8,
      ),
    );
  await database.transact((unit) => unit.run(`UPDATE deliveries SET status = 'exhausted'`));
  t.same((await ask('exhausted', 100)).made, ['deviceEvent']);
  t.same((await ask('pending', 200)).made, []);
  t.equal(await dueAt(), 100);
  t.same((await ask('pending', 50)).made, ['deviceEvent'], 'but it may come earlier');
  t.equal(await dueAt(), 50);
});

void t.test('a redelivery requested during the last attempt starts the schedule again', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, metrics, clock, database, row } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const log = createDeliveryLog({ database, clock, metrics, webhooks, throttle, findApplication: applications.findIn });
  receiver.answer({ status: 500 });
  const deliveryId = await record();
  for (let attempt = 1; attempt < 10; attempt += 1) {
    await receiver.next();
    await webhooks.idle();
    if (attempt === 9) receiver.answer({ hang: true });
    clock.advance(30 * 3_600_000);
  }
  await receiver.next();
  await log.redeliver('app-1', deliveryId);
  receiver.answer({ status: 500 });
  clock.advance(15_000); // the last attempt of the former round fails, and no longer counts
  await receiver.next();
  await webhooks.idle();
  t.match(await row(deliveryId), { status: 'pending', attempts: 1, error: 'answered 500' });
  receiver.answer({ status: 200 });
  clock.advance(7_000);
  await receiver.next();
  await webhooks.idle();
  t.match(await row(deliveryId), { status: 'delivered', attempts: 2 });
  t.equal(receiver.requests.length, 12);
});

void t.test(
  'a redelivery requested while an attempt hangs is sent at once, and only its own outcome counts',
  async (t) => {
    const receiver = await createTestReceiver(t);
    const { open, applications, metrics, clock, database, row, finished } = await createSetUp(t, receiver.url);
    const { webhooks, record } = await open();
    const log = createDeliveryLog({
      database,
      clock,
      metrics,
      webhooks,
      throttle,
      findApplication: applications.findIn,
    });
    receiver.answer({ hang: true });
    const deliveryId = await record();
    await receiver.next();
    receiver.answer({ status: 200 });
    await log.redeliver('app-1', deliveryId);
    await receiver.next();
    await finished(deliveryId);
    clock.advance(15_000);
    await webhooks.idle();
    t.match(await row(deliveryId), { status: 'delivered', attempts: 1, statusCode: 200, error: null });
    t.equal(receiver.requests.length, 2);
  },
);

void t.test('a redelivery requested while the delivery is queued is sent once', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, metrics, clock, database, row } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const log = createDeliveryLog({ database, clock, metrics, webhooks, throttle, findApplication: applications.findIn });
  receiver.answer({ hang: true });
  for (let index = 0; index < 4; index += 1) await record();
  for (let index = 0; index < 4; index += 1) await receiver.next(); // its first window is full
  const deliveryId = await record();
  await log.redeliver('app-1', deliveryId);
  receiver.answer({ status: 200 });
  clock.advance(15_000);
  await webhooks.idle();
  t.match(await row(deliveryId), { status: 'delivered', attempts: 1 });
  clock.advance(7_000);
  await webhooks.idle();
  const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
  t.equal(ids.filter((id) => id === deliveryId).length, 1);
  t.equal(ids.length, 9);
});

void t.test('an attempt is recorded only once, by any node', async (t) => {
  const database = openSqlite({ folder: t.testdir(), nowMicros: 0 });
  t.teardown(() => database.close());
  const delivery = { applicationId: 'app', deliveryId: 'msg', setting: 'deviceEvent', type: 'test' } as const;
  const made = {
    ...delivery,
    body: '{}',
    deviceId: 'd',
    transactionId: null,
    unsent: false,
    createdAt: 0,
    traceparent: null,
  };
  const failed = {
    ...delivery,
    round: 0,
    sequence: null,
    url: null,
    sent: null,
    answer: null,
    statusCode: 500,
    error: 'answered 500',
    at: 1,
  };
  const save = (outcome: { status: 'pending' | 'delivered'; attempts: number; nextAttemptAt: number | null }) =>
    new Promise((resolve, reject) => {
      database.transact(async (unit) => saveOutcome(unit, { ...failed, ...outcome }, resolve)).catch(reject);
    });
  await database.transact(async (unit) => insertEvent(unit, made, () => undefined));
  t.equal(await save({ status: 'pending', attempts: 1, nextAttemptAt: 5 }), true);
  t.equal(await save({ status: 'pending', attempts: 1, nextAttemptAt: 7 }), false, 'two nodes made the first attempt');
  t.equal(await save({ status: 'delivered', attempts: 2, nextAttemptAt: null }), true);
  t.equal(await save({ status: 'pending', attempts: 3, nextAttemptAt: 9 }), false, 'what was delivered is');
});
