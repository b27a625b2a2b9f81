import t from 'tap';
import { createReceiver, failed, inWindow, late, succeeded } from '../../src/core/webhooks/receiver.ts';
import { until } from '../until.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver } from './test-receiver.ts';

void t.test('a hanging receiver with 10,000 deliveries delays no other', async (t) => {
  const hanging = await createTestReceiver(t);
  const quick = await createTestReceiver(t);
  hanging.answer({ hang: true });
  const { open, clock, count, database, addApplication, finished } = await createSetUp(t, hanging.url);
  await addApplication('app-2', quick.url);
  const { webhooks, record } = await open();
  const event = { applicationId: 'app-1', deviceId: '1', setting: 'deviceEvent', type: 'x', data: {} } as const;
  await database.transact(async (unit) => {
    for (let index = 0; index < 10_000; index += 1) webhooks.record(unit, { ...event, occurredAt: clock.now() });
  });
  const expected = new Set<string>();
  for (let index = 0; index < 100; index += 1) expected.add(await record({ applicationId: 'app-2' }));
  const got = new Set<unknown>();
  while (got.size < 100) got.add((await quick.next()).headers['webhook-id']);
  t.strictSame(got, expected, 'all while no time passed and nothing of the other was answered');
  t.equal(hanging.requests.length, 4, 'a receiver starts with few attempts at once');
  t.equal(hanging.open(), 4);

  clock.advance(15_000);
  for (let index = 0; index < 5; index += 1) await hanging.next();
  await finished(await record({ applicationId: 'app-2' }));
  t.equal(hanging.requests.length, 5, 'after failures it gets one at a time');

  hanging.answer({});
  clock.advance(15_000);
  await webhooks.idle();
  t.equal(await count('pending'), 1, 'when it answers again everything due goes out; what hung last waits its turn');
  clock.advance(5000);
  await webhooks.idle();
  t.equal(await count('delivered'), 10_101);
  const ids = hanging.requests.map(({ headers }) => headers['webhook-id']);
  t.equal(ids.length, 10_005);
  t.equal(new Set(ids).size, 10_000, 'none lost; only what hung was sent twice');
});

void t.test('a thousand hanging receivers do not delay one that answers', async (t) => {
  const hanging = await createTestReceiver(t);
  const quick = await createTestReceiver(t);
  hanging.answer({ hang: true });
  const { open, clock, addApplication, finished } = await createSetUp(t, quick.url);
  const { webhooks, record } = await open();
  await finished(await record()); // it has answered
  const names = Array.from({ length: 1000 }, (_, index) => `hanging-${index}`);
  await Promise.all(names.map((name) => addApplication(name, hanging.url)));
  await Promise.all(names.map((applicationId) => record({ applicationId })));
  await finished(await record());
  for (let index = 0; index < 128; index += 1) await hanging.next();
  t.equal(hanging.requests.length, 128, 'what has not answered yet has places of its own');
  for (const late of [256, 384, 512, 640]) {
    clock.advance(1000);
    for (let index = 0; index < 128; index += 1) await hanging.next();
    await finished(await record());
    t.equal(hanging.requests.length, late, 'after a second it goes on among the late ones');
  }
  clock.advance(1000);
  await finished(await record());
  t.equal(hanging.open(), 640, 'and of those there are so many');
  clock.advance(10_000); // the first attempts have timed out
  await finished(await record());
  await hanging.next();
  clock.advance(20_000);
  await finished(await record());
  t.equal(quick.requests.length, 9);
  hanging.answer({});
  for (let round = 0; round < 60; round += 1) {
    clock.advance(5_000);
    await finished(await record());
  }
  await webhooks.idle();
  const reached = new Set(hanging.requests.map(({ headers }) => headers['webhook-id']));
  t.equal(reached.size, 1000, 'none of them is forgotten');
});

void t.test('receivers that begin to hang, one after another, leave slots for all others', async (t) => {
  const hanging = await createTestReceiver(t);
  const quick = await createTestReceiver(t);
  const { open, clock, addApplication, finished, metrics } = await createSetUp(t, quick.url);
  const { webhooks, record } = await open();
  await finished(await record());
  const names = Array.from({ length: 24 }, (_, index) => `busy-${index}`);
  await Promise.all(names.map((name) => addApplication(name, hanging.url)));
  const recordMany = (those: string[], count: number) =>
    Promise.all(those.flatMap((applicationId) => Array.from({ length: count }, () => record({ applicationId }))));
  for (const name of names) {
    await recordMany([name], 128);
    await webhooks.idle(); // it answers, and its window grows
  }
  const before = hanging.requests.length;
  hanging.answer({ hang: true });
  const groups = [
    { those: names.slice(0, 16), least: 300 },
    { those: names.slice(16), least: 150 },
  ];
  for (const { those, least } of groups) {
    const open = hanging.open();
    await recordMany(those, 64); // without a bound, each would take a slot for all of these
    await until(() => hanging.open() >= open + least);
    const others = await Promise.all(Array.from({ length: 100 }, () => record()));
    for (const other of others) await finished(other); // no time has passed
    clock.advance(1000);
    await finished(await record());
  }
  t.ok(hanging.requests.length < before + 600, 'one that stopped answering is not asked again meanwhile');
  await until(() => hanging.open() === 512);
  t.match(await metrics.registry.metrics(), /lapel_webhook_attempts_cut_total [1-9]/, 'those that hold most give way');
});

