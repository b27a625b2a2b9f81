import { keepNumbers } from '@lapel/schemas/base/exact-json';
import type { Contracts } from '@lapel/schemas/contracts/contracts';
import { DomainError, type Fault, faultText, toDomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AedesPublishPacket, Client, PublishPacket } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { BURST_SECONDS, type TokenBuckets } from '../../runtime/token-buckets.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { createExactlyOnce } from './exactly-once.ts';
import { Refusal } from './guard-parts.ts';
import { createIdentities } from './identity.ts';
import { createOutcomes } from './message-outcomes.ts';
import { lengthBeforeCut } from './packet-bytes.ts';
import { type Decoded, decodePayload, textOf, toldFaults } from './payload.ts';
import { type Inbound, inboundKind, topicOf } from './topics.ts';
import type { createWaitingMessages } from './waiting-messages.ts';

/** The decoded content of a message on each topic. */
export interface Messages {
  acks: SchemaTypes['mqtt/ack'];
  status: SchemaTypes['mqtt/status'];
  events: SchemaTypes['mqtt/event'];
  requests: SchemaTypes['mqtt/request'];
}

/** The circumstances of a message, which its handler gets together with the message. */
interface Arrival {
  /** The size of the payload in bytes. */
  bytes: number;
  /** Sends an answer after the PUBACK. It is lost when the connection has ended meanwhile. */
  respond(answer: object): void;
  /** Called with a fault of the message that does not keep the handler from carrying it out. */
  partly(fault: Fault): void;
  /** In a cluster: makes a unit of work fail when the device has a newer connection. Each unit must begin with it. */
  fence: Fence | undefined;
}

/**
 * The handler of each topic. It carries out a message, and may return an answer to it. The PUBACK is sent afterwards.
 */
export type Handlers = {
  [Kind in Inbound]: (deviceId: string, message: Messages[Kind], arrival: Arrival) => Promise<object | undefined>;
};

/** The message on the errors topic of a device, by the schema mqtt/error. */
type Rejection = Omit<SchemaTypes['mqtt/error'], 'details'> & { details: Fault[] };

interface Parts {
  contracts: Pick<Contracts, 'read' | 'accepts'>;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  watch: Watch;
  handlers: Handlers;
  exactlyOnce: Pick<ReturnType<typeof createExactlyOnce>, 'carryOut'>;
  /** The rate limit of all messages of a device except acks. */
  rate: Pick<TokenBuckets, 'take' | 'size'>;
  /**
   * The rate limit of acks. It allows several acks for each command, so a device that only answers commands never
   * exceeds it.
   */
  ackRate: Pick<TokenBuckets, 'take'>;
  /** Keeps messages waiting while the database is unavailable. */
  waitingMessages: Pick<ReturnType<typeof createWaitingMessages>, 'wait'>;
  /** The developerId of a logged-in device; undefined while it is not known. */
  ownerOf(deviceId: string): string | undefined;
  /** In a cluster: the check that makes writes fail when the device has a newer connection than this one. */
  fenceOf(client: Client): Fence | undefined;
  /** Sends the answer of a handler to the device. */
  respond(client: Client, answer: object): void;
  /** Publishes to the errors topic of the device what is wrong with its message. */
  reject(client: Client, answer: Rejection): void;
  /** Called with what the errors topic tells. `code`: why the message was dropped; undefined when it was not. */
  told?(client: Client, packet: PublishPacket, told: Told): void;
  /** Whether each message of a connection that exceeds the rate is refused alone, with a reason code of its own. */
  refusesAlone?(client: Client): boolean;
}

interface Told {
  code?: string;
  reason: string;
  details: readonly Fault[];
}

const SCHEMAS = { acks: 'mqtt/ack', status: 'mqtt/status', events: 'mqtt/event', requests: 'mqtt/request' } as const;

// Errors of the service itself: the device sends its message again. All other errors are faults of the message; the
// service reports them on the device's errors topic.
const NOT_ITS_FAULT: ReadonlySet<string> = new Set(['INTERNAL', 'DATABASE_UNAVAILABLE']);

