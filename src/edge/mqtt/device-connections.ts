import type { Client } from 'aedes';
import type { ConnectionLog, OpenedConnection } from '../../core/sessions/connection-log.ts';
import type { EndReason } from '../../core/sessions/connection-log-repository.ts';
import type { Presence } from '../../core/sessions/presence.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { LiveConnection } from '../../views/connection.ts';
import { connectOf, subscriptionsOf } from './aedes-internals.ts';
import type { Certificate } from './certificates.ts';
import type { AcceptedSocket } from './connections.ts';
import type { createContestedIdentities } from './contested-identities.ts';
import type { Guarded } from './guard-parts.ts';
import type { Transport } from './listeners.ts';

/** The facts about a client that the listener and the packet guard know, and Aedes does not. */
export interface Origin {
  accepted: AcceptedSocket;
  transport: Transport;
  certificate: Certificate | undefined;
  guarded: Guarded;
}

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'devicesConnected'>;
  watch: Watch;
  presence: Pick<Presence, 'heard' | 'left'>;
  connectionLog: Pick<ConnectionLog, 'connected' | 'ended'>;
  contested: ReturnType<typeof createContestedIdentities>;
  /** Since when a connection has no subscription to its commands; null when it has one, or had no time to subscribe. */
  deafSince(client: Client): number | null;
  /** Called with the reason before a connection ends; the first one counts. */
  ends(client: Client, reason: EndReason, detail?: string): void;
  /** Whether a connection is one of MQTT 5, which Aedes takes for one of 3.1.1. */
  isFive(client: Client): boolean;
  /** The client that Aedes has registered for a device; its login may still be running. */
  registered(deviceId: string): Client | undefined;
}

/** The protocol versions by the level in CONNECT [MQTT-3.1.2-2]. */
const LEVELS: Readonly<Record<number, LiveConnection['protocol']>> = { 3: '3.1', 4: '3.1.1' };

/** Keeps the connections of devices to this node, with the times of their logins. */
export function createDeviceConnections(parts: Parts) {
  const { clock, log, metrics, watch, presence, connectionLog, contested, registered } = parts;
  const origins = new WeakMap<Client, Origin>();
  /** The logged-in clients, with the time of their login in microseconds. */
  const ready = new Map<Client, number>();
  const leaving = new WeakSet<Client>();
  /** The connections that are recorded, until their ends are. */
  const recorded = new Map<Client, OpenedConnection>();
  const reasons = new WeakMap<Client, { reason: EndReason; detail: string | undefined }>();
  let stops = false;

  function changed(deviceId: string): void {
    metrics.devicesConnected.set(ready.size);
    if (watch.devices > 0) watch.device(deviceId);
  }

  /** The open connection of a device; its login may still be running. */
  function live(deviceId: string): Client | undefined {
    const client = registered(deviceId);
    return client === undefined || client.closed || leaving.has(client) ? undefined : client;
  }

  return {
    live,
    originOf: (client: Client): Origin | undefined => origins.get(client),
    isReady: (client: Client): boolean => ready.has(client),

    opened(client: Client, origin: Origin): void {
      origins.set(client, origin);
    },

    loggedIn(client: Client): void {
      ready.set(client, clock.now());
      presence.heard(client.id);
      const { accepted, transport } = origins.get(client) ?? {};
      if (accepted && transport)
        recorded.set(client, connectionLog.connected(client.id, { address: accepted.remoteAddress, transport }));
      changed(client.id);
      log.debug({ deviceId: client.id, clean: client.clean }, 'device connected');
    },

    /** Called when the connection is about to end; it no longer counts as open. */
    leaves(client: Client): void {
      leaving.add(client);
    },

    /** Remembers why a connection is about to end; the first reason counts. */
    because(client: Client, reason: EndReason, detail?: string): void {
      if (reasons.has(client)) return;
      parts.ends(client, reason, detail);
      const isReplaced = reason === 'replaced' || reason === 'elsewhere';
      const contest = isReplaced
        ? contested.replaced(client.id, origins.get(client)?.accepted.remoteAddress ?? '')
        : undefined;
      if (contest === undefined) reasons.set(client, { reason, detail });
      else reasons.set(client, { reason: 'contested', detail: contest });
    },

    /** The process stops: the ends of its connections are recorded by its own. */
    stopping(): void {
      stops = true;
    },

    ended(client: Client): void {
      ready.delete(client);
      const opened = recorded.get(client);
      recorded.delete(client);
      const { reason = 'lost', detail } = reasons.get(client) ?? {};
      if (opened && !stops) connectionLog.ended(client.id, opened, reason, detail);
      presence.left(client.id);
      changed(client.id);
      log.debug({ deviceId: client.id }, 'device disconnected');
    },

    /** The number of connected devices. */
    count: (): number => ready.size,

    /** The deviceIds of the connected devices; undefined when there are more than `most`. */
    ids(most: number): string[] | undefined {
      if (ready.size > most) return undefined;
      return [...ready.keys()].filter((client) => live(client.id) === client).map(({ id }) => id);
    },

    /** Describes the connection that a device has to this node; undefined without one. */
    describe(deviceId: string): LiveConnection | undefined {
      const client = live(deviceId);
      const origin = client && origins.get(client);
      if (!origin) return undefined;
      const { keepAliveSeconds, level } = connectOf(client);
      return {
        since: ready.get(client) ?? null,
        address: origin.accepted.remoteAddress,
        transport: origin.transport,
        keepAliveSeconds,
        protocol: parts.isFive(client) ? '5' : (LEVELS[level] ?? null),
        isPersistent: client.clean === false,
        subscriptions: Object.keys(subscriptionsOf(client)),
        withoutCommandsSince: parts.deafSince(client),
      };
    },
  };
}
