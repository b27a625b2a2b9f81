import t, { type Test } from 'tap';
import { createStream } from '../../src/core/stream/stream.ts';
import { countBehind, type StoredEvent } from '../../src/core/stream/stream-repository.ts';
import { insertEvent } from '../../src/core/webhooks/delivery-repository.ts';
import { listDeliveries } from '../../src/core/webhooks/log/delivery-log-repository.ts';
import { keepRemoved } from '../../src/core/webhooks/log/delivery-sweep-repository.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Database, Sql } from '../../src/platform/database/sql.ts';
import { createLog } from '../../src/runtime/log.ts';
import { openTestDatabase } from '../applications/tenant.ts';

const APPLICATION = 'app';
const OWNER = { applicationId: APPLICATION, developerId: 'dev' };

/** Stores events of these types, in order. */
const store = (database: Database, types: readonly string[]): Promise<void> =>
  database.transact(async (unit) => {
    for (const [at, type] of types.entries()) {
      const event = {
        setting: 'deviceEvent',
        body: '{}',
        unsent: true,
        traceparent: null,
        transactionId: null,
      } as const;
      const of = { applicationId: APPLICATION, deviceId: 'd', createdAt: 1, type };
      insertEvent(unit, { ...event, ...of, deliveryId: `m-${String(at).padStart(6, '0')}` }, () => undefined);
    }
  });

/** A stream over a new database. `before` is called before each query. */
function open(t: Test, before: (text: string) => Promise<void> = async () => undefined) {
  const { database, clock } = openTestDatabase(t);
  const read: Sql = {
    ...database.read,
    all: (text, ...values) => before(text).then(() => database.read.all(text, ...values)),
    get: (text, ...values) => before(text).then(() => database.read.get(text, ...values)),
  };
  const log = createLog({ level: 'silent' });
  const stream = createStream({ database: { ...database, read }, clock, log, metrics: createMetrics() });
  return { database, clock, stream };
}

const sequencesOf = (events: readonly StoredEvent[]): number[] => events.map(({ sequence }) => sequence);

t.test('a page of a filter that hardly any event matches ends after some rows', async (t) => {
  let queries = 0;
  const { database, stream } = open(t, async () => {
    queries += 1;
  });
  const count = 30_000;
  await store(database, [...Array.from({ length: count }, () => 'custom.sos'), 'test']);
  const wish = { types: ['test'], limit: 100 };
  let page = await stream.read(APPLICATION, { ...wish, after: 0 });
  t.match(page, { events: [], more: true });
  t.ok(page.next > 0 && page.next < count, 'the reader asks again behind the rows that were looked at');
  t.ok(queries < 30, `${queries} queries`);
  for (let pages = 0; page.more; pages += 1) {
    t.ok(pages < 20);
    page = await stream.read(APPLICATION, { ...wish, after: page.next });
  }
  t.same(sequencesOf(page.events), [count + 1]);
  const waiting = stream.wait(OWNER, { ...wish, after: 0 }, 1000);
  t.match(await waiting.page, { events: [{ sequence: count + 1 }] }, 'who waits looks at all that is there');
});

t.test('events that are removed while a page is read are not passed over', async (t) => {
  let left = 0;
  let remove = async (): Promise<void> => undefined;
  const { database, stream } = open(t, async (text) => {
    if (left > 0 && text.includes('traceparent FROM') && --left === 0) await remove();
  });
  await store(
    database,
    Array.from({ length: 600 }, () => 'test'),
  );
  remove = () =>
    database.transact(async (unit) => {
      await unit.run('DELETE FROM deliveries WHERE sequence <= 200');
      keepRemoved(unit, APPLICATION, 200);
    });
  left = 1;
  const reading = stream.read(APPLICATION, { after: 5, limit: 10 });
  await t.rejects(reading, { code: 'EVENTS_REMOVED' });

  // From the beginning of the stream nothing can be missed but what is between two events of a page.
  remove = () =>
    database.transact(async (unit) => {
      await unit.run('DELETE FROM deliveries WHERE sequence <= 220 OR (sequence > 350 AND sequence <= 390)');
      keepRemoved(unit, APPLICATION, 390);
    });
  left = 2;
  const { events } = await stream.read(APPLICATION, { after: 0, limit: 1000 });
  const kept = await database.read.all<{ sequence: number }>('SELECT sequence FROM deliveries ORDER BY sequence');
  t.same(
    sequencesOf(events),
    kept.map(({ sequence }) => sequence),
  );
});

t.test('the lag of a consumer is counted in the index, without reading the events', async (t) => {
  const { database } = open(t);
  await store(database, ['test', 'test', 'test']);
  const plans: string[] = [];
  const explained: Sql['get'] = async (text, ...values) => {
    const steps = await database.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values);
    plans.push(steps.map(({ detail }) => detail).join('; '));
    return database.read.get(text, ...values);
  };
  t.same(await countBehind({ ...database.read, get: explained }, APPLICATION, 1, 10), { count: 2, since: 1 });
  t.match(plans[0], /USING COVERING INDEX deliveries_in_order/);
  t.match(plans[1], /USING INDEX deliveries_in_order/);
});

t.test('an event wakes only the readers that want it', async (t) => {
  let queries = 0;
  const { database, clock, stream } = open(t, async () => {
    queries += 1;
  });
  await store(database, ['test']);
  const wishes = [{ types: ['custom.*'] }, { types: ['transaction.failed'] }, { deviceId: 'other' }];
  const readers = wishes.map((wish) => stream.wait(OWNER, { ...wish, after: 0, limit: 9 }, 1000));
  await stream.idle();
  queries = 0;
  stream.appended({ applicationId: APPLICATION, deviceId: 'd', type: 'transaction.succeeded' });
  stream.appended({ applicationId: APPLICATION, deviceId: 'd', type: 'customs' });
  await stream.idle();
  t.equal(queries, 0);
  stream.appended({ applicationId: APPLICATION, deviceId: 'd', type: 'custom.sos' });
  await stream.idle();
  t.not(queries, 0);
  clock.advance(1000);
  await Promise.all(readers.map(({ page }) => page));
});

t.test('a list of deliveries looks at a bounded number of events that are none', async (t) => {
  const { database } = open(t);
  await store(
    database,
    Array.from({ length: 12_000 }, () => 'test'),
  );
  await database.transact(async (unit) => {
    await unit.run("UPDATE deliveries SET status = 'delivered' WHERE sequence = 1");
  });
  const page = await listDeliveries(database.read, APPLICATION, { offset: 0, limit: 5 });
  t.same(page.rows, [], 'the page ends before the only delivery, which is the oldest row');
  t.equal(page.total, null);
  t.ok(page.next, 'and the list goes on');
  const status = await listDeliveries(database.read, APPLICATION, { offset: 0, limit: 5, status: 'delivered' });
  t.same(status, page, 'as with a status');
});
