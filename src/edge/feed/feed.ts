import type { Readable } from 'node:stream';
import { DomainError, isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createFairTurns } from '../../runtime/fair-queue.ts';
import { createWork } from '../../runtime/idle.ts';
import { largestGroup } from '../../runtime/largest-group.ts';
import type { Log } from '../../runtime/log.ts';
import type { Watch } from '../../runtime/watch.ts';
import { createFeedReader, type FeedReader, type FeedSources, type Wanted } from './feed-reader.ts';

/** The most simultaneous streams of one application. */
export const MOST_STREAMS_OF_APPLICATION = 8;
/** Milliseconds between two flushes. A flush reads the changed rows and sends them to all readers. */
export const FLUSH = 250;
const PER_SECOND = 1000 / FLUSH;
/**
 * Numbers of flushes: a stream gets a sign of life after each BEAT of them, and after each CHECK it is checked whether
 * the token or session of its reader is still valid.
 */
const BEAT = 10 * PER_SECOND;
const CHECK = 5 * PER_SECOND;
/** The most changed rows whose keys are remembered until a flush, and the most transactions that one flush reads. */
const MOST_CHANGED = 10_000;
const READ_AT_ONCE = 500;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused' | 'feedStreams' | 'feedsEvicted' | 'feedMessagesDropped' | 'feedChangesMissed'>;
  watch: Watch;
  sources: FeedSources;
  /** LAPEL_FEED_STREAMS: the most simultaneous streams of one listener. */
  mostStreams: number;
}

export type Feed = ReturnType<typeof createFeed>;

/** Removes and returns at most `most` keys, the ones that were added first. */
function takeFrom<Key>(waiting: Set<Key>, most: number): Key[] {
  const taken = [...waiting.keys().take(most)];
  for (const key of taken) waiting.delete(key);
  return taken;
}

/** Makes a function that calls `ask` only once for each key and remembers the answer. */
function once<Key, Value>(ask: (key: Key) => Value): (key: Key) => Value {
  const answers = new Map<Key, Value>();
  return (key) => {
    if (!answers.has(key)) answers.set(key, ask(key));
    return answers.get(key) as Value;
  };
}

/**
 * The feed: a reader gets a snapshot of its topics, then their changes. Only the keys of changed rows are remembered.
 * The rows are read from the database when they are sent, four times a second, so several changes of one row are sent
 * as one. Changes of other nodes, and values that change with time alone, are looked up once a second. Nothing is done
 * while there is no reader.
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
   * The snapshots of applications are read one after another, so that the snapshot of an operator waits for one of them
   * at most.
   */
  const turn = createFairTurns();
  /** The number of changes that were dropped before they were sent; a snapshot is sent in their place. */
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
   * Makes room for one more stream of a listener. When all streams are in use, the developer with the most streams
   * loses one: the oldest stream of its application with the most. A reader whose own developer would then have the
   * most is refused.
   */
  function makeRoom({ listener, applicationId, developerId }: Wanted): void {
    const own = [...readers].filter((reader) => reader.wanted.listener === listener);
    const ofApplication = own.filter((reader) => reader.wanted.applicationId === applicationId);
    if (applicationId !== undefined && ofApplication.length >= MOST_STREAMS_OF_APPLICATION) refuse();
    if (own.length < mostStreams) return;
    const greedy = largestGroup(own, ({ wanted }) => wanted.developerId);
    const ofDeveloper = own.filter(({ wanted }) => wanted.developerId === developerId);
    const [oldest] = largestGroup(greedy, ({ wanted }) => wanted.applicationId);
    // The reader's developer, with the new stream, must still have fewer streams than the developer who loses one had.
    // Otherwise the two would end each other's streams in turn.
    if (!oldest || ofDeveloper.length + 1 >= greedy.length) refuse();
    metrics.feedsEvicted.inc();
    oldest.stream.end('room');
    remove(oldest);
  }

  /** Ends a stream whose token or session is no longer valid, and cuts one whose reader does not read. */
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
    if (flushing) return; // the last flush still runs, because it took longer than the interval: this one is left out
    flushing = true;
    flushes += 1;
    work.begun();
    flush()
      .catch((err: unknown) => {
        // This flush has lost its changes, so each reader gets a snapshot.
        for (const reader of readers) reader.missed();
        if (!isDatabaseAway(err)) log.error({ err }, 'the feed could not be read; trying again');
      })
      .finally(() => {
        flushing = false;
        work.ended();
      });
  }

  /** Ends the stream of a reader whose token, session or role is no longer good, now instead of at the next check. */
  function recheckOne({ wanted, stream }: FeedReader): void {
    work.begun();
    wanted
      .isGood()
      .then((isGood) => isGood || stream.end('session'))
      .catch((err: unknown) =>
        log.error({ err }, 'the service could not check whether a reader of the feed may still read'),
      )
      .finally(work.ended);
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
     * Ends the streams of an application, or of all applications, whose token is no longer valid, for example because
     * the secret of the application was replaced.
     */
    recheck(applicationId?: string): void {
      for (const reader of readers) {
        const { wanted } = reader;
        if (wanted.applicationId === undefined) continue;
        if (applicationId === undefined || wanted.applicationId === applicationId) recheckOne(reader);
      }
    },

    /** Ends the streams of administration whose caller is no longer good, or has another role than before. */
    recheckAdministrators(): void {
      for (const reader of readers) if (reader.wanted.listener === 'admin') recheckOne(reader);
    },

    /** Resolves when no flush runs and no stream is being opened or checked. */
    idle: work.idle,

    /** Ends all streams. A stream has no end of its own, so the listeners would otherwise not finish. */
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
