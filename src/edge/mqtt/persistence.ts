// What Aedes keeps between connections, as sessions: subscriptions, inbound QoS 2 packets and wills. It is an Aedes
// persistence, and passes the library's abstract test suite but for two groups of tests, on purpose:
// - Outgoing packets: the offline queue to devices is the transactions table (a second queue would make duplicates, and
//   that of Aedes has no bound). Nothing is enqueued; the outgoing calls only tell which PUBACK belongs to which publish.
// - Retained messages: devices may not retain, and the service retains nothing.
// And two tests look subscriptions up through wildcards, which devices may not subscribe.
import { Readable } from 'node:stream';
import type { Client } from 'aedes';
import type { Sessions, StoredPacket, StoredSubscription } from '../../core/sessions/sessions.ts';
import { isDatabaseAway } from '../../errors.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import { MOST_UNRELEASED } from './exactly-once.ts';
import type { Outbound } from './outbound.ts';

/** A filter that only the store answers: it makes Aedes report a session that has no subscriptions as present. */
export const SESSION_MARKER = '$session';

type ClientId = Pick<Client, 'id'>;
type Packet = Record<string, unknown> & { messageId?: number; payload?: Buffer | string; brokerId?: string };
type Subscription = { topic: string; qos: number } & Record<string, unknown>;

interface Parts {
  sessions: Sessions;
  outbound: Pick<Outbound, 'acknowledged'>;
  /** The access rule again: Aedes stores all filters of a SUBSCRIBE, also those it refused. */
  allows(clientId: string, topic: string): boolean;
  /** A message of QoS 2 was released, and forgotten. */
  released?(client: Client, messageId: number): void;
  /** False when nothing that a device publishes is forwarded: Aedes asks at every message, and need not wait for a look-up. */
  forwards?: boolean;
  /** Where there are other nodes: the name of this one, under which its wills are kept; who is dead is known elsewhere. */
  nodeId?: (() => string) | undefined;
  /** False while a connection has not shown whose it is: Aedes also ends the session that one of those has claimed. */
  isLoggedIn?(client: object): boolean;
  /** And what a connection must pass to write something. */
  fenceOf?(client: object): Fence | undefined;
}

function toStored(clientId: string, { payload, ...fields }: Packet): StoredPacket {
  const isText = typeof payload === 'string';
  return { clientId, packet: { fields, isText }, payload: payload === undefined ? null : Buffer.from(payload) };
}

export function fromStored({ packet, payload }: StoredPacket): Packet {
  const { fields, isText } = packet as { fields: Packet; isText: boolean };
  return payload === null ? fields : { ...fields, payload: isText ? payload.toString() : payload };
}

const toSubscription = ({ topic, qos, properties }: StoredSubscription): Subscription => ({
  topic,
  qos,
  ...properties,
});

