import type { Client } from 'aedes';

interface Pending {
  acknowledged: () => void;
}

interface ClientState {
  /** Publishes that wait for their PUBACK, oldest first, by our own counter. */
  pending: Map<number, Pending>;
  /** MQTT packet identifier -> counter. */
  counters: Map<number, number>;
}

// Answers (errors, responses) that a device does not acknowledge are kept up to this number; further ones are dropped.
const PENDING_ANSWERS = 64;

/**
 * Publishes to one connected client at a time and knows which PUBACK belongs to which publish. Aedes would tell by its
 * 'ack' event for persistent sessions only, and drops what its counters bring out of order; so each publish carries our
 * own rising counter, and PUBACKs are taken where Aedes hands them to the persistence.
 */
export function createOutbound(brokerId: string) {
  const states = new WeakMap<Client, ClientState>();
  let counter = 0;

  const stateOf = (client: Client): ClientState => {
    let state = states.get(client);
    if (!state) {
      state = { pending: new Map(), counters: new Map() };
      states.set(client, state);
    }
    return state;
  };

  function publish(client: Client, topic: string, payload: string, acknowledged: () => void): void {
    const subscription = (client as unknown as { subscriptions: Record<string, { qos: number } | undefined> })
      .subscriptions[topic];
    if (!subscription || client.closed) return;
    const qos = subscription.qos > 0 ? 1 : 0; // never above what was asked for [MQTT-3.8.4-6]
    const { pending } = stateOf(client);
    counter += 1;
    if (qos === 1) pending.set(counter, { acknowledged });
    const packet = { cmd: 'publish', topic, payload, qos, retain: false, dup: false, brokerId, brokerCounter: counter };
    client.publish(packet as Parameters<Client['publish']>[0], (error) => {
      if (qos === 0 && !error && !client.closed) acknowledged();
    });
  }

  return {
    /** Writes a command; `acknowledged` runs at its PUBACK, or when it was written to a QoS 0 subscription. */
    publish,

    /** Writes an answer that may be lost with the connection. False when the client leaves too many unacknowledged. */
    answer(client: Client, topic: string, payload: string): boolean {
      if (stateOf(client).pending.size >= PENDING_ANSWERS) return false;
      publish(client, topic, payload, () => undefined);
      return true;
    },

    /** Aedes gave a publish of a persistent session its packet identifier. */
    identified(client: Client, packet: { brokerCounter?: number; messageId?: number | undefined }): void {
      if (packet.messageId === undefined || packet.brokerCounter === undefined) return;
      stateOf(client).counters.set(packet.messageId, packet.brokerCounter);
    },

    /**
     * A PUBACK came. Publishes of clean sessions get no identifier that we see; their PUBACKs come in the order of the
     * publishes [MQTT-4.6.0-2].
     */
    acknowledged(client: Client, messageId: number | undefined): void {
      const state = states.get(client);
      if (!state || messageId === undefined) return;
      const found = client.clean ? state.pending.keys().next().value : state.counters.get(messageId);
      state.counters.delete(messageId);
      if (found === undefined) return;
      const pending = state.pending.get(found);
      state.pending.delete(found);
      pending?.acknowledged();
    },
  };
}

export type Outbound = ReturnType<typeof createOutbound>;
