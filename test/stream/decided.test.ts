import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '@lapel/device-sim/random';
import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import { Client } from 'pg';
import t from 'tap';
import { findEvents } from '../../src/core/stream/stream-repository.ts';
import { insertEvent } from '../../src/core/webhooks/delivery-repository.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import type { Database } from '../../src/platform/database/sql.ts';
import { createDatabase, NO_POSTGRES } from '../postgres/databases.ts';
import { send, startStream } from './stream-world.ts';

const WRITERS = 16;
const EVENTS_OF_WRITER = 40;
const skip = NO_POSTGRES;

/** Stores an event of an application in a unit of work that takes some time before and after, in seconds. */
const store = (database: Database, deliveryId: string, before: number, after: number): Promise<unknown> =>
  database.transact(async (unit) => {
    await unit.get('SELECT pg_sleep(?)', before);
    const event = { setting: 'deviceEvent', type: 'test', body: '{}', unsent: true, traceparent: null } as const;
    const of = { applicationId: 'app', deviceId: 'd', transactionId: null, createdAt: 1 };
    insertEvent(unit, { ...event, ...of, deviceId: '000000000000000', deliveryId }, () => undefined);
    await unit.get('SELECT pg_sleep(?)', after);
  });

/** Asks again while the database is too late for an answer, as on a busy machine. */
async function insist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await sleep(50);
    }
}

/** The same, again until it is stored: whether a unit of work was committed is unknown when its answer is lost. */
const storeOnce = (database: Database, deliveryId: string, before: number, after: number): Promise<unknown> =>
  insist(async () => {
    const known = await database.read.get('SELECT 1 AS one FROM deliveries WHERE delivery_id = ?', deliveryId);
    return known ?? store(database, deliveryId, before, after);
  });

t.test('no reader passes over an event whose commit ends late', { skip }, async (t) => {
  const url = await createDatabase(t);
  const nodes = [await openPostgres({ url, nowMicros: 0 }), await openPostgres({ url, nowMicros: 0 })];
  t.teardown(() => Promise.all(nodes.map((node) => node.close())));
  const random = createRandom(47);
  let writing = WRITERS;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    try {
      for (let count = 0; count < EVENTS_OF_WRITER; count += 1) {
        const slow = (): number => (random() < 0.1 ? 0.1 : random() * 0.004);
        await storeOnce(nodes[writer % 2] as Database, `m-${writer}-${count}`, slow(), slow());
      }
    } finally {
      writing -= 1;
    }
  });
  const written = Promise.allSettled(writers); // a writer that fails must not end the reader

  const [database] = nodes as [Database];
  const read: string[] = [];
  let after = 0;
  let pages = 0;
  for (let ended = false; !ended; ) {
    ended = writing === 0;
    const upTo = await insist(() => database.decidedEvents());
    const page = { after, upTo, limit: 7 };
    const found = await insist(() => findEvents(database.read, 'app', {}, page));
    read.push(...found.events.map(({ eventId }) => eventId));
    after = found.examined;
    pages += 1;
    if (found.events.length > 0) ended = false;
    else await sleep(1);
  }
  for (const { status } of await written) t.equal(status, 'fulfilled');
  t.ok(pages > 50, 'the reader was at work beside the writers');
  t.equal(new Set(read).size, WRITERS * EVENTS_OF_WRITER);
  t.equal(read.length, WRITERS * EVENTS_OF_WRITER, 'and got none twice');
});

t.test('a number of an open transaction holds up later events until it ends, for two seconds', { skip }, async (t) => {
  const url = await createDatabase(t);
  const database = await openPostgres({ url, nowMicros: 0 });
  t.teardown(() => database.close());
  await store(database, 'first', 0, 0);
  const first = await database.decidedEvents();
  const fresh = await openPostgres({ url, nowMicros: 0 });
  t.teardown(() => fresh.close());
  // A connection of the service would lose its transaction when this process stands still, as on a busy machine.
  const other = new Client({ connectionString: url });
  await other.connect();
  t.teardown(() => other.end());
  await other.query('BEGIN');
  await other.query('SELECT next_event_number()');
  await store(database, 'later', 0, 0);
  const [began, refused] = await Promise.allSettled([database.decidedEvents(), fresh.decidedEvents()]);
  t.match(refused, { reason: { code: 'DATABASE_UNAVAILABLE' } }, 'a node that knows no number yet says so');
  t.match(began, { value: first });
  const { events } = await findEvents(database.read, 'app', {}, { after: first, upTo: first, limit: 9 });
  t.same(events, [], 'the later event is committed, and nobody sees it');
  await other.query('COMMIT');
  const upTo = await database.decidedEvents();
  const page = await findEvents(database.read, 'app', {}, { after: first, upTo, limit: 9 });
  t.match(page.events, [{ eventId: 'later' }]);
});

t.test('a long transaction that records no event holds up no reader', { skip }, async (t) => {
  const url = await createDatabase(t);
  const database = await openPostgres({ url, nowMicros: 0 });
  t.teardown(() => database.close());
  const other = new Client({ connectionString: url });
  await other.connect();
  t.teardown(() => other.end());
  await other.query('BEGIN');
  await other.query('SELECT pg_current_xact_id()'); // as an index that is made, or a change in another database
  await store(database, 'quick', 0, 0);
  const startedAt = performance.now();
  const upTo = await database.decidedEvents();
  t.ok(performance.now() - startedAt < 1_000);
  const { events } = await findEvents(database.read, 'app', {}, { after: 0, upTo, limit: 9 });
  t.match(events, [{ eventId: 'quick' }]);
});

t.test('a reader of one node gets the events that another node has stored', { skip }, async (t) => {
  const { world, tenant, device, page, latest, waiting } = await startStream(t, { nodes: 2 });
  const elsewhere = await tenant.at(1);
  const after = await latest();
  const reading = page(`?after=${after}&wait=60`, elsewhere);
  const ticking = setInterval(() => world.clock.advance(100), 20);
  t.teardown(() => clearInterval(ticking));
  while ((await waiting(1)) === 0) await sleep(5);
  const eventId = await send(device.link);
  t.match((await reading).events, [{ data: { eventId } }]);
  clearInterval(ticking);
});
