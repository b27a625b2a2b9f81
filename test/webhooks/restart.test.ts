import t from 'tap';
import type { Database } from '../../src/platform/database/sql.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver } from './test-receiver.ts';

/** A database whose writes are rolled back while `broken()` is true; reads succeed. */
const failingWrites =
  (broken: () => boolean) =>
  (database: Database): Database => {
    const failing =
      (transact: Database['transact']): Database['transact'] =>
      (work, options) =>
        transact(async (unit) => {
          const result = await work(unit);
          if (broken()) throw new Error('the disk is full');
          return result;
        }, options);
    return { ...database, transact: failing(database.transact) };
  };

void t.test('a restart sends due deliveries and waits for the others', async (t) => {
  const receiver = await createTestReceiver(t);
  receiver.answer({ status: 500 });
  const { open, clock, addApplication, row } = await createSetUp(t, receiver.url);
  await addApplication('app-2', receiver.url);
  await addApplication('app-3', receiver.url);
  const before = await open();
  const early = await before.record();
  const other = await before.record({ applicationId: 'app-2' });
  await before.webhooks.idle();
  clock.advance(4000);
  const late = await before.record({ applicationId: 'app-3' });
  const behind = await before.record(); // of the same receiver as the early one
  await before.webhooks.idle();
  await before.webhooks[Symbol.asyncDispose]();
  t.equal(clock.timers(), 0, 'nothing is left behind');

  clock.advance(2000);
  receiver.answer({});
  const { webhooks } = await open();
  await webhooks.idle();
  const since = receiver.requests.slice(4).map(({ headers }) => headers['webhook-id']);
  t.strictSame(new Set(since), new Set([early, other]));
  t.equal((await row(late)).status, 'pending');
  t.equal((await row(behind)).status, 'pending');
  clock.advance(3000);
  await webhooks.idle();
  for (const each of [late, behind]) t.match(await row(each), { status: 'delivered', attempts: 2 });
  t.equal(receiver.requests.length, 8);
});

void t.test('deliveries recorded before the start are sent at the start', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, row } = await createSetUp(t, receiver.url);
  const stopped = await open();
  await stopped.webhooks[Symbol.asyncDispose]();
  const deliveryId = await stopped.record();
  t.equal(receiver.requests.length, 0);
  const { webhooks } = await open();
  await webhooks.idle();
  t.equal((await row(deliveryId)).status, 'delivered');
});

void t.test('a crash before the outcome was written repeats the same webhook-id', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, row } = await createSetUp(t, receiver.url);
  const crashing = await open({ through: failingWrites(() => true) });
  const deliveryId = await crashing.record();
  await receiver.next();
  await crashing.webhooks[Symbol.asyncDispose]();
  t.match(await row(deliveryId), { status: 'pending', attempts: 0 });

  const { webhooks } = await open();
  await receiver.next();
  await webhooks.idle();
  t.strictSame(
    receiver.requests.map(({ headers }) => headers['webhook-id']),
    [deliveryId, deliveryId],
  );
  t.strictSame(receiver.requests[0]?.body, receiver.requests[1]?.body);
  t.match(await row(deliveryId), { status: 'delivered', attempts: 1 });
});

void t.test('an outcome that cannot be written is written later, and nothing is sent again', async (t) => {
  const receiver = await createTestReceiver(t);
  let broken = true;
  const { open, row, clock } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open({ through: failingWrites(() => broken) });
  const deliveryId = await record();
  await webhooks.idle();
  t.equal((await row(deliveryId)).status, 'pending');
  clock.advance(1000);
  await webhooks.idle();
  t.equal(
    clock.timers(),
    4,
    'it waits for the next try, to count the attempts, to close the connection and to look slowly; it does not spin',
  );
  broken = false;
  clock.advance(1999);
  await webhooks.idle();
  t.equal((await row(deliveryId)).status, 'pending', 'the pause doubles');
  clock.advance(1);
  await webhooks.idle();
  t.match(await row(deliveryId), { status: 'delivered', attempts: 1 });
  t.equal(receiver.requests.length, 1);
});

void t.test('at a stop attempts in progress end, or are cut off after the bound and stay pending', async (t) => {
  const quick = await createTestReceiver(t);
  const hanging = await createTestReceiver(t);
  hanging.answer({ hang: true });
  const { open, row, clock, addApplication, finished } = await createSetUp(t, hanging.url);
  await addApplication('app-2', quick.url);
  const { webhooks, record } = await open();
  const cut = await record();
  await hanging.next();
  const ended = await record({ applicationId: 'app-2' });
  let stopped = false;
  const stop = webhooks[Symbol.asyncDispose]().then(() => {
    stopped = true;
  });
  await finished(ended);
  clock.advance(2999);
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(stopped);
  clock.advance(1);
  await stop;
  t.match(await row(ended), { status: 'delivered' });
  t.match(await row(cut), { status: 'pending', attempts: 0 });
  t.equal(clock.timers(), 0, 'nothing is left behind');
});

void t.test('a start finds every receiver: each setting of each application', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, addApplication, applications, count } = await createSetUp(t, receiver.url);
  const stopped = await open();
  await stopped.webhooks[Symbol.asyncDispose]();
  for (const applicationId of ['a', 'b', 'c']) {
    await addApplication(applicationId, receiver.url);
    await applications.updateSettings(applicationId, { callEvent: receiver.url, fileUploadEvent: receiver.url });
    for (const setting of ['deviceEvent', 'callEvent', 'fileUploadEvent'] as const)
      for (let index = 0; index < 50; index += 1) await stopped.record({ applicationId, setting });
  }
  const { webhooks } = await open();
  await webhooks.idle();
  t.equal(await count('delivered'), 450);
  t.equal(receiver.requests.length, 450);
});
