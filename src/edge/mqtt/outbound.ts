import type { Client } from 'aedes';
import { createCounts } from '../../runtime/counts.ts';
import type { Watch } from '../../runtime/watch.ts';
import { publishNumbered, subscriptionsOf } from './aedes-internals.ts';

interface ClientState {
  /** The publishes that wait for a PUBACK, by packet identifier, with the function to call then; null for an answer. */
  pending: Map<number, (() => void) | null>;
  /** The number of answers among the pending publishes. */
  answers: number;
  /** Answers that wait until earlier ones are acknowledged, with their bytes. */
  waiting: { topic: string; payload: string }[];
  waitingBytes: number;
  /** The developer that these bytes are counted for. */
  owner: string;
  /** True when the end of the connection will give the bytes back. */
  isWatched: boolean;
  lastId: number;
}

// The most answers (errors, and responses that are not stored) of one connection without PUBACK. Further ones wait, up
// to these bytes for a connection, and for all devices of a developer; beyond that they are dropped.
const PENDING_ANSWERS = 64;
const WAITING_BYTES = { connection: 64 * 1024, developer: 4 * 1024 * 1024 };
const HIGHEST_ID = 65_535;

interface Parts {
  watch: Watch;
  /** The developer of a device, when it is known. */
  ownerOf(deviceId: string): string | undefined;
}

/**
 * Publishes to connected clients, and matches PUBACKs with publishes by the packet identifiers that it assigns. Aedes
 * reports PUBACKs for persistent sessions only.
 */
export function createOutbound({ watch, ownerOf }: Parts) {
  const states = new WeakMap<Client, ClientState>();
  /** Waiting bytes by developer. */
  const ofDevelopers = createCounts();

  function count(state: ClientState, bytes: number): void {
    state.waitingBytes += bytes;
    ofDevelopers.add(state.owner, bytes);
  }

  const stateOf = (client: Client): ClientState => {
    let state = states.get(client);
    if (!state) {
      state = { pending: new Map(), answers: 0, waiting: [], waitingBytes: 0, owner: '', isWatched: false, lastId: 0 };
      states.set(client, state);
    }
    return state;
  };

  /** An unused packet identifier [MQTT-2.3.1-2]; 0 when all are in use. */
  function freeId(state: ClientState): number {
    for (let tries = 0; tries < HIGHEST_ID; tries += 1) {
      state.lastId = state.lastId === HIGHEST_ID ? 1 : state.lastId + 1;
      if (!state.pending.has(state.lastId)) return state.lastId;
    }
    return 0;
  }

  /** Writes a publish; `acknowledged` is null for an answer. Returns false when the client cannot receive it. */
  function send(client: Client, topic: string, payload: string, acknowledged: (() => void) | null): boolean {
    const subscription = subscriptionsOf(client)[topic];
    if (!subscription || client.closed || !client.conn.writable) return false;
    if (watch.messages > 0) {
      watch.message({ deviceId: client.id, direction: 'out', topic, qos: subscription.qos, payload });
    }
    // The QoS never exceeds the requested one [MQTT-3.8.4-6].
    if (subscription.qos === 0) {
      publishNumbered(client, { topic, payload }, 0, (error) => {
        if (!error && !client.closed) acknowledged?.();
      });
      return true;
    }
    const state = stateOf(client);
    const messageId = freeId(state);
    if (messageId === 0) return false;
    state.pending.set(messageId, acknowledged);
    if (!acknowledged) state.answers += 1;
    publishNumbered(client, { topic, payload }, messageId, () => undefined);
    return true;
  }

  return {
    /**
     * Writes a command or a response. `acknowledged` is called at its PUBACK, or after writing for a QoS 0
     * subscription. Returns false when the client cannot receive it.
     */
    publish: (client: Client, topic: string, payload: string, acknowledged: () => void): boolean =>
      send(client, topic, payload, acknowledged),

    /**
     * Writes an answer, in order; it may be lost with the connection. Returns false when too many answers of the client
     * are unacknowledged.
     */
    answer(client: Client, topic: string, payload: string): boolean {
      const state = stateOf(client);
      if (state.answers < PENDING_ANSWERS) {
        send(client, topic, payload, null);
        return true;
      }
      const bytes = Buffer.byteLength(payload);
      if (state.waiting.length === 0) state.owner = ownerOf(client.id) ?? '';
      const ofDeveloper = ofDevelopers.of(state.owner) + bytes;
      if (client.closed || ofDeveloper > WAITING_BYTES.developer) return false;
      if (state.waitingBytes + bytes > WAITING_BYTES.connection) return false;
      if (!state.isWatched) client.conn.once('close', () => count(state, -state.waitingBytes));
      state.isWatched = true;
      state.waiting.push({ topic, payload });
      count(state, bytes);
      return true;
    },

    /** True while no publish waits for its PUBACK. */
    isEmpty: (client: Client): boolean => (states.get(client)?.pending.size ?? 0) === 0,

    /** True while a publish with this identifier waits for its PUBACK. */
    awaits: (client: Client, messageId: number): boolean => states.get(client)?.pending.has(messageId) === true,

    /** A PUBACK was received; one without a matching publish is ignored. */
    acknowledged(client: Client, messageId: number | undefined): void {
      const state = states.get(client);
      if (!state || messageId === undefined) return;
      const acknowledged = state.pending.get(messageId);
      if (acknowledged === undefined) return;
      state.pending.delete(messageId);
      if (acknowledged) {
        acknowledged();
        return;
      }
      state.answers -= 1;
      const next = state.waiting.shift();
      if (!next) return;
      count(state, -Buffer.byteLength(next.payload));
      send(client, next.topic, next.payload, null);
    },
  };
}

export type Outbound = ReturnType<typeof createOutbound>;
