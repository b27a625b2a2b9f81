import type { Fence } from '../../platform/cluster/ownership.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import * as repository from './session-repository.ts';

export type { StoredPacket, StoredSubscription } from './session-repository.ts';

type Packet = repository.StoredPacket;
type Subscription = repository.StoredSubscription;

interface Parts {
  database: Database;
  clock: Clock;
}

export type Sessions = ReturnType<typeof createSessions>;

const WILLS_PER_READ = 100;

/**
 * What an MQTT server keeps between connections: sessions, their subscriptions, inbound messages of QoS 2, and wills. Where
 * there are other nodes a connection writes behind its fence: what comes late of one is not written over what the next has.
 */
export function createSessions({ database, clock }: Parts) {
  const { read } = database;
  // A whole fleet connects at once, after an outage: a commit for each device would take the time of everybody's commands.
  const transact = database.transactInCrowd;

  /** A unit of one client, which writes nothing when its connection is not the device's any more. */
  const write = <Result>(
    work: (unit: UnitOfWork) => Promise<Result>,
    clientId: string | undefined,
    fence: Fence | undefined,
  ): Promise<Result> =>
    fence
      ? transact(async (unit) => {
          await fence(unit);
          return work(unit);
        }, clientId)
      : transact(work, clientId);

  return {
    /** Opens a persistent session; true when there was one already [MQTT-3.1.2-4]. */
    open: (clientId: string): Promise<boolean> =>
      transact((unit) => repository.openSession(unit, clientId, clock.now()), clientId),

    /** Ends a session: nothing of it stays [MQTT-3.1.2-6]. */
    end: (clientId: string, fence?: Fence): Promise<void> =>
      write((unit) => repository.deleteSession(unit, clientId), clientId, fence),

    /** Forgets a device in the unit of work that removes it. */
    remove: (unit: UnitOfWork, deviceId: string): Promise<void> => repository.deleteSession(unit, deviceId),

    /** All of one client. */
    subscribe: (subscriptions: Subscription[], fence?: Fence): Promise<void> =>
      write(
        async (unit) => {
          for (const subscription of subscriptions) await repository.upsertSubscription(unit, subscription);
        },
        subscriptions[0]?.clientId,
        fence,
      ),

    async unsubscribe(clientId: string, topics: string[], fence?: Fence): Promise<void> {
      if (topics.length === 0) return;
      const deleteAll = async (unit: UnitOfWork): Promise<void> => {
        for (const topic of topics) await repository.deleteSubscription(unit, clientId, topic);
      };
      await write(deleteAll, clientId, fence);
    },

    subscriptionsOf: (clientId: string): Promise<Subscription[]> => repository.subscriptionsOf(read, clientId),

    /** Subscriptions to exactly this topic; those of QoS 0 have no stored delivery and are left out. */
    subscriptionsTo: (topic: string): Promise<Subscription[]> => repository.subscriptionsTo(read, topic),

    clientsSubscribedTo: (topic: string): Promise<string[]> => repository.clientsSubscribedTo(read, topic),

    countSubscriptions: () => repository.countSubscriptions(read),

    /** Of a device's packets that are not released: whether there is one with this identifier, and how many there are. */
    countIncoming: (clientId: string, messageId: number) => repository.countIncomingPackets(read, clientId, messageId),

    /** Keeps a packet until it is released; false when the device has `most` others. */
    keepIncoming: (messageId: number, packet: Packet, most: number, fence?: Fence): Promise<boolean> =>
      write(
        async (unit) => {
          const { known, held } = await repository.countIncomingPackets(unit, packet.clientId, messageId);
          if (!known && held >= most) return false;
          await repository.saveIncomingPacket(unit, messageId, packet);
          return true;
        },
        packet.clientId,
        fence,
      ),

    findIncoming: (clientId: string, messageId: number): Promise<Packet | undefined> =>
      repository.findIncomingPacket(read, clientId, messageId),

    /** False when there is no such packet. */
    releaseIncoming: (clientId: string, messageId: number, fence?: Fence): Promise<boolean> =>
      write((unit) => repository.deleteIncomingPacket(unit, clientId, messageId), clientId, fence),

    forgetIncoming: (clientId: string, fence?: Fence): Promise<void> =>
      write((unit) => repository.deleteIncomingPackets(unit, clientId), clientId, fence),

    keepWill: (brokerId: string, will: Packet, fence?: Fence): Promise<void> =>
      write((unit) => repository.saveWill(unit, brokerId, will), will.clientId, fence),

    findWill: (clientId: string): Promise<Packet | undefined> => repository.findWill(read, clientId),

    /**
     * The will that is no more, or undefined. It is asked at every CONNECT: most have none, and need no commit. With
     * `brokerId` that of no other broker is taken: the device may be connected there by now.
     */
    async takeWill(clientId: string, brokerId?: string): Promise<Packet | undefined> {
      const will = await repository.findWill(read, clientId);
      if (!will) return undefined;
      return transact((unit) => repository.deleteWill(unit, clientId, brokerId), clientId);
    },

    /** All wills, in the order of their clients. */
    async *wills(): AsyncGenerator<Packet & { brokerId: string }> {
      let last = '';
      for (;;) {
        const page = await repository.willsAfter(read, last, WILLS_PER_READ);
        yield* page;
        if (page.length < WILLS_PER_READ) return;
        last = page.at(-1)?.clientId ?? '';
      }
    },
  };
}
