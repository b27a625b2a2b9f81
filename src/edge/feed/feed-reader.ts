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

/** Reads the rows whose changes the feed sends. They have the same form as in the lists of the API. */
export interface FeedSources {
  /** True when other nodes change the same rows without telling this node. */
  readonly hasOthers: boolean;
  fleet(): Promise<object | undefined>;
  devices(deviceIds: readonly string[]): Promise<DeviceValue[]>;
  transactions(transactionIds: readonly number[]): Promise<TransactionValue[]>;
  /** The first rows of the lists of transactions: the newest ones, and the oldest unfinished ones. */
  firstTransactions(applicationId: string | undefined): Promise<TransactionValue[]>;
  receivers(applicationId: string | undefined): Promise<{ key: string; value: object }[]>;
  /** The newest entry of the audit log, and the position of the last sealed one. */
  audit(): Promise<object>;
  /** The installation counts of a version, `PACKAGE@VERSION`; undefined when it is unknown. */
  software(name: string, applicationId: string | undefined): Promise<object | undefined>;
  /** The rollouts with these rolloutIds. */
  rollouts(rolloutIds: readonly string[], applicationId: string | undefined): Promise<{ key: string; value: object }[]>;
}

/** The request of a reader: the topics that it wants, and its rights. */
export interface Wanted {
  listener: 'admin' | 'api';
  topics: FeedTopics;
  /** The only application whose rows the reader may see; undefined: it may see all applications. */
  applicationId?: string;
  /** The developer of that application. */
  developerId?: string;
  sessionId?: string;
  /** How an item is shown to the reader, when its role may not see all of it. */
  shows?(item: FeedItem): FeedItem;
  /** Whether the token or session of the reader is still valid. */
  isGood(): Promise<boolean>;
}

/** The changes that were gathered since readers were last sent changes. */
interface News {
  transactions: readonly TransactionValue[];
  /** The deviceIds of the devices that have changed. */
  deviceIds: ReadonlySet<string>;
  fleet: object | undefined;
  /** True once a second. The rows whose changes are not announced to this process are then read again. */
  isSecond: boolean;
  /**
   * Finds the first rows of the lists of transactions; the database is asked once for all readers of an application.
   */
  firstTransactions: FeedSources['firstTransactions'];
}

interface Parts {
  clock: Clock;
  sources: FeedSources;
  wanted: Wanted;
  /** Called when messages of devices were not sent, because too many came in a second. */
  onDropped(count: number): void;
}

export type FeedReader = ReturnType<typeof createFeedReader>;

