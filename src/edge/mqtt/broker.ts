import type { Duplex } from 'node:stream';
import { Aedes, type Client } from 'aedes';
import type { SessionTerms, StoredPacket } from '../../core/sessions/sessions.ts';
import { readRevoked } from '../../platform/entrance/revoked.ts';
import type { TlsFiles } from '../../platform/entrance/tls-files.ts';
import { createLogLimit } from '../../runtime/log-limit.ts';
import { BURST_SECONDS, createTokenBuckets } from '../../runtime/token-buckets.ts';
import {
  dropWill,
  guardRegistration,
  hasWill,
  isLoggedIn,
  registeredClient,
  registeredClients,
  subscriptionsOf,
} from './aedes-internals.ts';
import { createAuthentication } from './authentication.ts';
import type { BrokerParts } from './broker-parts.ts';
import { createConnections } from './connections.ts';
import { createContestedIdentities } from './contested-identities.ts';
import { createDeafConnections } from './deaf-connections.ts';
import { createDeviceConnections, type Origin } from './device-connections.ts';
import { createDeviceEpochs } from './device-epochs.ts';
import { createExactlyOnce, MOST_UNRELEASED } from './exactly-once.ts';
import { createFront } from './five/front.ts';
import { followClients } from './follow-clients.ts';
import { ACKS_AT_ONCE, createInbound } from './inbound.ts';
import { createListeners } from './listeners.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { createLoginTurns, HANDSHAKES, LOGINS } from './login-turns.ts';
import { createOpenLinks } from './opened-links.ts';
import { createOutbound } from './outbound.ts';
import { createPacketGuard } from './packet-guard.ts';
import { createPersistence, fromStored } from './persistence.ts';
import { createSubacks } from './suback.ts';
import { isGranted, isUsable, topicOf } from './topics.ts';
import { createWaitingMessages } from './waiting-messages.ts';

// A device that does not read is disconnected after this many milliseconds. Until then publishes to this device wait;
// publishes to other devices do not.
const STUCK_READER_MILLISECONDS = 5_000;

export type Broker = Awaited<ReturnType<typeof createBroker>>;

/**
 * Creates the MQTT broker: Aedes with our access rules and stored sessions. Messages are processed in the order that
 * the promises to devices and callers need, such as "stored before PUBACK".
 */
