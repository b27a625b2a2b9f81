// All uses of parts of Aedes that its documentation does not describe, as found in the code of aedes 1.2.0 and
// mqtt-packet 9.0.2. Check this file first when either package is updated. No other file may cast an object of Aedes.
import type { Duplex } from 'node:stream';
import type { Aedes, Client, PublishPacket, SubscribePacket, UnsubscribePacket } from 'aedes';
import type { Puback } from './packet-bytes.ts';

/** A packet that Aedes has parsed. */
export type Packet =
  | PublishPacket
  | SubscribePacket
  | UnsubscribePacket
  | Puback
  | { cmd: 'pingreq' }
  | { cmd: 'disconnect' };

interface InnerClient {
  conn: Duplex;
  subscriptions: Record<string, { qos: number } | undefined>;
  will: unknown;
  clean: boolean;
  closed: boolean;
  resume(): void;
  _authorized: boolean;
  _keepaliveInterval: number;
  waitForDrain(written: (error?: Error | null) => void): void;
  version: number;
  _nextBatch: (error?: Error | null) => void;
  _parser: {
    parse(bytes: Buffer): number;
    listeners(event: 'packet'): ((packet: Packet) => void)[];
    removeAllListeners(event: 'packet'): void;
    on(event: 'packet', listener: (packet: Packet) => void): void;
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

/** Listens to errors of the broker itself; without a listener they would end the process. */
export const onBrokerError = (broker: Aedes, listener: (error: Error) => void): void =>
  ofBroker(broker).on('error', listener);

/** The client that Aedes has registered under an identifier; its connection may be closing. */
export const registeredClient = (broker: Aedes, clientId: string): Client | undefined =>
  ofBroker(broker).clients[clientId];

/** All clients that Aedes has registered. */
export const registeredClients = (broker: Aedes): Client[] =>
  Object.values(ofBroker(broker).clients).filter((client) => client !== undefined);

/** The subscriptions of a client, by topic filter. */
export const subscriptionsOf = (client: Client): Record<string, { qos: number } | undefined> =>
  ofClient(client).subscriptions;

/** True when the client has proved its identity. */
export const isLoggedIn = (client: object): boolean => ofClient(client as Client)._authorized;

/**
 * Two values of a client's CONNECT. The keep-alive interval: seconds without a packet after which the client is
 * considered dead; 0 for never. The level: the number of the protocol version.
 */
export function connectOf(client: Client): { keepAliveSeconds: number; level: number } {
  const { _keepaliveInterval: interval, version: level } = ofClient(client);
  return { keepAliveSeconds: Math.max(0, Math.floor(interval / KEEPALIVE_MILLISECONDS)), level };
}
// Aedes stores one and a half keep-alive intervals [MQTT-3.1.2-24] in milliseconds: 1,500 for each second.
const KEEPALIVE_MILLISECONDS = 1_500;

// True when the CONNECT of the client had a will.
export const hasWill = (client: Client): boolean => Boolean(ofClient(client).will);

/** Removes the will of a client, so that closing its connection does not publish it. */
export function dropWill(client: Client): void {
  ofClient(client).will = null;
}

const ignored = (): void => undefined;

/** Lets the will of a client be published when its connection ends, also after its DISCONNECT. */
export function keepWill(client: Client): void {
  Object.defineProperty(ofClient(client), '_disconnected', { get: () => false, set: ignored });
}

/** Makes the session of a client end with its connection. */
export function makeClean(client: Client): void {
  ofClient(client).clean = true;
}

/**
 * Writes a packet to the connection of a client, without Aedes, which makes several copies and writes of a packet.
 * `written` is called when it was written, or with an error when the client does not read: Aedes then ends the
 * connection, as after its own writes.
 */
export function writePacket(client: Client, bytes: Buffer, written: (error?: Error | null) => void): void {
  const inner = ofClient(client);
  if (!inner.conn.writable) setImmediate(written, new Error('the connection is closed'));
  else if (inner.conn.write(bytes)) setImmediate(written);
  else inner.waitForDrain(written);
}

/** The most levels of a topic that Aedes accepts; it ends the connection for a topic with more. */
const DEEPEST_TOPIC = 100;

/** Aedes would end the connection for a topic with too many levels. The shortened one is dropped as a foreign topic. */
export function limitLevels(packet: PublishPacket): void {
  if (packet.topic.length > DEEPEST_TOPIC) packet.topic = packet.topic.split('/', DEEPEST_TOPIC).join('/');
}

/** Milliseconds after the end of a keep-alive interval in which packets that came before it are still read. */
const LISTENS_ON_MS = 100;

interface Reading {
  /** Called when the connection has data to read. */
  readable(): void;
  /** Called before Aedes carries out a packet. */
  packet(packet: Packet): void;
  /** Called when Aedes has finished a packet; for a CONNECT, when the login has ended. */
  done(error?: Error | null): void;
  /** Called when the packets after the CONNECT may be passed on. */
  connected(): void;
  /** Called when no packet has arrived for one and a half keep-alive intervals [MQTT-3.1.2-24]. */
  silent(): void;
}

interface TakenReading {
  /**
   * Passes the bytes of a whole packet to Aedes, which begins to carry it out before `feed` returns. So packets that
   * the caller carries out itself keep their order with these.
   */
  feed(bytes: Buffer): void;
  /** Begins the keep-alive interval of the client again, because a packet has arrived [MQTT-3.1.2-24]. */
  keepAlive(): void;
  /** Closes the connection at once. */
  fail(error: Error): void;
}

/**
 * Replaces what Aedes does when the keep-alive interval has ended, and returns the function that begins the interval
 * again. A process that stood still for that long (a machine that was suspended) has not read what came meanwhile:
 * timers run before sockets are read, and the first turn of the event loop after a stop may read only some of them. So
 * it listens a moment longer. Aedes counts from the CONNECT, but reads no packet until the login has ended; so the
 * interval begins with the end of the login, however long the store took for it.
 */
function takeKeepAlive(inner: InnerClient, silent: () => void): () => void {
  /** Whether a packet has arrived since the interval ended. */
  let isAlive = false;
  let timer: NodeJS.Timeout | null = null;
  const ended = (): void => {
    isAlive = false;
    setTimeout(() => {
      if (inner.closed) return;
      if (isAlive || inner.conn.readableLength > 0) timer?.refresh();
      else silent();
    }, LISTENS_ON_MS).unref();
  };
  Object.defineProperty(inner, '_keepaliveTimer', {
    get: () => timer,
    set(ofAedes: NodeJS.Timeout | null) {
      if (ofAedes) clearTimeout(ofAedes);
      else timer = null; // the connection ends, and Aedes has stopped the timer
    },
  });
  inner.on('connected', () => {
    if (inner._keepaliveInterval > 0 && !inner.closed) timer = setTimeout(ended, inner._keepaliveInterval);
  });
  return () => {
    isAlive = true;
    timer?.refresh();
  };
}

/**
 * Replaces the reading loop of Aedes, which parses packets in every state of the connection. The caller passes packets
 * to the parser of Aedes with `feed`.
 */
export function takeReading(client: Client, on: Reading): TakenReading {
  const inner = ofClient(client);
  const parser = inner._parser;
  const carryOut = parser.listeners('packet');
  inner.conn.removeListener('readable', inner._nextBatch);
  inner.conn.on('readable', on.readable);
  inner._parsingBatch = 0; // makes Aedes handle the first packet instead of queueing it
  inner._nextBatch = on.done;
  inner.resume = () => undefined; // Aedes would continue to read after the login
  parser.removeAllListeners('packet');
  parser.on('packet', (packet) => {
    on.packet(packet);
    for (const listener of carryOut) listener.call(parser, packet);
  });
  const keepAlive = takeKeepAlive(inner, on.silent); // before the packets that wait for the login are read
  inner.on('connected', on.connected);
  return {
    feed: (bytes) => {
      parser.parse(bytes);
    },
    keepAlive,
    fail: (error) => {
      inner.emit('error', error);
    },
  };
}

/**
 * Corrects two faults in how Aedes registers clients:
 * 1. Aedes registers a client even if its connection has ended during the login. Here `abandoned` is called instead.
 * 2. At its end, a client that is not or no longer registered would remove a newer client with the same identifier.
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
    else inner.emit('clientDisconnect', client); // a newer connection is registered already
  };
}
