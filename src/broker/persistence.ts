// What Aedes keeps between connections, in the database: subscriptions, inbound QoS 2 packets and wills. It is an Aedes
// persistence, and passes the library's abstract test suite but for two groups of tests, on purpose:
// - Outgoing packets: the offline queue to devices is the transactions table (a second queue would make duplicates, and
//   that of Aedes has no bound). Nothing is enqueued; the outgoing calls only tell which PUBACK belongs to which publish.
// - Retained messages: devices may not retain, and the service retains nothing.
// And two tests look subscriptions up through wildcards, which devices may not subscribe.
import { Readable } from 'node:stream';
import type { Client } from 'aedes';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/sql.ts';
import {
  clientsSubscribedTo,
  countIncomingPackets,
  countSubscriptions,
  deleteIncomingPacket,
  deleteIncomingPackets,
  deleteSession,
  deleteSubscription,
  deleteWill,
  findIncomingPacket,
  findWill,
  openSession,
  type StoredPacket,
  type StoredSubscription,
  saveIncomingPacket,
  saveWill,
  subscriptionsOf,
  subscriptionsTo,
  upsertSubscription,
  willsAfter,
} from '../devices/session-repository.ts';
import { MOST_UNRELEASED } from './exactly-once.ts';
import type { Outbound } from './outbound.ts';

/** A filter that only the store answers: it makes Aedes report a session that has no subscriptions as present. */
export const SESSION_MARKER = '$session';

type ClientId = Pick<Client, 'id'>;
type Packet = Record<string, unknown> & { messageId?: number; payload?: Buffer | string; brokerId?: string };
type Subscription = { topic: string; qos: number } & Record<string, unknown>;

interface Parts {
  database: Database;
  clock: Clock;
  outbound: Pick<Outbound, 'acknowledged'>;
  /** The access rule again: Aedes stores all filters of a SUBSCRIBE, also those it refused. */
  allows(clientId: string, topic: string): boolean;
  /** A message of QoS 2 was released, and forgotten. */
  released?(client: Client, messageId: number): void;
  /** False when nothing that a device publishes is forwarded: Aedes asks at every message, and need not wait for a look-up. */
  forwards?: boolean;
}

const WILLS_PER_READ = 100;

function toStored(clientId: string, { payload, ...fields }: Packet): StoredPacket {
  const isText = typeof payload === 'string';
  return { clientId, packet: { fields, isText }, payload: payload === undefined ? null : Buffer.from(payload) };
}

function fromStored({ packet, payload }: StoredPacket): Packet {
  const { fields, isText } = packet as { fields: Packet; isText: boolean };
  return payload === null ? fields : { ...fields, payload: isText ? payload.toString() : payload };
}

const toSubscription = ({ topic, qos, properties }: StoredSubscription): Subscription => ({
  topic,
  qos,
  ...properties,
});

