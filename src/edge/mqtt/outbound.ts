import type { Client } from 'aedes';
import { createCounts } from '../../runtime/counts.ts';
import type { Watch } from '../../runtime/watch.ts';
import { subscriptionsOf, writePacket } from './aedes-internals.ts';
import { publishBytes } from './packet-bytes.ts';

interface ClientState {
  /**
   * The publishes without a PUBACK, by packet identifier. The value is called at the PUBACK; it is null for an answer
   * (a message on the errors topic, or a response that is not stored).
   */
  pending: Map<number, (() => void) | null>;
  /** The number of answers among `pending`. */
  answers: number;
  /** Answers that are sent once earlier answers have their PUBACKs. */
  waiting: { topic: string; payload: string }[];
  waitingBytes: number;
  /** The developer that `waitingBytes` are counted for. */
  owner: string;
  /** True when a listener for the end of the connection will set `waitingBytes` to 0. */
  isWatched: boolean;
  lastId: number;
  readonly manner: Manner;
}

/** What MQTT 5 says of a message besides its topic and its text. */
export interface About {
  /** Seconds after which the device need not carry it out any more. */
  expirySeconds?: number | undefined;
  traceparent?: string | undefined;
  /** Called when the device answers with a reason code that refuses it. */
  refused?(reason: { code: number; text: string }): void;
}

/** Makes a PUBLISH; `about` is for versions that say more about a message. `messageId` 0 makes it QoS 0. */
type MakePublish = (topic: string, payload: string, messageId: number, about?: About) => Buffer;

/** How the publishes of a connection are written. */
export interface Manner {
  publishBytes: MakePublish;
  /** The most answers without a PUBACK. */
  mostAnswers: number;
}

// The most answers of one connection without a PUBACK. An answer is a message on the errors topic, or a response that
// is not stored. Further answers wait, up to WAITING_BYTES of one connection and of all devices of one developer;
// beyond that they are dropped.
export const PENDING_ANSWERS = 64;
const WAITING_BYTES = { connection: 64 * 1024, developer: 4 * 1024 * 1024 };
const HIGHEST_ID = 65_535;
/** The manner of MQTT 3.1.1. */
const USUAL: Manner = { publishBytes, mostAnswers: PENDING_ANSWERS };

interface Parts {
  watch: Watch;
  /** The developerId of a device; undefined while it is not known. */
  ownerOf(deviceId: string): string | undefined;
  /** The manner of a connection; undefined for that of MQTT 3.1.1. */
  mannerOf?(client: Client): Manner | undefined;
}

/**
 * Publishes to connected clients. It assigns the packet identifiers itself and finds by them the publish that a PUBACK
 * belongs to, because Aedes reports PUBACKs for persistent sessions only.
 */
export function createOutbound({ watch, ownerOf, mannerOf = () => undefined }: Parts) {
  const states = new WeakMap<Client, ClientState>();
  /** Bytes of the answers that wait, by developer. */
  const ofDevelopers = createCounts();

  function count(state: ClientState, bytes: number): void {
    state.waitingBytes += bytes;
    ofDevelopers.add(state.owner, bytes);
  }

  const stateOf = (client: Client): ClientState => {
    let state = states.get(client);
    if (!state) {
      state = {
        pending: new Map(),
        answers: 0,
        waiting: [],
        waitingBytes: 0,
        owner: '',
        isWatched: false,
        lastId: 0,
        manner: mannerOf(client) ?? USUAL,
      };
      states.set(client, state);
    }
    return state;
  };

  /** Finds a packet identifier that is not in use [MQTT-2.3.1-2]; 0 when all are in use. */
  function freeId(state: ClientState): number {
    for (let tries = 0; tries < HIGHEST_ID; tries += 1) {
      state.lastId = state.lastId === HIGHEST_ID ? 1 : state.lastId + 1;
      if (!state.pending.has(state.lastId)) return state.lastId;
    }
    return 0;
  }

  /**
   * Sends a publish; `acknowledged` is null for an answer. Returns false when the client has not subscribed to the
   * topic, or no packet identifier is free. With a subscription of QoS 0 there is no PUBACK, so that `acknowledged` is
   * never called; `written` is called instead.
   */
  function send(
    client: Client,
    topic: string,
    payload: string,
    acknowledged: (() => void) | null,
    written?: () => void,
    about?: About,
  ): boolean {
    const subscription = subscriptionsOf(client)[topic];
    if (!subscription || client.closed || !client.conn.writable) return false;
    if (watch.messages > 0) {
      watch.message({ deviceId: client.id, direction: 'out', topic, qos: subscription.qos, payload });
    }
    const state = stateOf(client);
    const { publishBytes: toBytes } = state.manner;
    // The QoS of a publish never exceeds the QoS of the subscription [MQTT-3.8.4-6].
    if (subscription.qos === 0) {
      writePacket(client, toBytes(topic, payload, 0, about), (error) => {
        if (!error && !client.closed) written?.();
      });
      return true;
    }
    const messageId = freeId(state);
    if (messageId === 0) return false;
    state.pending.set(messageId, acknowledged);
    if (!acknowledged) state.answers += 1;
    writePacket(client, toBytes(topic, payload, messageId, about), () => undefined);
    return true;
  }

  return {
    /**
     * Publishes a command or a stored response. `acknowledged` is called at its PUBACK. With a subscription of QoS 0
     * there is none: `written` is called once it is written, which says nothing about the device. Returns false when it
     * could not be sent.
     */
    publish: (
      client: Client,
      topic: string,
      payload: string,
      acknowledged: () => void,
      written?: () => void,
      about?: About,
    ): boolean => send(client, topic, payload, acknowledged, written, about),

    /**
     * Publishes an answer behind earlier ones. It may be lost with the connection. Returns false when it was dropped,
     * because too many answers wait for the client.
     */
    answer(client: Client, topic: string, payload: string): boolean {
      const state = stateOf(client);
      if (state.answers < state.manner.mostAnswers) {
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

    /** Called when a PUBACK has arrived. A PUBACK that belongs to no publish is ignored. */
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
