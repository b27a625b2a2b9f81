import type { Readable } from 'node:stream';
import { DomainError, isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createFairTurns } from '../../runtime/fair-queue.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { Watch } from '../../runtime/watch.ts';
import { createFeedReader, type FeedReader, type FeedSources, type Wanted } from './feed-reader.ts';

/** The most simultaneous streams of one application. */
export const MOST_STREAMS_OF_APPLICATION = 8;
/** Milliseconds between two flushes. */
export const FLUSH = 250;
const PER_SECOND = 1000 / FLUSH;
/** Flushes between two signs of life, and between two checks whether readers may still read. */
const BEAT = 10 * PER_SECOND;
const CHECK = 5 * PER_SECOND;
/** The most changes that wait for a flush, and the transactions that one flush reads. */
const MOST_CHANGED = 10_000;
const READ_AT_ONCE = 500;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused' | 'feedStreams' | 'feedsEvicted' | 'feedMessagesDropped' | 'feedChangesMissed'>;
  watch: Watch;
  sources: FeedSources;
  /** LAPEL_FEED_STREAMS: simultaneous streams of a listener. */
  mostStreams: number;
}

export type Feed = ReturnType<typeof createFeed>;

/** Removes and returns the keys that have waited for longest. */
function takeFrom<Key>(waiting: Set<Key>, most: number): Key[] {
  const taken = [...waiting.keys().take(most)];
  for (const key of taken) waiting.delete(key);
  return taken;
}

/** The largest group of items with a common property, in their order. */
function largest<Item>(items: readonly Item[], of: (item: Item) => unknown): readonly Item[] {
  const groups = [...Map.groupBy(items, of).values()];
  return groups.reduce((most, group) => (group.length > most.length ? group : most), groups[0] ?? []);
}

/** Makes a function that asks only once for each key. */
function once<Key, Value>(ask: (key: Key) => Value): (key: Key) => Value {
  const answers = new Map<Key, Value>();
  return (key) => {
    if (!answers.has(key)) answers.set(key, ask(key));
    return answers.get(key) as Value;
  };
}

/**
 * The feed of changes: a reader gets a snapshot of its topics, then their changes. Changed rows are remembered by key
 * only, and read from the database when they are sent, four times a second; so any number of changes to one row in
 * between is sent as one change. Changes that this process is not told of (those of other nodes, and ages) are looked
 * up once a second. Nothing is done while there is no reader.
 */