/** The members of each kind of message that are passed on unread, with their numbers as they were written. */
const PASSED_ON = {
  acks: ['result'],
  status: ['storage', 'network', 'software'],
  events: ['data', 'occurredAt'],
  requests: [],
} as const;

const NOTHING = Buffer.alloc(0);
/** The reasons of messages that were taken, and their lines in the log. */
const TAKEN = {
  'parts of the message were left out.': 'parts of a message of a device were left out',
  'the message was repaired.': 'a message of a device was repaired',
} as const;
const lineOf = (reason: string): string =>
  (TAKEN as Readonly<Record<string, string>>)[reason] ?? 'a message of a device was rejected';
// Large messages cost as much time as several small ones. So a message counts as one for the rate limit, and as one
// more for each further 16 KiB. In bytes.
const BYTES_PER_COUNT = 16 * 1024;
// A SUBSCRIBE counts as one message for the rate limit, and as one more for each 64 topic filters.
const FILTERS_PER_COUNT = 64;
/** Acks that each command allows a device to send besides its rate: for the steps of the command and its result. */
const ACKS_PER_COMMAND = 4;
/**
 * Acks that a device may send at once above its rate, because it has collected them while it was offline: two for each
 * of a thousand commands.
 */
export const ACKS_AT_ONCE = 2_048;
// Characters of a topic that logs and errors repeat; a topic can have 65,535.
const LONGEST_TOPIC = 256;
// Characters of the descriptions of faults in a log line.
const LONGEST_LINE = 300;

const shortTopic = (topic: string): string => topic.slice(0, LONGEST_TOPIC).toWellFormed();

/**
 * Processes messages from devices in authorizePublish, which is called before the PUBACK is sent: by the packet guard
 * for messages of QoS 0 and 1, by Aedes for those of QoS 2 and for wills. So everything that a PUBACK confirms is stored.
 * 1. Work starts in the order of the packets, so the units of work have that order too, and several of them share a
 *    commit.
 * 2. PUBACKs follow in the order of the packets [MQTT-4.6.0-2].
 *
 * A message may be faulty in parts: these are left out and reported on the errors topic. The whole message is dropped
 * and reported when it has no meaning without these parts, or when its topic is not one of the device's own. In both
 * cases the device gets its PUBACK. Only an error that is returned to the caller closes the connection without a PUBACK, so
 * that the device sends the message again, if necessary for ever. This is done when a device exceeds its rate, and when
 * the service itself fails.
 */
