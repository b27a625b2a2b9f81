import type { Client } from 'aedes';
import type { Watch } from '../watch.ts';
import { publishNumbered, subscriptionsOf } from './aedes-internals.ts';

interface ClientState {
  /** By packet identifier: what waits for its PUBACK, and what that does. */
  pending: Map<number, (() => void) | null>;
  /** Those of them that are answers. */
  answers: number;
  lastId: number;
}

// Answers (errors, responses) that a device does not acknowledge are kept up to this number; further ones are dropped.
const PENDING_ANSWERS = 64;
const HIGHEST_ID = 65_535;

/**
 * Publishes to one connected client at a time and knows which PUBACK belongs to which publish, by the packet identifier
 * that it gave. Aedes would tell of persistent sessions only.
 */
export function createOutbound(watch: Watch) {
  const states = new WeakMap<Client, ClientState>();

  const stateOf = (client: Client): ClientState => {
    let state = states.get(client);
    if (!state) {
      state = { pending: new Map(), answers: 0, lastId: 0 };
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
    /** Writes a command; `acknowledged` runs at its PUBACK, or when it was written to a QoS 0 subscription. */
    publish(client: Client, topic: string, payload: string, acknowledged: () => void): void {
      send(client, topic, payload, acknowledged);
    },

    /** Writes an answer that may be lost with the connection. False when the client leaves too many unacknowledged. */
    answer(client: Client, topic: string, payload: string): boolean {
      if ((states.get(client)?.answers ?? 0) >= PENDING_ANSWERS) return false;
      send(client, topic, payload, null);
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
      if (acknowledged) acknowledged();
      else state.answers -= 1;
    },
  };
}

export type Outbound = ReturnType<typeof createOutbound>;
