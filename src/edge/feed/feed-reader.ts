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

/** Where what is shown is read: rows as the lists of the interface have them. */
export interface FeedSources {
  /** Other processes change it, too, and tell nothing of it. */
  readonly hasOthers: boolean;
  fleet(): Promise<object | undefined>;
  devices(deviceIds: readonly string[]): Promise<DeviceValue[]>;
  transactions(transactionIds: readonly number[]): Promise<TransactionValue[]>;
  /** What the lists of transactions begin with: the newest, and the unfinished ones that are oldest. */
  firstTransactions(applicationId: string | undefined): Promise<TransactionValue[]>;
  receivers(applicationId: string | undefined): Promise<{ key: string; value: object }[]>;
  /** Of `PACKAGE@VERSION`; undefined when nobody knows it. */
  software(name: string, applicationId: string | undefined): Promise<object | undefined>;
}

/** What a reader wants, and who it is. */
export interface Wanted {
  listener: 'admin' | 'api';
  topics: FeedTopics;
  /** Of whom it sees everything, and of others nothing; undefined sees all. */
  applicationId?: string;
  /** Whose application it is. */
  developerId?: string;
  sessionId?: string;
  /** Whether it still may read. */
  isGood(): Promise<boolean>;
}

/** What has happened since the last flush. */
interface News {
  transactions: readonly TransactionValue[];
  /** That have changed. */
  deviceIds: ReadonlySet<string>;
  fleet: object | undefined;
  /** Once a second all is looked at that nobody tells of. */
  isSecond: boolean;
  /** Of the sources, asked once for all readers. */
  firstTransactions: FeedSources['firstTransactions'];
}

interface Parts {
  clock: Clock;
  sources: FeedSources;
  wanted: Wanted;
  /** So many messages were left out. */
  onDropped(count: number): void;
}

export type FeedReader = ReturnType<typeof createFeedReader>;

/** One reader of the feed: what it wants to see, and what it has seen of it. */
export function createFeedReader({ clock, sources, wanted, onDropped }: Parts) {
  const { topics, applicationId } = wanted;
  const stream = createFeedStream(clock);
  const messages = createLiveMessages(clock);
  /** What it was told last, where what is told again is left out. */
  const told = new Map<string, string>();
  /** Devices of those whose messages are shown that were its own at the last look. */
  let owned = new Set<string>();
  /** Transactions as they were at the last look at them. */
  let lookedAt = new Map<string, string>();
  let live = false;
  /** There are changes that it was not told of, because it had no room, say: a snapshot makes up for that. */
  let behind = false;

  const isOwn = (row: { applicationId: string | null }): boolean =>
    applicationId === undefined || row.applicationId === applicationId;

  /** Those that are not what it was told last. */
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
      // One that was its own, and is not any more.
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

  /** Devices whose messages it may see: all that were its own at the last look, and are now. */
  async function ownDevices(): Promise<(deviceId: string) => boolean> {
    if (applicationId === undefined || topics.messages.size === 0) return () => true;
    const before = owned;
    const rows = await sources.devices([...topics.messages]);
    owned = new Set(rows.filter(isOwn).map(({ deviceId }) => deviceId));
    return (deviceId) => before.has(deviceId) && owned.has(deviceId);
  }

  /** Those of its devices' messages that are not about the transaction of another application, which had the device before. */
  async function ownMessages(seen: readonly WaitingMessage[]): Promise<readonly WaitingMessage[]> {
    const named = new Set(seen.flatMap(({ transactionId }) => transactionId ?? []));
    if (applicationId === undefined || named.size === 0) return seen;
    const own = new Set((await sources.transactions([...named])).filter(isOwn).map((row) => row.transactionId));
    return seen.filter(({ transactionId }) => transactionId === undefined || own.has(transactionId));
  }

  /** So many messages of its own devices were left out. */
  function tellGap(dropped: number, isOwnDevice: (deviceId: string) => boolean): void {
    if (dropped === 0 || ![...topics.messages].some(isOwnDevice)) return;
    onDropped(dropped);
    stream.gap(dropped);
  }

  /** What other nodes did, of what its lists begin with or of those that it names: nobody tells of it. */
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
    // Whose the devices were when these came, nobody looked.
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

    /** Sends the snapshot; changes follow it. */
    async begin(): Promise<void> {
      await snapshot();
      live = true;
    },

    /** A change got lost that may have been its own. */
    missed(): void {
      behind = true;
    },

    message(message: SeenMessage): void {
      if (topics.messages.has(message.deviceId)) messages.add(message);
    },

    beat(): void {
      if (live && !stream.isFull()) stream.beat();
    },

    /** Sends what has changed. While the reader makes no room nothing is kept for it. */
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