export function createFeed({ clock, log, metrics, watch, sources, mostStreams }: Parts) {
  const readers = new Set<FeedReader>();
  const changed = { transactions: new Set<number>(), devices: new Set<string>() };
  const work = createWork();
  let flushes = 0;
  let flushing = false;
  let stopped = false;
  let cancel: (() => void) | undefined;
  /**
   * Streams of applications begin one after another, so that a stream of administration waits for at most one of them.
   */
  const turn = createFairTurns();
  /** Changes that were dropped before they were sent; a snapshot replaces them. */
  let missed = 0;

  function remember<Key>(waiting: Set<Key>, key: Key): void {
    waiting.add(key);
    if (waiting.size > MOST_CHANGED) missed += takeFrom(waiting, 1).length;
  }

  function announceMissed(): void {
    metrics.feedChangesMissed.inc(missed);
    missed = 0;
    for (const reader of readers) if (reader.wantsTransactions || reader.wantsDevices) reader.missed();
  }

  watch.tell({
    transaction: (transactionId) => remember(changed.transactions, transactionId),
    device: (deviceId) => remember(changed.devices, deviceId),
    message(message) {
      for (const reader of readers) reader.message(message);
    },
  });

  function count(): void {
    const all = [...readers];
    watch.transactions = all.filter((reader) => reader.wantsTransactions).length;
    watch.devices = all.filter((reader) => reader.wantsDevices).length;
    watch.messages = all.filter((reader) => reader.wantsMessages).length;
    for (const listener of ['admin', 'api'] as const) {
      metrics.feedStreams.set({ listener }, all.filter((reader) => reader.wanted.listener === listener).length);
    }
    if (readers.size > 0) return;
    cancel?.();
    cancel = undefined;
    changed.transactions.clear();
    changed.devices.clear();
    missed = 0;
  }

  function remove(reader: FeedReader): void {
    if (readers.delete(reader)) count();
  }

  function refuse(): never {
    metrics.httpRefused.inc({ bound: 'feeds' });
    throw new DomainError('FEEDS_IN_USE');
  }

  /**
   * Makes room for one more stream. At the limit, the oldest stream of the developer with most streams is ended, and
   * among its applications of the one with most. A reader that would then have most streams itself is refused.
   */
  function makeRoom({ listener, applicationId, developerId }: Wanted): void {
    const own = [...readers].filter((reader) => reader.wanted.listener === listener);
    const ofApplication = own.filter((reader) => reader.wanted.applicationId === applicationId);
    if (applicationId !== undefined && ofApplication.length >= MOST_STREAMS_OF_APPLICATION) refuse();
    if (own.length < mostStreams) return;
    const greedy = largest(own, ({ wanted }) => wanted.developerId);
    const ofDeveloper = own.filter(({ wanted }) => wanted.developerId === developerId);
    const [oldest] = largest(greedy, ({ wanted }) => wanted.applicationId);
    // With the new stream its developer must have fewer streams than the other one has left. Otherwise the two would
    // end each other's streams in turn.
    if (!oldest || ofDeveloper.length + 1 >= greedy.length) refuse();
    metrics.feedsEvicted.inc();
    oldest.stream.end('room');
    remove(oldest);
  }

  /** Ends a stream whose reader may no longer read, or does not read. */
  async function check(reader: FeedReader): Promise<void> {
    if (flushes % CHECK === 0 && !(await reader.wanted.isGood())) reader.stream.end('session');
    if (!reader.stream.isStuck()) return;
    metrics.httpRefused.inc({ bound: 'feed_progress' });
    reader.stream.cut();
  }

  async function flush(): Promise<void> {
    const isSecond = flushes % PER_SECOND === 0;
    if (missed > 0 && isSecond) announceMissed();
    const transactionIds = takeFrom(changed.transactions, READ_AT_ONCE);
    const deviceIds = new Set(takeFrom(changed.devices, MOST_CHANGED));
    const transactions = transactionIds.length > 0 ? await sources.transactions(transactionIds) : [];
    const fleet =
      isSecond && [...readers].some(({ wanted }) => wanted.topics.fleet) ? await sources.fleet() : undefined;
    const news = { transactions, deviceIds, fleet, isSecond, firstTransactions: once(sources.firstTransactions) };
    for (const reader of readers) {
      await check(reader);
      if (readers.has(reader)) await reader.flush(news);
      if (flushes % BEAT === 0) reader.beat();
    }
  }

  function tick(): void {
    cancel = readers.size > 0 && !stopped ? clock.after(FLUSH, tick) : undefined;
    if (flushing) return; // a flush that takes longer than the interval must end before the next one
    flushing = true;
    flushes += 1;
    work.begun();
    flush()
      .catch((err: unknown) => {
        for (const reader of readers) reader.missed(); // the changes of this flush are lost, so a snapshot follows
        if (!isDatabaseAway(err)) log.error({ err }, 'the feed could not be read; trying again');
      })
      .finally(() => {
        flushing = false;
        work.ended();
      });
  }

  function begin(reader: FeedReader): Promise<void> {
    const { developerId = '', applicationId } = reader.wanted;
    if (applicationId === undefined) return reader.begin();
    return turn([developerId, applicationId], async () => (readers.has(reader) ? reader.begin() : undefined));
  }

  return {
    /** Opens a stream for a reader. Throws FEEDS_IN_USE, and OVERLOADED when the service is stopping. */
    open(wanted: Wanted): Readable {
      if (stopped) throw new DomainError('OVERLOADED');
      makeRoom(wanted);
      const reader = createFeedReader({
        clock,
        sources,
        wanted,
        onDropped: (dropped) => metrics.feedMessagesDropped.inc(dropped),
      });
      const { body } = reader.stream;
      body.once('close', () => remove(reader));
      body.on('error', () => undefined); // the reader has disconnected
      readers.add(reader);
      count();
      cancel ??= clock.after(FLUSH, tick);
      work.begun();
      begin(reader)
        .catch((err: unknown) => {
          if (!isDatabaseAway(err)) log.error({ err }, 'a stream of the feed could not begin');
          reader.stream.cut();
        })
        .finally(work.ended);
      return body;
    },

    /**
     * Ends the streams of an application, or of all, that may no longer be read, because the secret was replaced, for
     * example.
     */
    recheck(applicationId?: string): void {
      for (const reader of readers) {
        const { wanted, stream } = reader;
        if (wanted.applicationId === undefined) continue;
        if (applicationId !== undefined && wanted.applicationId !== applicationId) continue;
        work.begun();
        wanted
          .isGood()
          .then((isGood) => isGood || stream.end('session'))
          .catch((err: unknown) => log.error({ err }, 'a reader of the feed could not be checked'))
          .finally(work.ended);
      }
    },

    /** Ends the streams of a session. */
    endSession(sessionId: string): void {
      for (const reader of readers) if (reader.wanted.sessionId === sessionId) reader.stream.end('session');
    },

    /** Resolves when nothing is being read for the feed. */
    idle: work.idle,

    /** Ends all streams, which would otherwise delay the end of the listeners. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      cancel?.();
      for (const { stream } of readers) {
        if (stream.isFull()) stream.cut();
        else stream.end('stopping');
      }
      await work.idle();
    },
  };
}
