import { Aedes, type Client, type Subscription } from 'aedes';
import type { Clock } from '../clock.ts';
import type { Contracts } from '../contracts/contracts.ts';
import type { Database } from '../database/sql.ts';
import type { Presence } from '../devices/presence.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import { createLogLimit } from '../log-limit.ts';
import type { Metrics } from '../metrics.ts';
import type { DeviceLink } from '../outbox/outbox.ts';
import { createTokenBuckets } from '../token-buckets.ts';
import { createAuthentication } from './authentication.ts';
import { createInbound, type Handlers } from './inbound.ts';
import { createListeners } from './listeners.ts';
import { createOutbound } from './outbound.ts';
import { createPersistence, SESSION_MARKER } from './persistence.ts';
import { isInbound, outboundKind, topicOf } from './topics.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  authenticate(deviceId: string, credential: Buffer): Promise<boolean>;
  /** Whether there is such a device: what a certificate says besides must be so. */
  isRegistered(deviceId: string): Promise<boolean>;
  contracts: Pick<Contracts, 'read' | 'accepts'>;
  handlers: Handlers;
  /** A device is connected and subscribes its commands; the returned function is called when that ends. */
  open(link: DeviceLink): () => void;
  presence: Pick<Presence, 'heard' | 'left'>;
  maxConnections: number;
  /** LAPEL_DEVICE_RATE_LIMIT: messages per second and device. */
  messageRate: number;
}

// A device that does not read is cut off after this time; until then the publishes to it wait, nobody else's.
const STUCK_READER_MILLISECONDS = 5_000;
const CONNECT_MILLISECONDS = 10_000;
const INBOUND_QOS2 = 100;

/** The MQTT edge: Aedes with the access rules, the sessions and the order of things that the promises need. */
export async function createBroker(parts: Parts) {
  const { database, clock, ids, log, metrics, authenticate, handlers, open, presence, maxConnections } = parts;
  const id = ids.uuid();
  const outbound = createOutbound(id);
  const persistence = createPersistence({
    database,
    clock,
    outbound,
    allows: (clientId, topic) => outboundKind(clientId, topic) !== undefined,
    isForwarded: (topic) => !isInbound(topic),
  });
  const authenticated = new WeakSet<Client>();
  const authentication = createAuthentication({
    log,
    metrics,
    authenticate,
    isRegistered: parts.isRegistered,
    certifiedName: (client) => listeners.certifiedName(client),
    openSession: persistence.openSession,
    accepted: (client) => authenticated.add(client),
  });
  function sendAnswer(client: Client, kind: 'responses' | 'errors', answer: object): void {
    const sent = outbound.answer(client, topicOf(client.id, kind), JSON.stringify(answer));
    if (!sent) metrics.mqttRefused.inc({ reason: 'answers' });
  }
  const inbound = createInbound({
    contracts: parts.contracts,
    rate: createTokenBuckets({ clock, perSecond: parts.messageRate }),
    log,
    logLimit: createLogLimit({ clock }),
    metrics,
    handlers,
    respond: (client, answer) => sendAnswer(client, 'responses', answer),
    reject: (client, answer) => sendAnswer(client, 'errors', answer),
  });

  const broker = await Aedes.createBroker({
    id,
    persistence,
    concurrency: 10_000,
    drainTimeout: STUCK_READER_MILLISECONDS,
    connectTimeout: CONNECT_MILLISECONDS,
    maxInflightInbound: INBOUND_QOS2,
    preConnect: authentication.preConnect,
    authenticate: authentication.authenticate,
    authorizePublish: inbound.authorizePublish,
    authorizeSubscribe(client, subscription, callback) {
      const restored = !client.connected && subscription.topic === SESSION_MARKER;
      const allowed = restored || outboundKind(client.id, subscription.topic) !== undefined;
      if (!allowed) metrics.mqttRefused.inc({ reason: 'subscribe' });
      callback(null, allowed ? subscription : null); // null: 0x80 in the SUBACK
    },
    authorizeForward: (client, packet) => (outboundKind(client.id, packet.topic) ? packet : null),
  });

  const ready = new Set<Client>();
  const lanes = new Map<Client, () => void>();
  function openLane(client: Client): void {
    const topic = topicOf(client.id, 'commands');
    if (lanes.has(client) || client.closed || !client.connected) return;
    const close = open({
      deviceId: client.id,
      publish: (command, acknowledged) => outbound.publish(client, topic, JSON.stringify(command), acknowledged),
    });
    lanes.set(client, close);
  }
  function closeLane(client: Client): void {
    lanes.get(client)?.();
    lanes.delete(client);
  }
  const isCommands = (client: Client, topic: string): boolean => outboundKind(client.id, topic) === 'commands';

  broker.on('clientReady', (client) => {
    authentication.ready(client);
    if (client.closed) return;
    ready.add(client);
    presence.heard(client.id);
    metrics.devicesConnected.set(ready.size);
    log.debug({ deviceId: client.id, clean: client.clean }, 'device connected');
    const topics = Object.keys((client as unknown as { subscriptions: Record<string, unknown> }).subscriptions);
    if (topics.some((topic) => isCommands(client, topic))) openLane(client);
  });
  broker.on('subscribe', (subscriptions: Subscription[], client) => {
    const granted = subscriptions.some(({ topic, qos }) => isCommands(client, topic) && (qos as number) !== 0x80);
    if (granted) openLane(client);
  });
  broker.on('unsubscribe', (topics, client) => {
    if (topics.some((topic) => isCommands(client, topic))) closeLane(client);
  });
  broker.on('clientDisconnect', (client) => {
    closeLane(client);
    ready.delete(client);
    presence.left(client.id);
    metrics.devicesConnected.set(ready.size);
    log.debug({ deviceId: client.id }, 'device disconnected');
  });
  broker.on('clientError', (client, err) =>
    log.debug({ deviceId: client.id, reason: err.message }, 'connection ended'),
  );
  broker.on('connectionError', (_client, err) => log.debug({ reason: err.message }, 'connection ended before login'));
  (broker as unknown as NodeJS.EventEmitter).on('error', (err: Error) => log.error({ err }, 'broker error'));

  const listeners = createListeners({
    broker,
    metrics,
    maxConnections,
    isAuthenticated: (client) => authenticated.has(client),
    heard: presence.heard,
  });

  return {
    listenTcp: listeners.listenTcp,
    listenTls: listeners.listenTls,
    listenWebSocket: listeners.listenWebSocket,

    /**
     * Closes the device's connection, if it has one: its credential stopped, or it was removed or moved; then nothing
     * more is taken of it, its will included.
     */
    disconnect(deviceId: string, will: 'kept' | 'dropped'): void {
      authentication
        .disconnect(broker, deviceId, will)
        .catch((err: unknown) => log.error({ err }, 'disconnect failed'));
    },

    /** True while the device has a connection. */
    isConnected: (deviceId: string): boolean =>
      (broker as unknown as { clients: Record<string, Client | undefined> }).clients[deviceId] !== undefined,

    idle: inbound.idle,

    /** No further connections; what is in work is acknowledged; then all connections end. Their wills stay stored. */
    async [Symbol.asyncDispose](): Promise<void> {
      listeners.stop();
      await inbound.idle();
      const { clients } = broker as unknown as { clients: Record<string, Client & { will: unknown }> };
      for (const client of Object.values(clients)) client.will = null; // broker.close() would publish them all
      await new Promise<void>((resolve) => broker.close(() => resolve()));
      listeners.destroy();
      await inbound.idle();
    },
  };
}
