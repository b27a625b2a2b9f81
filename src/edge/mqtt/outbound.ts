import type { Client } from 'aedes';
import { createCounts } from '../../runtime/counts.ts';
import type { Watch } from '../../runtime/watch.ts';
import { publishNumbered, subscriptionsOf } from './aedes-internals.ts';

interface ClientState {
  /** By packet identifier: what waits for its PUBACK, and what that does. */
  pending: Map<number, (() => void) | null>;
  /** Those of them that are answers. */
  answers: number;
  /** Answers that wait for the PUBACKs of others, by topic and text, and their bytes. */
  waiting: { topic: string; payload: string }[];
  waitingBytes: number;
  /** The developer whose these bytes are. */
  owner: string;
  /** The end of the connection gives them back. */
  isWatched: boolean;
  lastId: number;
}

// Answers (errors; responses that are not stored) without PUBACK of one connection. The others wait behind them, up to so
// many bytes of a connection, and of all devices of a developer; what is more is dropped.
const PENDING_ANSWERS = 64;
const WAITING_BYTES = { connection: 64 * 1024, developer: 4 * 1024 * 1024 };
const HIGHEST_ID = 65_535;

interface Parts {
  watch: Watch;
  /** The developer of a device, where that is known. */
  ownerOf(deviceId: string): string | undefined;
}

/**
 * Publishes to one connected client at a time and knows which PUBACK belongs to which publish, by the packet identifier
 * that it gave. Aedes would tell of persistent sessions only.
 */
export function createOutbound({ watch, ownerOf }: Parts) {
  const states = new WeakMap<Client, ClientState>();
  /** Bytes that wait, by developer. */
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

  /** An identifier that is not in use [MQTT-2.3.1-2]; 0 when all are. */
  function freeId(state: ClientState): number {
    for (let tries = 0; tries < HIGHEST_ID; tries += 1) {
      state.lastId = state.lastId === HIGHEST_ID ? 1 : state.lastId + 1;
      if (!state.pending.has(state.lastId)) return state.lastId;
    }
    return 0;
  }

  /** `acknowledged` is null for an answer. False when the client cannot take it. */
  function send(client: Client, topic: string, payload: string, acknowledged: (() => void) | null): boolean {
    const subscription = subscriptionsOf(client)[topic];
    if (!subscription || client.closed || !client.conn.writable) return false;
    if (watch.messages > 0) {
      watch.message({ deviceId: client.id, direction: 'out', topic, qos: subscription.qos, payload });
    }
    // Never above what was asked for [MQTT-3.8.4-6].
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
     * Writes a command or a response; `acknowledged` runs at its PUBACK, or when it was written to a QoS 0 subscription.
     * False when the client cannot take it.
     */
    publish: (client: Client, topic: string, payload: string, acknowledged: () => void): boolean =>
      send(client, topic, payload, acknowledged),

    /**
     * Writes an answer that may be lost with the connection, in its turn. False when the client leaves too many of them
     * unacknowledged.
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

    /** True while nothing waits for its PUBACK. */
    isEmpty: (client: Client): boolean => (states.get(client)?.pending.size ?? 0) === 0,

    /** True while a publish with this identifier waits for its PUBACK. */
    awaits: (client: Client, messageId: number): boolean => states.get(client)?.pending.has(messageId) === true,

    /** A PUBACK came. One that nothing waits for says nothing. */
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
