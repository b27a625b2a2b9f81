import type { Clock } from '../../runtime/clock.ts';
import type { SeenMessage } from '../../runtime/watch.ts';
import { createFeedStream, type FeedItem } from './feed-stream.ts';
import type { FeedTopics } from './feed-topics.ts';
import { createLiveMessages, type WaitingMessage } from './live-messages.ts';

interface DeviceValue {
  deviceId: string;
  applicationId: string | null;
}
interface TransactionValue {
  transactionId: number;
  applicationId: string;
}

/** Reads the rows that the feed shows, in the form of the lists of the interface. */
export interface FeedSources {
  /** True when other processes change the same rows without telling this one. */
  readonly hasOthers: boolean;
  fleet(): Promise<object | undefined>;
  devices(deviceIds: readonly string[]): Promise<DeviceValue[]>;
  transactions(transactionIds: readonly number[]): Promise<TransactionValue[]>;
  /** The first rows of the lists of transactions: the newest ones, and the oldest unfinished ones. */
  firstTransactions(applicationId: string | undefined): Promise<TransactionValue[]>;
  receivers(applicationId: string | undefined): Promise<{ key: string; value: object }[]>;
  /** The installation counts of a version, `PACKAGE@VERSION`; undefined when it is unknown. */
  software(name: string, applicationId: string | undefined): Promise<object | undefined>;
}

/** The request of a reader: the topics that it wants, and its rights. */
export interface Wanted {
  listener: 'admin' | 'api';
  topics: FeedTopics;
  /** The application that it is restricted to; undefined sees all applications. */
  applicationId?: string;
  /** The developer of the application that the reader is restricted to. */
  developerId?: string;
  sessionId?: string;
  /** Whether the reader may still read. */
  isGood(): Promise<boolean>;
}

/** The changes since the last flush. */
interface News {
  transactions: readonly TransactionValue[];
  /** The devices that have changed. */
  deviceIds: ReadonlySet<string>;
  fleet: object | undefined;
  /** True once a second, when changes are looked up that this process is not told of. */
  isSecond: boolean;
  /** Finds the first rows of the lists of transactions; asked once for all readers. */
  firstTransactions: FeedSources['firstTransactions'];
}

interface Parts {
  clock: Clock;
  sources: FeedSources;
  wanted: Wanted;
  /** Called with the number of messages that were left out. */
  onDropped(count: number): void;
}

export type FeedReader = ReturnType<typeof createFeedReader>;