export function createInbound(parts: Parts) {
  const { contracts, log, logLimit, metrics, watch, handlers, exactlyOnce, waitingMessages, fenceOf, respond, reject } =
    parts;
  const { rate, ackRate, ownerOf } = parts;
  /**
   * The highest number that a message may count as: the messages that are allowed in one second. A message that counted
   * as more than the bucket holds could never be sent.
   */
  const mostCost = Math.max(1, Math.floor(rate.size() / BURST_SECONDS));
  const identityOf = createIdentities(contracts);
  const tails = new WeakMap<Client, Promise<Error | null>>();
  const tooFast = new WeakSet<Client>();
  const outcomes = createOutcomes({ log, metrics, waitingMessages });
  const work = createWork();

  function tell(
    client: Client | null,
    deviceId: string,
    { packet, ...told }: Told & { packet: PublishPacket },
    identity: object,
  ): void {
    const { reason, details } = told;
    const topic = shortTopic(packet.topic);
    const text = lineOf(reason);
    const leftOut = logLimit(`${deviceId} ${text}`, ownerOf(deviceId));
    if (leftOut !== undefined) {
      const faults = faultText(details.slice(0, 3)).slice(0, LONGEST_LINE);
      log.info({ deviceId, topic, reason, faults, ...identity, leftOut }, text);
    }
    if (!client) return;
    reject(client, { topic, reason, details: toldFaults(details), ...identity });
    parts.told?.(client, packet, told);
  }

  /** Carries out a message, or reports its faults to the device. Rejects only for failures of the service. */
  async function handle<Kind extends Inbound>(
    kind: Kind,
    deviceId: string,
    client: Client | null,
    packet: PublishPacket,
  ): Promise<null> {
    const { topic, payload } = packet;
    let decoded: Decoded | undefined;
    const identity = (): object => identityOf(kind, decoded?.message, () => decoded?.text ?? textOf(payload));
    try {
      const sizeBytes = lengthBeforeCut(packet);
      if (sizeBytes !== undefined) throw new DomainError('MESSAGE_TOO_LARGE', { values: { sizeBytes } });
      decoded = decodePayload(payload);
      const { text, mended } = decoded;
      const { value, leftOut, unknown, shortened } = contracts.read(SCHEMAS[kind], decoded.message);
      keepNumbers(value, { text, members: PASSED_ON[kind], shortened });
      if (unknown.count > 0) {
        metrics.mqttUnknownMembers.inc({ topic: kind }, unknown.count);
        log.debug({ deviceId, topic, members: unknown.names }, 'unknown members of a message are ignored');
      }
      const respondTo = (answer: object): void => (client ? respond(client, answer) : undefined);
      const fence = client ? fenceOf(client) : undefined;
      const further: Fault[] = [];
      const partly = (fault: Fault): void => void further.push(fault);
      const arrival = { bytes: payload.length, respond: respondTo, partly, fence };
      const answer = await handlers[kind](deviceId, value as Messages[Kind], arrival);
      if (answer) respondTo(answer);
      if (mended) metrics.mqttMended.inc({ topic: kind });
      const isPart = leftOut.length + further.length > 0;
      if (isPart) metrics.mqttLeftOut.inc({ topic: kind });
      if (!isPart && !mended) return null;
      const reason: keyof typeof TAKEN = isPart ? 'parts of the message were left out.' : 'the message was repaired.';
      tell(client, deviceId, { packet, reason, details: [...(mended ?? []), ...leftOut, ...further] }, identity());
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (NOT_ITS_FAULT.has(error.code)) throw thrown;
      metrics.mqttRejected.inc({ topic: kind });
      const details = [...(decoded?.mended ?? []), ...error.details];
      tell(client, deviceId, { packet, code: error.code, reason: error.message, details }, identity());
    }
    return null;
  }

  /**
   * Drops a message to a topic that is not the device's own, and acknowledges it. Closing the connection instead would
   * make a persistent client send the message for ever.
   */
  async function drop(deviceId: string, client: Client | null, packet: PublishPacket): Promise<null> {
    metrics.mqttRefused.inc({ reason: 'publish' });
    const topic = shortTopic(packet.topic);
    const leftOut = logLimit(`${deviceId} publish`, ownerOf(deviceId));
    if (leftOut !== undefined)
      log.warn({ deviceId, topic, leftOut }, 'a device publishes to a topic that is not its own');
    const { code, message: reason, details } = new DomainError('TOPIC_FOREIGN');
    if (client) reject(client, { topic, reason, details });
    if (client) parts.told?.(client, packet, { code, reason, details });
    // Aedes will emit the message on one of the device's own topics, so nothing that listens to the foreign topic gets
    // it.
    packet.topic = topicOf(deviceId, 'status');
    return null;
  }

  /**
   * Refuses a message because the device exceeds its rate. All later messages of the connection are refused, too,
   * because PUBACKs must not leave a gap [MQTT-4.6.0-2]; unless each has an answer of its own that says so.
   */
  async function refuseRate(client: Client | null): Promise<Error> {
    if (client && parts.refusesAlone?.(client) === true) {
      const leftOut = logLimit(`${client.id} rate`, ownerOf(client.id));
      if (leftOut !== undefined)
        log.info({ deviceId: client.id, leftOut }, 'a message is refused: the device sends more than its rate permits');
    } else if (client && !tooFast.has(client)) {
      tooFast.add(client);
      const leftOut = logLimit(`${client.id} rate`, ownerOf(client.id));
      if (leftOut !== undefined)
        log.info(
          { deviceId: client.id, leftOut },
          'a device is disconnected: it sends more messages than its rate permits',
        );
    }
    metrics.mqttRefused.inc({ reason: 'rate' });
    return new Refusal('more messages per second than a device may send');
  }

  function outcomeFor(
    kind: Inbound | undefined,
    deviceId: string,
    client: Client | null,
    packet: PublishPacket,
  ): Promise<Error | null> {
    // A will counts for the rate but is never refused: a connection has only one, and it is not sent again. Aedes
    // passes a will as it was in the CONNECT, without `cmd`.
    const isWill = (packet as Partial<PublishPacket>).cmd === undefined;
    const buckets = kind === 'acks' ? ackRate : rate;
    const sizeBytes = lengthBeforeCut(packet) ?? packet.payload.length;
    const cost = Math.min(mostCost, 1 + Math.floor(sizeBytes / BYTES_PER_COUNT));
    const isTooFast = !isWill && client !== null && tooFast.has(client);
    if ((isTooFast || buckets.take(deviceId, cost)?.allowed === false) && !isWill) return refuseRate(client);
    const carryOut = (): Promise<null> =>
      kind ? handle(kind, deviceId, client, packet) : drop(deviceId, client, packet);
    if (packet.qos !== 2 || !client || isWill) return outcomes.of(deviceId, client, carryOut);
    const once = (): Promise<Error | null> => exactlyOnce.carryOut(client, packet.messageId ?? 0, carryOut);
    return outcomes.of(deviceId, client, once);
  }

  async function answerLater(
    outcome: Promise<Error | null>,
    packet: PublishPacket,
    callback: (error: Error | null) => void,
  ): Promise<void> {
    const error = await outcome;
    if (!error) packet.payload = NOTHING; // Aedes stores QoS 2 packets to recognize repetitions; it needs no payload for that
    callback(error);
    work.ended();
  }

  function authorizePublish(
    client: Client | null,
    packet: PublishPacket,
    callback: (error?: Error | null) => void,
  ): void {
    // A will that is published after a restart has no client; its device was checked when it was stored.
    const deviceId = client?.id ?? (packet as AedesPublishPacket & { clientId?: string }).clientId ?? '';
    const kind = inboundKind(deviceId, packet.topic);
    if (packet.messageId === 0) {
      metrics.mqttRefused.inc({ reason: 'packet_id' }); // a packet identifier must not be 0 [MQTT-2.3.1-1]
      callback(new Error('packet identifier 0'));
      return;
    }
    if (watch.messages > 0) {
      const { topic, qos, payload } = packet;
      watch.message({ deviceId, direction: 'in', topic, qos, payload });
    }
    packet.retain = false; // no device may subscribe to these topics, and the number of retained messages has no bound
    packet.dup = false; // the DUP flag is not passed on [MQTT-3.3.1-3]
    metrics.mqttMessages.inc({ topic: kind ?? 'other' });
    work.begun();
    const outcome = outcomeFor(kind, deviceId, client, packet);
    const before = client && tails.get(client);
    const inOrder = before ? before.then(() => outcome) : outcome;
    if (client) tails.set(client, inOrder);
    void answerLater(inOrder, packet, callback);
  }

  return {
    authorizePublish,

    /** Whether messages of the connection wait for the database. */
    hasWaiting: (client: Client): boolean => outcomes.areAwaited(client),

    /** Called when a command was sent to the device, which allows the device to send more acks. */
    sent: (deviceId: string): void => void ackRate.take(deviceId, -ACKS_PER_COMMAND),

    /** Counts a SUBSCRIBE or UNSUBSCRIBE for the rate limit of the device; false when the limit is exceeded. */
    isWithinRate(client: Client, filters: number): boolean {
      const cost = Math.min(mostCost, 1 + Math.floor(filters / FILTERS_PER_COUNT));
      if (!tooFast.has(client) && rate.take(client.id, cost)?.allowed !== false) return true;
      void refuseRate(client);
      return false;
    },

    /** Carries out the stored will of a connection that ended on another node. */
    carryOutWill: (packet: object): Promise<void> =>
      new Promise((resolve) => authorizePublish(null, packet as PublishPacket, () => resolve())),

    idle: work.idle,
  };
}
