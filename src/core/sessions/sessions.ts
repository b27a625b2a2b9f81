import type { Fence } from '../../platform/cluster/ownership.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import * as repository from './session-repository.ts';
import type { StoredPacket as Packet } from './stored-packet.ts';
import type { Standing } from './takeover.ts';
import type { StoredWill } from './will-repository.ts';
import * as willRepository from './will-repository.ts';

export type { SessionTerms, StoredSubscription } from './session-repository.ts';
export type { StoredPacket } from './stored-packet.ts';

type Subscription = repository.StoredSubscription;

interface Parts {
  database: Database;
  clock: Clock;
}

export type Sessions = ReturnType<typeof createSessions>;

const WILLS_PER_READ = 100;

/**
 * The state that an MQTT server keeps between connections: sessions, their subscriptions, inbound messages of QoS 2, and
 * wills. With several nodes, each write of a connection is checked by its fence, so that a late write of an old connection
 * does not overwrite the data of a newer one.
 */
export function createSessions({ database, clock }: Parts) {
  const { read } = database;
  // After an outage a whole fleet connects at once. With a commit for each device, commands would have to wait behind them.
  const transact = <Result>(work: (unit: UnitOfWork) => Promise<Result>, device?: string): Promise<Result> =>
    database.transact(work, { device, pace: 'crowd' });

  /** Runs a unit of work of one client. With a `fence`, the unit fails if the device has a newer connection. */
  const write = <Result>(
    work: (unit: UnitOfWork) => Promise<Result> | Result,
    clientId: string | undefined,
    fence: Fence | undefined,
  ): Promise<Result> =>
    fence
      ? transact(async (unit) => {
          await fence(unit);
          return work(unit);
        }, clientId)
      : transact(async (unit) => work(unit), clientId);

  return {
    /**
     * Opens a persistent session if the device may still connect. The unit of work repeats the check, because the device
     * may have been removed since the login was checked: a session without a device would be taken for that of the next
     * device with this id, which would then not subscribe.
     */
    open: (
      clientId: string,
      terms: repository.SessionTerms,
      standing: (sql: UnitOfWork) => Promise<Standing>,
    ): Promise<Standing> =>
      transact(async (unit) => {
        const found = await standing(unit);
        if (found === 'good') await repository.openSession(unit, clientId, terms, clock.now());
        return found;
      }, clientId),

    /** Ends a session and deletes all its data [MQTT-3.1.2-6]. */
    end: (clientId: string, fence?: Fence): Promise<void> =>
      write((unit) => repository.deleteSession(unit, clientId), clientId, fence),

    /** Deletes what is stored of a session whose connection goes on: it ends with the connection, however that ends. */
    detach: (clientId: string, fence?: Fence): Promise<void> =>
      write((unit) => repository.detachSession(unit, clientId), clientId, fence),

    /** Deletes a device's session in the unit of work that removes the device. */
    remove: async (unit: UnitOfWork, deviceId: string): Promise<void> => repository.deleteSession(unit, deviceId),

    /** Stores subscriptions; all must be of the same client. */
    async subscribe(subscriptions: Subscription[], fence?: Fence): Promise<void> {
      const [first] = subscriptions;
      if (!first) return;
      await write((unit) => repository.saveSubscriptions(unit, first.clientId, subscriptions), first.clientId, fence);
    },

    async unsubscribe(clientId: string, topics: string[], fence?: Fence): Promise<void> {
      if (topics.length === 0) return;
      const deleteAll = (unit: UnitOfWork): void => {
        for (const topic of topics) repository.deleteSubscription(unit, clientId, topic);
      };
      await write(deleteAll, clientId, fence);
    },

    subscriptionsOf: (clientId: string): Promise<Subscription[]> => repository.subscriptionsOf(read, clientId),

    /** Subscriptions to exactly this topic. Those of QoS 0 are left out, because they have no stored delivery. */
    subscriptionsTo: (topic: string): Promise<Subscription[]> => repository.subscriptionsTo(read, topic),

    clientsSubscribedTo: (topic: string): Promise<string[]> => repository.clientsSubscribedTo(read, topic),

    countSubscriptions: () => repository.countSubscriptions(read),

    /** The identifiers of the inbound QoS 2 packets of a device that wait for their PUBREL. */
    incomingIds: (clientId: string): Promise<Set<number>> => repository.incomingIds(read, clientId),

    /** Stores an inbound QoS 2 packet until its PUBREL. */
    keepIncoming: (messageId: number, packet: Packet, fence?: Fence): Promise<void> =>
      write((unit) => repository.saveIncomingPacket(unit, messageId, packet), packet.clientId, fence),

    findIncoming: (clientId: string, messageId: number): Promise<Packet | undefined> =>
      repository.findIncomingPacket(read, clientId, messageId),

    /** Deletes an inbound QoS 2 packet at its PUBREL; returns false when there is none. */
    releaseIncoming: (clientId: string, messageId: number, fence?: Fence): Promise<boolean> =>
      write((unit) => repository.deleteIncomingPacket(unit, clientId, messageId), clientId, fence),

    forgetIncoming: (clientId: string, fence?: Fence): Promise<void> =>
      write((unit) => repository.deleteIncomingPackets(unit, clientId), clientId, fence),

    keepWill: (brokerId: string, will: StoredWill, fence?: Fence): Promise<void> =>
      write((unit) => willRepository.saveWill(unit, brokerId, will), will.clientId, fence),

    findWill: (clientId: string): Promise<Packet | undefined> => willRepository.findWill(read, clientId),

    /**
     * Deletes and returns a client's will, or undefined. Each CONNECT calls this, so it reads first: most clients have no
     * will, and need no commit. With `brokerId`, only a will of that broker is taken; the device may be connected to another.
     */
    async takeWill(clientId: string, brokerId?: string): Promise<Packet | undefined> {
      const will = await willRepository.findWill(read, clientId);
      if (!will) return undefined;
      return transact((unit) => willRepository.deleteWill(unit, clientId, brokerId), clientId);
    },

    /** The wills of all brokers but one, ordered by client: most of a fleet is connected to this one. */
    async *wills(notOf = ''): AsyncGenerator<Packet & { brokerId: string }> {
      let last = '';
      for (;;) {
        const page = await willRepository.willsAfter(read, { clientId: last, notOf, limit: WILLS_PER_READ });
        yield* page;
        if (page.length < WILLS_PER_READ) return;
        last = page.at(-1)?.clientId ?? '';
      }
    },
  };
}