export function createPersistence(parts: Parts) {
  const { sessions, outbound, allows, released, forwards = true, nodeId } = parts;
  const { isLoggedIn = () => true, fenceOf = () => undefined } = parts;
  // Clients that found a session at their CONNECT, until Aedes has asked for its subscriptions.
  const resumed = new Set<string>();
  let broker = { id: '' };
  const ownId = (): string => nodeId?.() ?? broker.id;

  async function* wills(brokers: Record<string, unknown>): AsyncGenerator<Packet> {
    for await (const will of sessions.wills()) if (!brokers[will.brokerId]) yield fromStored(will);
  }

  return {
    /** Before CONNACK of a persistent session: makes it, or remembers that it is resumed. */
    async openSession(clientId: string): Promise<void> {
      if (await sessions.open(clientId)) resumed.add(clientId);
    },

    /** The session was there, as the login itself found. */
    resumes(clientId: string): void {
      resumed.add(clientId);
    },

    async setup(owner: { id: string }): Promise<void> {
      broker = owner;
    },

    async addSubscriptions(client: ClientId, subscriptions: Subscription[]): Promise<void> {
      const allowed = subscriptions.filter(({ topic }) => allows(client.id, topic));
      await sessions.subscribe(
        allowed.map(({ topic, qos, ...rest }) => {
          const given = Object.entries(rest).filter(([, value]) => value !== undefined);
          return { clientId: client.id, topic, qos, properties: Object.fromEntries(given) };
        }),
        fenceOf(client),
      );
    },

    async removeSubscriptions(client: ClientId, topics: string[]): Promise<void> {
      await sessions.unsubscribe(
        client.id,
        topics.filter((topic) => allows(client.id, topic)),
        fenceOf(client),
      );
    },

    async subscriptionsByClient(client: ClientId): Promise<Subscription[]> {
      const present = resumed.delete(client.id);
      const stored = await sessions.subscriptionsOf(client.id);
      return stored.length === 0 && present ? [{ topic: SESSION_MARKER, qos: 0 }] : stored.map(toSubscription);
    },

    async countOffline(): Promise<{ subsCount: number; clientsCount: number }> {
      const { subscriptions, clients } = await sessions.countSubscriptions();
      return { subsCount: subscriptions, clientsCount: clients };
    },

    async subscriptionsByTopic(topic: string): Promise<(Subscription & { clientId: string })[]> {
      if (!forwards) return [];
      const stored = await sessions.subscriptionsTo(topic);
      return stored.map((subscription) => ({ ...toSubscription(subscription), clientId: subscription.clientId }));
    },

    cleanSubscriptions: (client: ClientId): Promise<void> => sessions.end(client.id, fenceOf(client)),

    getClientList: (topic: string): Readable =>
      Readable.from(
        (async function* () {
          yield* await sessions.clientsSubscribedTo(topic);
        })(),
      ),

    /** What is stored for a device of QoS 2 and not released: whether this identifier, and how many. */
    incoming: sessions.countIncoming,

    async incomingStorePacket(client: ClientId, packet: Packet): Promise<void> {
      const { length: _, ...fields } = packet; // of the wire, not of the message
      const stored = toStored(client.id, fields);
      const kept = await sessions.keepIncoming(packet.messageId ?? 0, stored, MOST_UNRELEASED, fenceOf(client));
      if (!kept) throw new Error('too many messages of QoS 2 without PUBREL');
    },

    async incomingGetPacket(client: ClientId, packet: Packet): Promise<Packet> {
      const stored = await sessions.findIncoming(client.id, packet.messageId ?? 0);
      if (!stored) throw new Error('no such packet');
      return fromStored(stored);
    },

    async incomingDelPacket(client: Client, packet: Packet): Promise<void> {
      const deleted = await sessions.releaseIncoming(client.id, packet.messageId ?? 0, fenceOf(client));
      if (!deleted) throw new Error('no such packet');
      released?.(client, packet.messageId ?? 0);
    },

    async cleanIncoming(client: ClientId): Promise<void> {
      if (isLoggedIn(client)) await sessions.forgetIncoming(client.id, fenceOf(client));
    },

    async putWill(client: ClientId, packet: Packet): Promise<void> {
      packet.brokerId = ownId();
      packet['clientId'] = client.id;
      await sessions.keepWill(packet.brokerId, toStored(client.id, packet), fenceOf(client));
    },

    async getWill(client: ClientId): Promise<Packet | undefined> {
      const stored = await sessions.findWill(client.id);
      return stored && fromStored(stored);
    },

    async delWill(client: ClientId): Promise<Packet | undefined> {
      try {
        const stored = await sessions.takeWill(client.id, nodeId?.());
        return stored && fromStored(stored);
      } catch (error) {
        // Nobody catches it in Aedes, and it would end the process. A will that stays is that of a connection that ended.
        if (isDatabaseAway(error)) return undefined;
        throw error;
      }
    },

    streamWill: (brokers: Record<string, unknown> = {}): Readable => Readable.from(nodeId ? [] : wills(brokers)),

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
