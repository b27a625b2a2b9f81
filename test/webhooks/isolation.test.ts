import t from 'tap';
import { createSetUp } from './set-up.ts';
import { createTestReceiver } from './test-receiver.ts';

void t.test('a receiver that hangs with 10,000 deliveries behind it delays no other', async (t) => {
  const hanging = await createTestReceiver(t);
  const quick = await createTestReceiver(t);
  hanging.answer({ hang: true });
  const { open, clock, count, database, addApplication, finished } = await createSetUp(t, hanging.url);
  await addApplication('app-2', quick.url);
  const { webhooks, record } = await open();
  const event = { applicationId: 'app-1', deviceId: '1', setting: 'deviceEvent', type: 'x', data: {} } as const;
  await database.transact(async (unit) => {
    for (let index = 0; index < 10_000; index += 1) await webhooks.record(unit, { ...event, occurredAt: clock.now() });
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

void t.test('so many receivers hang that all slots of failing ones are taken, and a healthy one goes on', async (t) => {
  const hanging = await createTestReceiver(t);
  const quick = await createTestReceiver(t);
  hanging.answer({ hang: true });
  const { open, clock, addApplication, finished } = await createSetUp(t, quick.url);
  const { webhooks, record } = await open();
  const names = Array.from({ length: 300 }, (_, index) => `hanging-${index}`);
  await Promise.all(names.map((name) => addApplication(name, hanging.url)));
  await Promise.all(names.map((applicationId) => record({ applicationId })));
  for (const _ of names) await hanging.next();
  clock.advance(15_000); // all fail; each has one attempt at a time from here on
  await webhooks.idle();
  clock.advance(10_000); // their first retry is due
  for (let index = 0; index < 128; index += 1) await hanging.next();
  await finished(await record());
  await finished(await record());
  t.equal(hanging.requests.length, 300 + 128);
  t.equal(quick.requests.length, 2);
});

void t.test('a burst goes out whole, each once, though memory holds only a part of it', async (t) => {
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