export function createPersistence({ database, clock, outbound, allows, released, forwards = true }: Parts) {
  const { read, transact } = database;
  // Clients that found a session at their CONNECT, until Aedes has asked for its subscriptions.
  const resumed = new Set<string>();
  let broker = { id: '' };

  async function* wills(brokers: Record<string, unknown>): AsyncGenerator<Packet> {
    let last = '';
    for (;;) {
      const page = await willsAfter(read, last, WILLS_PER_READ);
      for (const will of page) if (!brokers[will.brokerId]) yield fromStored(will);
      if (page.length < WILLS_PER_READ) return;
      last = page.at(-1)?.clientId ?? '';
    }
  }

  return {
    /** Before CONNACK of a persistent session: makes it, or remembers that it is resumed. */
    async openSession(clientId: string): Promise<void> {
      const present = await transact((unit) => openSession(unit, clientId, clock.now()));
      if (present) resumed.add(clientId);
    },

    async setup(owner: { id: string }): Promise<void> {
      broker = owner;
    },

    async addSubscriptions(client: ClientId, subscriptions: Subscription[]): Promise<void> {
      const allowed = subscriptions.filter(({ topic }) => allows(client.id, topic));
      await transact(async (unit) => {
        for (const { topic, qos, ...rest } of allowed) {
          const given = Object.entries(rest).filter(([, value]) => value !== undefined);
          const properties = Object.fromEntries(given);
          await upsertSubscription(unit, { clientId: client.id, topic, qos, properties });
        }
      });
    },

    async removeSubscriptions(client: ClientId, topics: string[]): Promise<void> {
      const stored = topics.filter((topic) => allows(client.id, topic));
      if (stored.length === 0) return;
      await transact(async (unit) => {
        for (const topic of stored) await deleteSubscription(unit, client.id, topic);
      });
    },

    async subscriptionsByClient(client: ClientId): Promise<Subscription[]> {
      const present = resumed.delete(client.id);
      const stored = await subscriptionsOf(read, client.id);
      return stored.length === 0 && present ? [{ topic: SESSION_MARKER, qos: 0 }] : stored.map(toSubscription);
    },

    async countOffline(): Promise<{ subsCount: number; clientsCount: number }> {
      const { subscriptions, clients } = await countSubscriptions(read);
      return { subsCount: subscriptions, clientsCount: clients };
    },

    async subscriptionsByTopic(topic: string): Promise<(Subscription & { clientId: string })[]> {
      if (!forwards) return [];
      const stored = await subscriptionsTo(read, topic);
      return stored.map((subscription) => ({ ...toSubscription(subscription), clientId: subscription.clientId }));
    },

    async cleanSubscriptions(client: ClientId): Promise<void> {
      await transact((unit) => deleteSession(unit, client.id));
    },

    getClientList: (topic: string): Readable =>
      Readable.from(
        (async function* () {
          yield* await clientsSubscribedTo(read, topic);
        })(),
      ),

    /** What is stored for a device of QoS 2 and not released: whether this identifier, and how many. */
    incoming: (deviceId: string, messageId: number): Promise<{ known: boolean; held: number }> =>
      countIncomingPackets(read, deviceId, messageId),

    async incomingStorePacket(client: ClientId, packet: Packet): Promise<void> {
      const { length: _, ...fields } = packet; // of the wire, not of the message
      const stored = toStored(client.id, fields);
      const messageId = packet.messageId ?? 0;
      await transact(async (unit) => {
        const { known, held } = await countIncomingPackets(unit, client.id, messageId);
        if (!known && held >= MOST_UNRELEASED) throw new Error('too many messages of QoS 2 without PUBREL');
        await saveIncomingPacket(unit, messageId, stored);
      });
    },

    async incomingGetPacket(client: ClientId, packet: Packet): Promise<Packet> {
      const stored = await findIncomingPacket(read, client.id, packet.messageId ?? 0);
      if (!stored) throw new Error('no such packet');
      return fromStored(stored);
    },

    async incomingDelPacket(client: Client, packet: Packet): Promise<void> {
      const deleted = await transact((unit) => deleteIncomingPacket(unit, client.id, packet.messageId ?? 0));
      if (!deleted) throw new Error('no such packet');
      released?.(client, packet.messageId ?? 0);
    },

    async cleanIncoming(client: ClientId): Promise<void> {
      await transact((unit) => deleteIncomingPackets(unit, client.id));
    },

    async putWill(client: ClientId, packet: Packet): Promise<void> {
      packet.brokerId = broker.id;
      packet['clientId'] = client.id;
      await transact((unit) => saveWill(unit, broker.id, toStored(client.id, packet)));
    },

    async getWill(client: ClientId): Promise<Packet | undefined> {
      const stored = await findWill(read, client.id);
      return stored && fromStored(stored);
    },

    async delWill(client: ClientId): Promise<Packet | undefined> {
      const stored = await findWill(read, client.id);
      if (!stored) return undefined; // asked at every CONNECT: most have none, and need no commit
      await transact((unit) => deleteWill(unit, client.id));
      return fromStored(stored);
    },

    streamWill: (brokers: Record<string, unknown> = {}): Readable => Readable.from(wills(brokers)),

    // Outgoing packets and retained messages: see the head of this file.
    async outgoingEnqueue(): Promise<void> {},
    async outgoingEnqueueCombi(): Promise<void> {},
    async outgoingUpdate(): Promise<void> {},
    async outgoingClearMessageId(client: Client, packet: Packet | undefined): Promise<undefined> {
      outbound.acknowledged(client, packet?.messageId);
    },
    outgoingStream: (): Readable => Readable.from([]),
    async storeRetained(): Promise<void> {},
    createRetainedStream: (): Readable => Readable.from([]),
    createRetainedStreamCombi: (): Readable => Readable.from([]),

    async destroy(): Promise<void> {},
  };
}