/** One reader of the feed: the topics that it follows, and the values that it was sent. */
export function createFeedReader({ clock, sources, wanted, onDropped }: Parts) {
  const { topics, applicationId, shows = (item: FeedItem): FeedItem => item } = wanted;
  const stream = createFeedStream(clock);
  const messages = createLiveMessages(clock);
  /** The JSON that the reader was sent last, by topic and key: an unchanged value is not sent again. */
  const told = new Map<string, string>();
  /** The devices with followed messages that belonged to the reader's application when this was last looked up. */
  let owned = new Set<string>();
  /** The JSON of the transactions that `elsewhere` found at its last call. */
  let lookedAt = new Map<string, string>();
  let live = false;
  /**
   * True when changes were not sent, for example because the buffer of the stream was full. The next flush sends a
   * snapshot in their place.
   */
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
      // The reader was sent this device before, so it learns that the device no longer belongs to the application.
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

  const audit = async (): Promise<FeedItem[]> =>
    topics.audit && applicationId === undefined ? [{ topic: 'audit', key: '', value: await sources.audit() }] : [];

  async function software(): Promise<FeedItem[]> {
    const items: FeedItem[] = [];
    for (const key of topics.software) {
      const value = await sources.software(key, applicationId);
      if (value) items.push({ topic: 'software', key, value });
    }
    return items;
  }

  async function rollouts(): Promise<FeedItem[]> {
    if (topics.rollouts.size === 0) return [];
    return (await sources.rollouts([...topics.rollouts], applicationId)).map((row) => ({ topic: 'rollouts', ...row }));
  }

  async function firstTransactions(find = sources.firstTransactions): Promise<FeedItem[]> {
    if (topics.transactions === 'all') return transactionItems(await find(applicationId));
    const some = [...topics.transactions];
    return some.length === 0 ? [] : transactionItems(await sources.transactions(some));
  }

  /**
   * Makes the test whether the reader may see the messages of a device. The messages came between the last lookup and
   * this one, so the device must belong to the application in both.
   */
  async function ownDevices(): Promise<(deviceId: string) => boolean> {
    if (applicationId === undefined || topics.messages.size === 0) return () => true;
    const before = owned;
    const rows = await sources.devices([...topics.messages]);
    owned = new Set(rows.filter(isOwn).map(({ deviceId }) => deviceId));
    return (deviceId) => before.has(deviceId) && owned.has(deviceId);
  }

  /**
   * Leaves out messages about transactions of other applications: the device may still answer commands of the
   * application that it was activated for before.
   */
  async function ownMessages(seen: readonly WaitingMessage[]): Promise<readonly WaitingMessage[]> {
    const named = new Set(seen.flatMap(({ transactionId }) => transactionId ?? []));
    if (applicationId === undefined || named.size === 0) return seen;
    const own = new Set((await sources.transactions([...named])).filter(isOwn).map((row) => row.transactionId));
    return seen.filter(({ transactionId }) => transactionId === undefined || own.has(transactionId));
  }

  /** Tells the reader how many messages of its devices were not sent. */
  function tellGap(dropped: number, isOwnDevice: (deviceId: string) => boolean): void {
    if (dropped === 0 || ![...topics.messages].some(isOwnDevice)) return;
    onDropped(dropped);
    stream.gap(dropped);
  }

  /**
   * Finds the transactions that have changed since the last call, among the ones that the reader follows or the first
   * rows of its lists. Other nodes do not tell this node of their changes.
   */
  async function elsewhere(find: FeedSources['firstTransactions']): Promise<FeedItem[]> {
    const items = await firstTransactions(find);
    const before = lookedAt;
    lookedAt = new Map(items.map(({ key, value }) => [key, JSON.stringify(value)]));
    return items.filter(({ key }) => before.get(key) !== lookedAt.get(key));
  }

  async function snapshot(): Promise<void> {
    const fleet = topics.fleet && applicationId === undefined ? await sources.fleet() : undefined;
    const states = [await receivers(), await software(), await rollouts(), await audit()];
    const parts = [await devices([...topics.devices]), await firstTransactions(), ...states];
    const isOwnDevice = await ownDevices();
    // The owners of the devices were not looked up regularly while these messages came, so the messages are not sent.
    const { messages: unseen, dropped } = messages.take();
    told.clear();
    const items = parts.flat();
    news(items.filter(({ topic }) => topic !== 'transactions'));
    if (fleet) items.unshift({ topic: 'fleet', key: '', value: fleet });
    stream.snapshot(items.map(shows));
    if (live) tellGap(unseen.length + dropped, isOwnDevice);
  }

  async function flushMessages(isSecond: boolean): Promise<void> {
    const { messages: seen, dropped } = messages.take();
    if (seen.length === 0 && dropped === 0 && !isSecond) return;
    const isOwnDevice = await ownDevices();
    const shown = await ownMessages(seen.filter(({ deviceId }) => isOwnDevice(deviceId)));
    if (shown.length > 0) stream.change(shown.map(({ item }) => shows(item())));
    tellGap(dropped, isOwnDevice);
  }

  return {
    stream,
    wanted,
    wantsTransactions: topics.transactions === 'all' || topics.transactions.size > 0,
    wantsDevices: topics.devices.size > 0,
    wantsMessages: topics.messages.size > 0,

    /** Sends the snapshot. From then on `flush` sends changes. */
    async begin(): Promise<void> {
      await snapshot();
      live = true;
    },

    /** A change that the reader may have wanted was lost, so the next flush sends a snapshot. */
    missed(): void {
      behind = true;
    },

    message(message: SeenMessage): void {
      if (topics.messages.has(message.deviceId)) messages.add(message);
    },

    beat(): void {
      if (live && !stream.isFull()) stream.beat();
    },

    /**
     * Sends the changes. While the buffer of the stream is full, changes are dropped, and a snapshot follows once there
     * is room.
     */
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
        ...(isSecond ? [...(await receivers()), ...(await software()), ...(await rollouts()), ...(await audit())] : []),
      ]);
      const others = isSecond && sources.hasOthers ? await elsewhere(find) : [];
      const items = [...transactionItems(transactions), ...others, ...states];
      if (fleet && topics.fleet && applicationId === undefined)
        items.unshift({ topic: 'fleet', key: '', value: fleet });
      if (items.length > 0) stream.change(items.map(shows));
      await flushMessages(isSecond);
    },
  };
}