void t.test('the window of a fast receiver grows, is halved by a late answer, and falls to 1 by many', async (t) => {
  const receiver = createReceiver({ applicationId: 'app', setting: 'deviceEvent' });
  const second = 1_000_000;
  t.match(receiver, { window: 4, kind: 'trial' });
  for (let index = 0; index < 1000; index += 1) succeeded(receiver, true, receiver.window);
  t.match(receiver, { window: 256, kind: 'quick' });
  late(receiver, second);
  late(receiver, second + 1);
  t.match(receiver, { window: 128, kind: 'quick' }, 'once a second');
  failed(receiver, true, 2 * second);
  t.match(receiver, { window: 64, kind: 'quick' });
  receiver.inFlight = 100;
  t.equal(inWindow(receiver, 40), 60, 'late attempts leave the window');
  t.equal(inWindow(receiver, 90), 36, 'up to a bound');
  for (let index = 0; index < 16; index += 1) late(receiver, 3 * second);
  t.match(receiver, { window: 1, kind: 'trial' });
  t.equal(inWindow(receiver, 90), 100, 'but not while most hang');
  for (let index = 0; index < 1000; index += 1) {
    succeeded(receiver, false, receiver.window);
    late(receiver, index * second);
  }
  t.match(
    receiver,
    { window: 32, kind: 'trial' },
    'one that answers, but late each time, is not taken for one that hangs',
  );
  for (let index = 0; index < 1000; index += 1) succeeded(receiver, true, 1);
  t.match(receiver, { window: 32, kind: 'quick' }, 'it grows only where it is used');
  for (let index = 0; index < 32; index += 1) failed(receiver, true, second);
  t.match(receiver, { window: 1, kind: 'trial' });
});

for (const errors of [0, 5]) {
  t.test(
    `a tenth of requests that hang, and ${errors} tenths that fail, hold up no other of their receiver`,
    async (t) => {
      const receiver = await createTestReceiver(t);
      const first = new Set<unknown>();
      receiver.answer(({ headers }) => {
        const id = headers['webhook-id'];
        const number = first.size % 10;
        if (first.has(id)) return {}; // what has failed before
        first.add(id);
        if (number === 3) return { hang: true };
        return number > 9 - errors ? { status: 500 } : {};
      });
      const { open, clock, count } = await createSetUp(t, receiver.url);
      const { record } = await open();
      const began = clock.now();
      await Promise.all(Array.from({ length: 400 }, () => record()));
      let [seen, rests] = [0, 0];
      await until(async () => {
        if (first.size === 400) return true;
        // Time passes only while hanging requests alone are in progress, and the service, which may be slow, sends nothing.
        const isAtRest = receiver.requests.every((request) => request.answered() || isHung(request));
        rests = isAtRest && receiver.requests.length === seen ? rests + 1 : 0;
        seen = receiver.requests.length;
        if (rests >= 8) {
          rests = 0;
          clock.advance(50);
        }
        return false;
      });
      function isHung(request: (typeof receiver.requests)[number]): boolean {
        return [...first].indexOf(request.headers['webhook-id']) % 10 === 3;
      }
      const took = (clock.now() - began) / 1_000_000;
      t.ok(took < 10, `all are attempted within ${took} s, before the time of one that hangs is over`);
      t.ok((await count('pending')) >= 40 * (1 + errors) - 40);
    },
  );
}

t.test('requests to a receiver that begins to hang have their whole time, however many wait already', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, clock, count, metrics } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const recordMany = (count: number) => Promise.all(Array.from({ length: count }, () => record()));
  await recordMany(200);
  await webhooks.idle(); // it answers, and its window grows
  for (let second = 1; second <= 7; second += 1) {
    const before = receiver.requests.length;
    receiver.answer({ hang: true });
    await recordMany(8);
    await until(() => receiver.requests.length === before + 8);
    receiver.answer({});
    await recordMany(60);
    await until(async () => (await count('delivered')) === 200 + second * 60);
    clock.advance(1_000);
  }
  receiver.answer({ hang: true });
  await recordMany(100);
  await until(() => receiver.open() > 64);
  clock.advance(1_000);
  t.equal((await metrics.deliveryAttemptsCut.get()).values[0]?.value, 0, 'none is ended for another one');
});

void t.test('a burst is sent completely, each once, although memory holds only a part of it', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, count, metrics } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const ids = await Promise.all(Array.from({ length: 3000 }, () => record()));
  await webhooks.idle();
  t.equal(await count('delivered'), 3000);
  t.equal(receiver.requests.length, 3000);
  t.strictSame(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])), new Set(ids));
  t.match(await metrics.registry.metrics(), /lapel_webhook_held_total [1-9]/);
});