export async function createBroker(parts: BrokerParts) {
  const { sessions, clock, ids, log, metrics, watch, authenticate, handlers, open, presence, messageRate } = parts;
  const outbound = createOutbound({ watch, ownerOf: parts.ownerOf, mannerOf: (client) => front.of(client)?.manner });
  const persistence = createPersistence({
    sessions,
    allows: isGranted,
    released: (client, messageId) => exactlyOnce.released(client, messageId),
    forwards: false,
    nodeId: parts.nodeId,
    isLoggedIn,
    willDelayOf: (client) => front.willDelayOf(client as Client),
    fenceOf: (client) => epochs.of(client)?.fence,
  });
  const { takeover } = parts;
  const termsOf = (client: Client): SessionTerms => ({
    isUsable: front.isNew(client) ? () => false : isUsable,
    expirySeconds: front.expiryOf(client),
  });
  const epochs = createDeviceEpochs({
    takeover,
    carryOut: (will) => void inbound.carryOutWill(fromStored(will)),
    termsOf,
    leaves: (client) => devices.because(client, 'elsewhere'),
  });
  const logLimit = createLogLimit({ clock });
  const throttle = createLoginThrottle({ clock, log, logLimit, metrics });
  const devices = createDeviceConnections({
    clock,
    log,
    metrics,
    watch,
    presence,
    connectionLog: parts.connectionLog,
    contested: createContestedIdentities({ clock, log, metrics }),
    deafSince: (client) => deaf.since(client),
    ends: (client, reason, detail) => front.ends(client, reason, detail),
    isFive: (client) => front.of(client) !== undefined,
    registered: (deviceId) => registeredClient(broker, deviceId),
  });
  const deaf = createDeafConnections({
    clock,
    log,
    logLimit,
    metrics,
    hearsCommands: (client) => subscriptionsOf(client)[topicOf(client.id, 'commands')] !== undefined,
    ownerOf: parts.ownerOf,
  });
  const authentication = createAuthentication({
    clock,
    log,
    metrics,
    authenticate,
    certificateOf: (client) => devices.originOf(client)?.certificate,
    async openSession(client, standing) {
      const found = await persistence.openSession(client.id, termsOf(client), standing);
      if (found === 'good') parts.delayedWills.isBack(client.id);
      return found;
    },
    enter: takeover && epochs.enter,
    turn: createLoginTurns({ commands: parts.commands, pace: LOGINS }).wait,
    ending: (client, reason) => devices.because(client, reason),
    async throttle(client, deviceId, reason) {
      const { accepted, transport = '' } = devices.originOf(client) ?? {};
      accepted?.refused();
      if (deviceId !== undefined && reason !== 'client_id' && reason !== 'unavailable')
        parts.connectionLog.refused(deviceId, reason, { address: accepted?.remoteAddress ?? '', transport });
      await throttle.refused(accepted?.address ?? '', deviceId, reason);
    },
    refuse: (client, code) => devices.originOf(client)?.guarded.refuse(code),
  });
  const subacks = createSubacks();
  function sendAnswer(client: Client, kind: 'responses' | 'errors', answer: object): void {
    const payload = JSON.stringify(answer);
    const topic = topicOf(client.id, kind);
    const sent = front.of(client)?.fits(topic, () => payload) !== false && outbound.answer(client, topic, payload);
    if (!sent) metrics.mqttRefused.inc({ reason: 'answers' });
  }
  const exactlyOnce = createExactlyOnce({
    log,
    logLimit: (key, deviceId) => logLimit(key, parts.ownerOf(deviceId)),
    metrics,
    storedIds: persistence.incomingIds,
  });
  const waitingMessages = createWaitingMessages({ clock, log, logLimit });
  const inbound = createInbound({
    exactlyOnce,
    waitingMessages,
    contracts: parts.contracts,
    rate: createTokenBuckets({ clock, perSecond: messageRate }),
    ackRate: createTokenBuckets({ clock, perSecond: messageRate, size: messageRate * BURST_SECONDS + ACKS_AT_ONCE }),
    log,
    logLimit: createLogLimit({ clock }),
    metrics,
    watch,
    handlers,
    ownerOf: parts.ownerOf,
    fenceOf: (client) => epochs.of(client)?.fence,
    respond: (client, answer) => sendAnswer(client, 'responses', answer),
    reject: (client, answer) => sendAnswer(client, 'errors', answer),
    told: (client, packet, told) => front.told(client, packet, told),
    refusesAlone: (client) => front.of(client) !== undefined,
  });
  const front = createFront({
    clock,
    log,
    published: inbound.authorizePublish,
    released: exactlyOnce.released,
    ended: (client, end) => parts.delayedWills.ended({ deviceId: client.id, ...end, fence: epochs.of(client)?.fence }),
    endSession: (client) => sessions.end(client.id, epochs.of(client)?.fence),
    detachSession: (client) => sessions.detach(client.id, epochs.of(client)?.fence),
  });

  const broker = await Aedes.createBroker({
    id: ids.uuid(),
    persistence,
    concurrency: 10_000,
    drainTimeout: STUCK_READER_MILLISECONDS,
    maxInflightInbound: MOST_UNRELEASED,
    preConnect: authentication.preConnect,
    authenticate: authentication.authenticate,
    authorizePublish: front.published,
    authorizeSubscribe(client, subscription, callback) {
      // Aedes restores a session even after the connection has ended, and then waits for ever; an error stops it.
      if (client.closed) return callback(new Error('the connection has ended'));
      const allowed = isGranted(client.id, subscription.topic, subscription.qos);
      if (!allowed) metrics.mqttRefused.inc({ reason: 'subscribe' });
      callback(null, allowed ? subscription : null); // null makes Aedes answer 0x80 (failure) in the SUBACK
    },
    // A message of a device is for the service alone, so Aedes forwards none to other devices. The service writes its own messages without
    // Aedes.
    authorizeForward: () => null,
  });
  guardRegistration(broker, (client) => {
    if (hasWill(client))
      persistence.delWill(client).catch((err: unknown) => log.error({ err }, 'a will could not be deleted'));
  });

  const openLinks = createOpenLinks({
    commands: (client) =>
      open(
        front.commandsOf(client, {
          deviceId: client.id,
          epoch: epochs.of(client)?.epoch,
          publish(command, acknowledged, written, _due, about) {
            inbound.sent(client.id);
            const payload = JSON.stringify(command);
            outbound.publish(client, topicOf(client.id, 'commands'), payload, acknowledged, written, about);
          },
        }),
      ),
    responses: (client) =>
      parts.openResponses(
        front.responsesOf(client, {
          deviceId: client.id,
          respond: (payload, acknowledged) =>
            outbound.publish(client, topicOf(client.id, 'responses'), payload, acknowledged),
        }),
      ),
  });

  followClients({
    broker,
    log,
    devices,
    openLinks,
    deaf,
    ready: front.ready,
    left(client) {
      if ((registeredClient(broker, client.id) ?? client) === client) front.left(client);
    },
    subacks,
  });

  const guard = createPacketGuard({
    clock,
    log,
    logLimit,
    metrics,
    messageRate,
    ownerOf: parts.ownerOf,
    heard: presence.heard,
    isWithinRate: inbound.isWithinRate,
    subscribes: subacks.prepare,
    awaitsPuback: outbound.awaits,
    five: parts.speaksFive ? front : undefined,
    unknownVersion(client, deviceId) {
      const { accepted, transport = '' } = devices.originOf(client) ?? {};
      parts.connectionLog.refused(deviceId, 'protocol_version', { address: accepted?.remoteAddress ?? '', transport });
    },
    isTaken: exactlyOnce.isTaken,
    acknowledged: outbound.acknowledged,
    published: inbound.authorizePublish,
    loginEnded: authentication.loginEnded,
    silent: (client) => devices.because(client, 'keep_alive'),
    disconnects(client) {
      devices.because(client, 'disconnected');
      front.disconnects(client);
    },
    ending(client, reason) {
      devices.because(client, 'protocol', reason);
      openLinks.close(client);
      devices.leaves(client);
    },
  });
  function handle(connection: Duplex, from: Omit<Origin, 'guarded'>): void {
    const client = broker.handle(connection);
    devices.opened(client, { ...from, guarded: guard(client, connection, from.accepted) });
  }
  const connections = createConnections({
    clock,
    log,
    logLimit,
    metrics,
    most: parts.maxConnections,
    perAddress: parts.addressLogins,
    loginSeconds: parts.loginSeconds,
    trusted: parts.proxies?.trusted,
  });
  const listeners = createListeners({
    log,
    logLimit,
    metrics,
    connections,
    loginSeconds: parts.loginSeconds,
    turn: createLoginTurns({ commands: parts.commands, pace: HANDSHAKES }).wait,
    gateOf: parts.gateOf ?? (() => undefined),
    proxies: parts.proxies,
    names: parts.names,
    deviceCertificates: parts.deviceCertificates,
    ownerOf: parts.ownerOf,
    handle,
  });

  return {
    listenTcp: listeners.listenTcp,
    listenTls: listeners.listenTls,
    listenWebSocket: listeners.listenWebSocket,

    /**
     * Closes the connection of a device, if there is one, because the device or its credential may no longer connect.
     * The will of the connection is published, or dropped.
     */
    disconnect(deviceId: string, will: 'kept' | 'dropped'): void {
      authentication
        .disconnect(broker, deviceId, will)
        .catch((err: unknown) => log.error({ err }, 'a device could not be disconnected'));
    },

    /** True while the device has an open connection. */
    isConnected: (deviceId: string): boolean => devices.live(deviceId) !== undefined,

    /**
     * True when a device is connected, no publish to it waits for a PUBACK, and none of its messages waits for the
     * database.
     */
    isQuiet(deviceId: string): boolean {
      const client = devices.live(deviceId);
      return client !== undefined && devices.isReady(client) && outbound.isEmpty(client) && !inbound.hasWaiting(client);
    },

    connectedCount: devices.count,
    connectedIds: devices.ids,
    connectionOf: devices.describe,

    /**
     * Carries out the stored will of a connection that ended on another node. Resolves afterwards, even when that
     * failed.
     */
    carryOutWill: (will: StoredPacket): Promise<void> => inbound.carryOutWill(fromStored(will)),

    /** Disconnects devices that are connected with a certificate that these files revoke. */
    endRevoked(files: TlsFiles): void {
      const revoked = files.clientCrl && readRevoked(files.clientCrl);
      for (const client of registeredClients(broker)) {
        const certificate = devices.originOf(client)?.certificate;
        if (!certificate?.isTrusted || !revoked?.has(certificate)) continue;
        devices.because(client, 'revoked');
        client.close();
      }
    },

    idle: inbound.idle,

    /**
     * Stops accepting connections, acknowledges the messages in work, then ends all connections. Their wills stay
     * stored, so that the next start, or another node, publishes them.
     */
    async [Symbol.asyncDispose](): Promise<void> {
      listeners.stop();
      waitingMessages.end();
      await inbound.idle();
      devices.stopping();
      for (const client of registeredClients(broker)) {
        dropWill(client); // broker.close() would publish all wills
        front.stops(client, takeover !== undefined);
      }
      await new Promise<void>((resolve) => broker.close(() => resolve()));
      connections.destroy();
      await inbound.idle();
    },
  };
}
