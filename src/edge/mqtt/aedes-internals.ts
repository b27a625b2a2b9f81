// All that the service uses of Aedes besides its documented interface, as read in aedes 1.2.0 and mqtt-packet 9.0.2. Look
// here first when either is updated; nobody else casts an object of Aedes.
import type { Duplex } from 'node:stream';
import type { Aedes, AedesPublishPacket, Client, PublishPacket, SubscribePacket, UnsubscribePacket } from 'aedes';

/** A packet of a client, as parsed. */
export type Packet = PublishPacket | SubscribePacket | UnsubscribePacket | { cmd: 'pingreq' };

interface InnerClient {
  conn: Duplex;
  duplicates: object;
  subscriptions: Record<string, { qos: number } | undefined>;
  will: unknown;
  closed: boolean;
  resume(): void;
  _authorized: boolean;
  _keepaliveInterval: number;
  version: number;
  _nextBatch: (error?: Error | null) => void;
  _parser: {
    parse(bytes: Buffer): number;
    prependListener(event: 'packet', listener: (packet: Packet) => void): void;
  };
  _parsingBatch: number;
  emit(event: 'error', error: Error): boolean;
  on(event: 'connected', listener: () => void): void;
}

interface InnerBroker {
  clients: Record<string, Client | undefined>;
  registerClient(client: Client): void;
  unregisterClient(client: Client): void;
  emit(event: 'clientDisconnect', client: Client): boolean;
  on(event: 'error', listener: (error: Error) => void): void;
}

const ofClient = (client: Client): InnerClient => client as unknown as InnerClient;
const ofBroker = (broker: Aedes): InnerBroker => broker as unknown as InnerBroker;

/** Errors of the broker itself; without a listener they would end the process. */
export const onBrokerError = (broker: Aedes, listener: (error: Error) => void): void =>
  ofBroker(broker).on('error', listener);

/** The registered client of an identifier; it may be closing. */
export const registeredClient = (broker: Aedes, clientId: string): Client | undefined =>
  ofBroker(broker).clients[clientId];

/** Every registered client. */
export const registeredClients = (broker: Aedes): Client[] =>
  Object.values(ofBroker(broker).clients).filter((client) => client !== undefined);

/** What a client subscribes, by topic. */
export const subscriptionsOf = (client: Client): Record<string, { qos: number } | undefined> =>
  ofClient(client).subscriptions;

/** It has shown whose it is. */
export const isLoggedIn = (client: object): boolean => ofClient(client as Client)._authorized;

/** What a client said of itself in its CONNECT: seconds without a packet that it wants to be known by (0: none), and the level. */
export function connectOf(client: Client): { keepAliveSeconds: number; level: number } {
  const { _keepaliveInterval: interval, version: level } = ofClient(client);
  return { keepAliveSeconds: Math.max(0, Math.floor(interval / KEEPALIVE_MILLISECONDS)), level };
}
// What Aedes waits for each of them [MQTT-3.1.2-24].
const KEEPALIVE_MILLISECONDS = 1_500;

// Undefined when its CONNECT had none.
export const hasWill = (client: Client): boolean => Boolean(ofClient(client).will);

/** Takes the will away from a client: closing it publishes none. */
export function dropWill(client: Client): void {
  ofClient(client).will = null;
}

/**
 * Aedes drops a packet whose counter is below the last one delivered of the same broker. Ours go out in order and once,
 * and carry their own numbers in the counter (see publishNumbered).
 */
export function ignoreDuplicates(client: Client): void {
  ofClient(client).duplicates = new Proxy({}, { get: () => 0 });
}

// Aedes copies the counter of a publish that it is given into the packet that it forwards, and drops the identifier. Its
// own counters never come near this one.
const NUMBERED = 2 ** 40;

/** Publishes to one client with a packet identifier of our choice; 0 is QoS 0. `written` runs when it is on its way. */
export function publishNumbered(
  client: Client,
  packet: { topic: string; payload: string },
  messageId: number,
  written: (error?: Error) => void,
): void {
  const qos = messageId === 0 ? 0 : 1;
  const whole = { cmd: 'publish', ...packet, qos, retain: false, dup: false, brokerCounter: NUMBERED + messageId };
  client.publish(whole as Parameters<Client['publish']>[0], written);
}

/** In authorizeForward: gives the packet its number; false for a packet that publishNumbered has not made. */
export function takeNumber(packet: AedesPublishPacket): boolean {
  if (!(packet.brokerCounter >= NUMBERED)) return false;
  if (packet.qos > 0) packet.messageId = packet.brokerCounter - NUMBERED;
  return true;
}

/**
 * Takes reading over from Aedes, which reads on and parses whatever the state: `readable` runs when there is something
 * to read, `packet` before a packet that was fed is carried out, `done` at its end (of the CONNECT: at the end of the
 * login), `connected` when packets behind the CONNECT may be fed.
 */
export function takeReading(
  client: Client,
  on: { readable(): void; packet(packet: Packet): void; done(error?: Error | null): void; connected(): void },
): { feed(bytes: Buffer): void; fail(error: Error): void } {
  const inner = ofClient(client);
  inner.conn.removeListener('readable', inner._nextBatch);
  inner.conn.on('readable', on.readable);
  inner._parsingBatch = 0; // the first packet is handled, not queued
  inner._nextBatch = on.done;
  inner.resume = () => undefined; // reads on after the login
  inner._parser.prependListener('packet', on.packet);
  inner.on('connected', on.connected);
  return {
    feed: (bytes) => {
      inner._parser.parse(bytes);
    },
    fail: (error) => {
      inner.emit('error', error);
    },
  };
}

/**
 * A client whose connection ends while it logs in would be registered all the same, and one that is not registered (any
 * more) would unregister whoever is by its identifier. `abandoned` runs for the former.
 */
export function guardRegistration(broker: Aedes, abandoned: (client: Client) => void): void {
  const inner = ofBroker(broker);
  const register = inner.registerClient.bind(broker);
  const unregister = inner.unregisterClient.bind(broker);
  const counted = new WeakSet<Client>();
  inner.registerClient = (client) => {
    if (client.closed) return abandoned(client);
    counted.add(client);
    register(client);
  };
  inner.unregisterClient = (client) => {
    if (!counted.delete(client)) return;
    if (inner.clients[client.id] === client) unregister(client);
    else inner.emit('clientDisconnect', client); // its successor was quicker
  };
}
