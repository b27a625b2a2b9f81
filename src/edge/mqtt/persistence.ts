// The store that Aedes uses for subscriptions, inbound QoS 2 packets and wills. It passes the abstract test suite of
// Aedes, except for these tests, on purpose:
// - Outgoing packets: the table of transactions is the only queue to devices. A second queue would make duplicates, and
// that of Aedes has no bound. So nothing is enqueued, and the functions for outgoing packets only match PUBACKs with
// publishes.
// - Retained messages: devices may not retain messages, and the service retains none.
// - Subscriptions with wildcards (two tests): devices may not use wildcards.
import { Readable } from 'node:stream';
import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Client } from 'aedes';
import type { Sessions, SessionTerms, StoredPacket, StoredSubscription } from '../../core/sessions/sessions.ts';
import type { Seen, Standing } from '../../core/sessions/takeover.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';

type ClientId = Pick<Client, 'id'>;
type Packet = Record<string, unknown> & { messageId?: number; payload?: Buffer | string; brokerId?: string };
type Subscription = { topic: string; qos: number } & Record<string, unknown>;

interface Parts {
  sessions: Sessions;
  /**
   * Whether a device may subscribe to a topic. This was checked before, but Aedes stores all filters of a SUBSCRIBE,
   * also refused ones.
   */
  allows(clientId: string, topic: string, qos: number): boolean;
  /** Called when a QoS 2 message was deleted, because its PUBREL has arrived. */
  released?(client: Client, messageId: number): void;
  /**
   * False when messages of devices are never forwarded. Aedes asks for the subscribers of every message; then the
   * answer is empty, without a lookup.
   */
  forwards?: boolean;
  /**
   * In a cluster: the name of this node, under which its wills are stored. Then `src/core/sessions/orphaned-wills.ts`
   * finds the wills of dead nodes, and not Aedes.
   */
  nodeId?: (() => string) | undefined;
  /**
   * False for a connection that has not proved its identity. Aedes would end the session that such a connection has
   * claimed.
   */
  isLoggedIn?(client: object): boolean;
  /** Seconds after the end of a connection in which its will is due; null: at once. */
  willDelayOf?(client: object): number | null;
  /** In a cluster: the check that makes a write of a connection fail when the device has a newer connection. */
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
  const { sessions, allows, released, forwards = true, nodeId } = parts;
  const { isLoggedIn = () => true, fenceOf = () => undefined, willDelayOf = () => null } = parts;
  let broker = { id: '' };
  const ownId = (): string => nodeId?.() ?? broker.id;

  /** False once no will of an earlier process is left: a process that is alone stores its own only. */
  let areOthersLeft = true;
  async function* wills(brokers: Record<string, unknown>): AsyncGenerator<Packet> {
    if (!areOthersLeft) return;
    const own = brokers[broker.id] ? broker.id : undefined;
    let found = 0;
    for await (const will of sessions.wills(own)) {
      found += 1;
      if (!brokers[will.brokerId]) yield fromStored(will);
    }
    areOthersLeft = own === undefined || found > 0;
  }

  return {
    /**
     * Called before the CONNACK of a persistent session. Resolves to the result of `standing`; if that is not `good`,
     * nothing is done. Aedes tells a session as present when it holds a subscription.
     */
    openSession: (
      clientId: string,
      terms: SessionTerms,
      standing: (sql: Seen) => Promise<Standing>,
    ): Promise<Standing> => sessions.open(clientId, terms, standing),

    async setup(owner: { id: string }): Promise<void> {
      broker = owner;
    },

    async addSubscriptions(client: ClientId, subscriptions: Subscription[]): Promise<void> {
      const allowed = subscriptions.filter(({ topic, qos }) => allows(client.id, topic, qos));
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
        topics.filter((topic) => allows(client.id, topic, 1)),
        fenceOf(client),
      );
    },

    async subscriptionsByClient(client: ClientId): Promise<Subscription[]> {
      return (await sessions.subscriptionsOf(client.id)).map(toSubscription);
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

    /** The identifiers of the QoS 2 messages of a device whose PUBREL has not arrived. */
    incomingIds: sessions.incomingIds,

    async incomingStorePacket(client: ClientId, packet: Packet): Promise<void> {
      const { length: _, ...fields } = packet; // the length belongs to the packet on the wire, and not to the message
      const stored = toStored(client.id, fields);
      await sessions.keepIncoming(packet.messageId ?? 0, stored, fenceOf(client));
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
      const will = { ...toStored(client.id, packet), delaySeconds: willDelayOf(client) };
      await sessions.keepWill(packet.brokerId, will, fenceOf(client));
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
        // Aedes does not catch this error, so it would end the process. The will then stays stored, as if the connection
        // had ended without a DISCONNECT.
        if (isDatabaseAway(error)) return undefined;
        throw error;
      }
    },

    streamWill: (brokers: Record<string, unknown> = {}): Readable => Readable.from(nodeId ? [] : wills(brokers)),

    // Nothing is enqueued or retained, for the reasons at the top of this file.
    async outgoingEnqueue(): Promise<void> {},
    async outgoingEnqueueCombi(): Promise<void> {},
    async outgoingUpdate(): Promise<void> {},
    async outgoingClearMessageId(): Promise<undefined> {},
    outgoingStream: (): Readable => Readable.from([]),
    async storeRetained(): Promise<void> {},
    createRetainedStream: (): Readable => Readable.from([]),
    createRetainedStreamCombi: (): Readable => Readable.from([]),

    async destroy(): Promise<void> {},
  };
}