/** One reader of the feed: the topics that it follows, and the values that it was sent. */
export function createFeedReader({ clock, sources, wanted, onDropped }: Parts) {
  const { topics, applicationId } = wanted;
  const stream = createFeedStream(clock);
  const messages = createLiveMessages(clock);
  /** The values that the reader was sent last: an unchanged value is not sent again. */
  const told = new Map<string, string>();
  /** Of the devices whose messages are followed, those that belonged to the application at the last lookup. */
  let owned = new Set<string>();
  /** The transactions as they were at the last lookup. */
  let lookedAt = new Map<string, string>();
  let live = false;
  /** True when changes were not sent, because the reader made no room, for example. A snapshot replaces them. */
  let behind = false;

  const isOwn = (row: { applicationId: string | null }): boolean =>
    applicationId === undefined || row.applicationId === applicationId;

  /** Selects the items that differ from the ones sent last. */
  const news = (items: readonly FeedItem[]): FeedItem[] =>
    items.filter(({ topic, key, value }) => {
      const name = `${topic} ${key}`;
      const text = JSON.stringify(value);
      if (told.get(name) === text) return false;
      told.set(name, text);
      return true;
    });

  async function devices(deviceIds: readonly string[]): Promise<FeedItem[]> {
    if (deviceIds.length === 0) return [];
    return (await sources.devices(deviceIds)).flatMap((row): FeedItem[] => {
      const at = { topic: 'devices', key: row.deviceId } as const;
      if (isOwn(row)) return [{ ...at, value: row }];
      // The device belonged to the application before, and no longer does.
      const wasOwn = told.has(`devices ${row.deviceId}`);
      return wasOwn ? [{ ...at, value: { activation: 'deactivated', applicationId: null } }] : [];
    });
  }

  const transactionItems = (rows: readonly TransactionValue[]): FeedItem[] =>
    rows
      .filter((row) => isOwn(row) && (topics.transactions === 'all' || topics.transactions.has(row.transactionId)))
      .map((row) => ({ topic: 'transactions', key: String(row.transactionId), value: row }));

  async function receivers(): Promise<FeedItem[]> {
    if (!topics.receivers) return [];
    return (await sources.receivers(applicationId)).map((row) => ({ topic: 'receivers', ...row }));
  }

  async function software(): Promise<FeedItem[]> {
    const items: FeedItem[] = [];
    for (const key of topics.software) {
      const value = await sources.software(key, applicationId);
      if (value) items.push({ topic: 'software', key, value });
    }
    return items;
  }

  async function firstTransactions(find = sources.firstTransactions): Promise<FeedItem[]> {
    if (topics.transactions === 'all') return transactionItems(await find(applicationId));
    const some = [...topics.transactions];
    return some.length === 0 ? [] : transactionItems(await sources.transactions(some));
  }

  /**
   * Tests whether the reader may see the messages of a device: it must have belonged to the application at the last
   * lookup, and still does.
   */
  async function ownDevices(): Promise<(deviceId: string) => boolean> {
    if (applicationId === undefined || topics.messages.size === 0) return () => true;
    const before = owned;
    const rows = await sources.devices([...topics.messages]);
    owned = new Set(rows.filter(isOwn).map(({ deviceId }) => deviceId));
    return (deviceId) => before.has(deviceId) && owned.has(deviceId);
  }

  /** Leaves out messages about a transaction of another application, for which the device was activated before. */
  async function ownMessages(seen: readonly WaitingMessage[]): Promise<readonly WaitingMessage[]> {
    const named = new Set(seen.flatMap(({ transactionId }) => transactionId ?? []));
    if (applicationId === undefined || named.size === 0) return seen;
    const own = new Set((await sources.transactions([...named])).filter(isOwn).map((row) => row.transactionId));
    return seen.filter(({ transactionId }) => transactionId === undefined || own.has(transactionId));
  }

  /** Tells the reader that messages of its own devices were left out. */
  function tellGap(dropped: number, isOwnDevice: (deviceId: string) => boolean): void {
    if (dropped === 0 || ![...topics.messages].some(isOwnDevice)) return;
    onDropped(dropped);
    stream.gap(dropped);
  }

  /**
   * Finds transactions that other nodes have changed, among the first rows of the lists or the named ones: other nodes
   * do not tell this one.
   */
  async function elsewhere(find: FeedSources['firstTransactions']): Promise<FeedItem[]> {
    const items = await firstTransactions(find);
    const before = lookedAt;
    lookedAt = new Map(items.map(({ key, value }) => [key, JSON.stringify(value)]));
    return items.filter(({ key }) => before.get(key) !== lookedAt.get(key));
  }

  async function snapshot(): Promise<void> {
    const fleet = topics.fleet && applicationId === undefined ? await sources.fleet() : undefined;
    const parts = [await devices([...topics.devices]), await firstTransactions(), await receivers(), await software()];
    const isOwnDevice = await ownDevices();
    // Nobody checked to whom the devices belonged when these messages came, so they are not sent.
    const { messages: unseen, dropped } = messages.take();
    told.clear();
    const items = parts.flat();
    news(items.filter(({ topic }) => topic !== 'transactions'));
    if (fleet) items.unshift({ topic: 'fleet', key: '', value: fleet });
    stream.snapshot(items);
    if (live) tellGap(unseen.length + dropped, isOwnDevice);
  }

  async function flushMessages(isSecond: boolean): Promise<void> {
    const { messages: seen, dropped } = messages.take();
    if (seen.length === 0 && dropped === 0 && !isSecond) return;
    const isOwnDevice = await ownDevices();
    const shown = await ownMessages(seen.filter(({ deviceId }) => isOwnDevice(deviceId)));
    if (shown.length > 0) stream.change(shown.map(({ item }) => item()));
    tellGap(dropped, isOwnDevice);
  }

  return {
    stream,
    wanted,
    wantsTransactions: topics.transactions === 'all' || topics.transactions.size > 0,
    wantsDevices: topics.devices.size > 0,
    wantsMessages: topics.messages.size > 0,

    /** Sends the snapshot; changes follow. */
    async begin(): Promise<void> {
      await snapshot();
      live = true;
    },

    /** A change was lost that the reader may have wanted. */
    missed(): void {
      behind = true;
    },

    message(message: SeenMessage): void {
      if (topics.messages.has(message.deviceId)) messages.add(message);
    },

    beat(): void {
      if (live && !stream.isFull()) stream.beat();
    },

    /** Sends the changes. While the reader makes no room, nothing is kept for it. */
    async flush({ transactions, deviceIds, fleet, isSecond, firstTransactions: find }: News): Promise<void> {
      if (!live) return;
      if (stream.isFull()) {
        behind = true;
        return;
      }
      if (behind) {
        behind = false;
        await snapshot();
        return;
      }
      const looked = isSecond ? [...topics.devices] : [...topics.devices].filter((deviceId) => deviceIds.has(deviceId));
      const states = news([
        ...(await devices(looked)),
        ...(isSecond ? [...(await receivers()), ...(await software())] : []),
      ]);
      const others = isSecond && sources.hasOthers ? await elsewhere(find) : [];
      const items = [...transactionItems(transactions), ...others, ...states];
      if (fleet && topics.fleet && applicationId === undefined)
        items.unshift({ topic: 'fleet', key: '', value: fleet });
      if (items.length > 0) stream.change(items);
      await flushMessages(isSecond);
    },
  };
}
