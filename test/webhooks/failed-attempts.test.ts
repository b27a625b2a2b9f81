import t from 'tap';
import {
  insertAttempt,
  listAttempts,
  listFailing,
  saveFailing,
} from '../../src/core/webhooks/log/attempt-repository.ts';
import { createDeliveryLog } from '../../src/core/webhooks/log/delivery-log.ts';
import { deliverySweep } from '../../src/core/webhooks/log/delivery-sweep.ts';
import { createReceiverHours, listHours } from '../../src/core/webhooks/log/receiver-hours.ts';
import { ANSWER_BYTES, createStoredAnswers } from '../../src/core/webhooks/log/stored-answers.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver, type TestAnswer } from './test-receiver.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** No rest: the tests have no single calls. */
const throttle = async (): Promise<void> => undefined;

void t.test('failed attempts, and failing receivers, are stored', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, metrics, clock, database } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const log = createDeliveryLog({ database, clock, metrics, webhooks, throttle, findApplication: applications.findIn });
  const attemptsOf = (deliveryId: string) => listAttempts(database.read, { applicationId: 'app-1', deliveryId });
  const failing = () => listFailing(database.read);
  /** Records a delivery, and moves the time until it has its outcome. */
  const send = async (answer: TestAnswer): Promise<string> => {
    receiver.answer(answer);
    const deliveryId = await record();
    await receiver.next();
    await webhooks.idle();
    return deliveryId;
  };

  await t.test('a delivery that succeeds at once has no failed attempts', async (t) => {
    t.same(await attemptsOf(await send({})), []);
    t.same(await failing(), []);
  });

  await t.test('each failed attempt has its status, error, time and the beginning of the answer', async (t) => {
    const long = `${'x'.repeat(4095)}é and much more`;
    const deliveryId = await send({ status: 503, body: long });
    const since = clock.now();
    t.match(await failing(), [{ since, failedAt: since, statusCode: 503, error: 'answered 503' }]);
    receiver.answer({ status: 302, headers: { location: '/other' } });
    clock.advance(6_000);
    await receiver.next();
    await webhooks.idle();
    const failed = await attemptsOf(deliveryId);
    t.match(failed, [
      { attempt: 2, at: since + 6_000_000, statusCode: 302, error: 'answered 302', answer: '' },
      { attempt: 1, at: since, statusCode: 503, error: 'answered 503', answer: 'x'.repeat(4095) },
    ]);
    t.match(await failing(), [{ since, failedAt: since + 6_000_000, statusCode: 302 }], 'it fails since the first');
    receiver.answer({});
    clock.advance(HOUR);
    await receiver.next();
    await webhooks.idle();
    t.same(await attemptsOf(deliveryId), failed, 'the good one adds nothing');
    t.same(await failing(), [], 'a good answer ends it');
  });

  await t.test('an attempt without an answer has none stored', async (t) => {
    await applications.updateSettings('app-1', { deviceEvent: 'http://127.0.0.1:1/' });
    const deliveryId = await record();
    await webhooks.idle();
    t.match(await attemptsOf(deliveryId), [
      { attempt: 1, statusCode: null, error: 'connect ECONNREFUSED', answer: null },
    ]);
    await applications.updateSettings('app-1', { deviceEvent: receiver.url });
  });

  await t.test('the newest twenty are kept, and removed with their delivery', async (t) => {
    const deliveryId = await send({ status: 410, body: 'gone' });
    for (let again = 0; again < 24; again += 1) {
      await log.redeliver('app-1', deliveryId);
      await receiver.next();
      await webhooks.idle();
    }
    const rows = await database.read.all<{ round: number }>(
      'SELECT round FROM delivery_attempts WHERE delivery_id = ? ORDER BY round',
      deliveryId,
    );
    t.same(
      rows.map(({ round }) => round),
      Array.from({ length: 20 }, (_, index) => index + 5),
    );
    clock.advance(40 * DAY);
    const sweep = deliverySweep({ keptDays: 30 });
    const before = clock.now() - sweep.keptForMicros;
    for await (const { found } of sweep.find(database.aside, before))
      for (const one of found) await database.transact((unit) => sweep.remove(unit, one, before));
    t.same(await attemptsOf(deliveryId), []);
    t.same(
      await database.read.all(
        'SELECT 1 FROM delivery_attempts a WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.delivery_id = a.delivery_id)',
      ),
      [],
    );
  });

  await t.test('the stored answers of an application are bounded', async (t) => {
    const metrics = createMetrics();
    const keep = createStoredAnswers({ clock, metrics });
    const [own, others] = (['app-1', 'app-2'] as const).map(
      (applicationId) => () => keep({ applicationId, setting: 'deviceEvent' }, Buffer.alloc(4096, 'x')),
    ) as [() => string | null, () => string | null];
    for (let bytes = 0; bytes < ANSWER_BYTES; bytes += 4096) own();
    t.equal(own(), null);
    t.equal(others()?.length, 4096, 'others have their own room');
    clock.advance(DAY / 1024);
    t.equal(own()?.length, 4096, 'as much again in a day');
    t.equal(own(), null);
    t.match((await metrics.answersDropped.get()).values, [{ value: 2 }]);
  });

  await t.test('after a restart a good answer still ends the failing state', async (t) => {
    receiver.answer({ status: 500 });
    await record();
    await receiver.next();
    await webhooks.idle();
    t.match(await failing(), [{ statusCode: 500 }]);
    await webhooks[Symbol.asyncDispose]();
    receiver.answer({});
    const later = await open();
    await later.record();
    await later.webhooks.idle();
    t.same(await failing(), []);
  });
});

void t.test('nothing is stored about an attempt whose application was removed during it', async (t) => {
  const { clock, database, ids } = await createSetUp(t, null);
  const gone = { applicationId: 'gone', deliveryId: 'msg' };
  const attempt = { attempt: 1, at: 1, statusCode: 500, error: 'answered 500', duration: 1, answer: null, sent: null };
  const failing = { ...gone, setting: 'deviceEvent', since: 1, failedAt: 1, statusCode: 500, error: 'x' } as const;
  const hours = createReceiverHours({ database, clock, ids, log: createLog({ level: 'silent' }) });
  for (const applicationId of ['gone', 'app-1']) hours.count({ applicationId, setting: 'deviceEvent' }, false);
  await database.transact(async (unit) => {
    await insertAttempt(unit, { ...gone, round: 0 }, attempt);
    await saveFailing(unit, failing);
  });
  await hours.close();
  t.same(await listAttempts(database.read, gone), []);
  t.same(await listFailing(database.read), []);
  const counted = (await listHours(database.read, 0)).map(({ applicationId, failed }) => [applicationId, failed]);
  t.same(counted, [['app-1', 1]], 'the others are counted');
});
