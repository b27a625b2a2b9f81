import t from 'tap';
import { createFeed } from '../../src/edge/feed/feed.ts';
import type { FeedSources, Wanted } from '../../src/edge/feed/feed-reader.ts';
import { createFeedStream, FEED_BUFFER } from '../../src/edge/feed/feed-stream.ts';
import { readTopics } from '../../src/edge/feed/feed-topics.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Watch } from '../../src/runtime/watch.ts';
import { createFakeClock } from '../fake-clock.ts';

interface Row {
  transactionId: number;
  applicationId: string;
  status: string;
}

/** A feed over rows that the test controls. */
function startFeed({ hasOthers = false } = {}) {
  const clock = createFakeClock();
  const watch = new Watch();
  const metrics = createMetrics();
  const rows = new Map<number, Row>();
  const state = { away: false, reading: 0, most: 0, reads: 0 };
  const find = async (ids: Iterable<number>): Promise<Row[]> => {
    state.reading += 1;
    state.reads += 1;
    state.most = Math.max(state.most, state.reading);
    await new Promise(setImmediate);
    state.reading -= 1;
    if (state.away) throw new Error('the database is away');
    return [...ids].flatMap((id) => structuredClone(rows.get(id)) ?? []);
  };
  const sources: FeedSources = {
    hasOthers,
    fleet: async () => undefined,
    devices: async () => [],
    transactions: find,
    firstTransactions: () => find([]),
    receivers: async () => [],
    rollouts: async () => [],
    audit: async () => ({}),
    software: async () => undefined,
  };
  const feed = createFeed({
    mostStreams: 16,
    clock,
    watch,
    metrics,
    sources,
    log: createLog({ level: 'silent' }),
  });
  const isGood = async (): Promise<boolean> => true;
  return {
    feed,
    clock,
    rows,
    state,
    watch,
    metrics,
    open(topics: string, wanted: Partial<Wanted> = {}) {
      const body = feed.open({ listener: 'admin', topics: readTopics(topics), isGood, ...wanted });
      let text = '';
      body.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      const take = (): string => {
        const taken = text;
        text = '';
        return taken;
      };
      return { body, take };
    },
    async flush(times = 1): Promise<void> {
      for (let time = 0; time < times; time += 1) {
        await feed.idle();
        clock.advance(250);
        await feed.idle();
        await new Promise(setImmediate);
      }
    },
  };
}

t.test('a change that could not be read is sent when it can be', async (t) => {
  const { feed, rows, state, watch, open, flush } = startFeed();
  rows.set(7, { transactionId: 7, applicationId: 'app', status: 'queued' });
  const { take } = open('transactions:7');
  await flush();
  t.match(take(), '"status":"queued"');
  rows.set(7, { transactionId: 7, applicationId: 'app', status: 'succeeded' });
  watch.transaction(7);
  state.away = true;
  await flush();
  t.equal(take(), '');
  state.away = false;
  await flush();
  t.match(take(), /^event: snapshot\n.*"status":"succeeded"/);
  await feed[Symbol.asyncDispose]();
});

t.test('no change is lost, even if there are more than can be remembered', async (t) => {
  const { feed, rows, watch, metrics, open, flush } = startFeed();
  rows.set(1, { transactionId: 1, applicationId: 'app', status: 'queued' });
  const { take } = open('transactions:1');
  await flush(4);
  take();
  rows.set(1, { transactionId: 1, applicationId: 'app', status: 'failed' });
  for (let id = 1; id <= 10_100; id += 1) watch.transaction(id);
  await flush(4);
  t.match(take(), /event: snapshot\n.*"status":"failed"/);
  t.match((await metrics.feedChangesMissed.get()).values, [{ value: 100 }]);
  await feed[Symbol.asyncDispose]();
});

t.test('a stop waits for the read that is in work, so that the database is not closed under it', async (t) => {
  const { feed, clock, state, watch, open, flush } = startFeed();
  open('transactions:1');
  await flush();
  watch.transaction(1);
  clock.advance(250);
  t.equal(state.reading, 1);
  await feed[Symbol.asyncDispose]();
  t.equal(state.reading, 0);
});

t.test('the streams of applications begin one after another', async (t) => {
  const { feed, state, open, flush } = startFeed();
  const readers = Array.from({ length: 6 }, (_, number) =>
    open('transactions', { listener: 'api', applicationId: `app${number}` }),
  );
  readers[3]?.body.destroy();
  await flush();
  t.equal(state.most, 1);
  t.same(
    readers.map(({ take }) => take().startsWith('event: snapshot')),
    [true, true, true, false, true, true],
  );
  await feed[Symbol.asyncDispose]();
});

t.test('changes of other nodes are read once for all readers', async (t) => {
  const { feed, state, open, flush } = startFeed({ hasOthers: true });
  for (let number = 0; number < 6; number += 1) open('transactions');
  await flush(4);
  state.reads = 0;
  await flush(4);
  t.equal(state.reads, 1);
  await feed[Symbol.asyncDispose]();
});

t.test('an ended stream whose reader does not take the end gives its place away', async (t) => {
  const { feed, open, flush } = startFeed();
  const { body } = open('receivers', { isGood: async () => false });
  body.pause();
  await flush(20);
  t.notOk(body.destroyed);
  await flush(61);
  t.ok(body.destroyed);
  await feed[Symbol.asyncDispose]();
});

t.test('a reader that reads nothing has a bounded buffer, and in the end none', async (t) => {
  const clock = createFakeClock();
  const stream = createFeedStream(clock);
  const value = { text: 'x'.repeat(4000) };
  while (!stream.isFull()) stream.change([{ topic: 'device', key: '1', value }]);
  t.ok(stream.body.readableLength < FEED_BUFFER + 5000);
  t.notOk(stream.isStuck());
  clock.advance(14_000);
  t.notOk(stream.isStuck());
  clock.advance(1_000);
  t.ok(stream.isStuck());
  stream.body.resume();
  await new Promise(setImmediate);
  t.notOk(stream.isStuck(), 'one that begins to read again is let');
  t.notOk(stream.isFull());
  stream.cut();
  t.ok(stream.body.destroyed);
});
