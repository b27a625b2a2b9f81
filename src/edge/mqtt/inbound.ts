import type { AedesPublishPacket, Client, PublishPacket } from 'aedes';
import { DomainError, type Fault, faultText, isDatabaseAway, toDomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import { Superseded } from '../../platform/cluster/superseded.ts';
import type { Contracts } from '../../platform/contracts/contracts.ts';
import type { SchemaTypes } from '../../platform/contracts/types.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { BURST_SECONDS, type TokenBuckets } from '../../runtime/token-buckets.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { createExactlyOnce } from './exactly-once.ts';
import { decodePayload, toldFaults } from './payload.ts';
import { type Inbound, inboundKind, topicOf } from './topics.ts';
import type { createPatience } from './waiting-messages.ts';

/** What a message on each topic holds. */
export interface Messages {
  acks: SchemaTypes['mqtt/ack'];
  status: SchemaTypes['mqtt/status'];
  events: SchemaTypes['mqtt/event'];
  requests: SchemaTypes['mqtt/request'];
}

/** How a message came. */
interface Arrival {
  /** Of the payload. */
  bytes: number;
  /** For what takes longer than a PUBACK may wait; a connection that has ended meanwhile gets nothing. */
  respond(answer: object): void;
  /** To be passed first in each unit of work, where there are other nodes. */
  fence: Fence | undefined;
}

/** One per topic: carries a message out, and may have an answer; the PUBACK waits for it. */
export type Handlers = {
  [Kind in Inbound]: (deviceId: string, message: Messages[Kind], arrival: Arrival) => Promise<object | undefined>;
};

/** What a device is told on its errors topic: the schema mqtt/error. */
type Rejection = Omit<SchemaTypes['mqtt/error'], 'details'> & { details: Fault[] };

interface Parts {
  contracts: Pick<Contracts, 'read' | 'accepts'>;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  watch: Watch;
  handlers: Handlers;
  exactlyOnce: Pick<ReturnType<typeof createExactlyOnce>, 'carryOut'>;
  /** Of what devices send by themselves. */
  rate: Pick<TokenBuckets, 'take' | 'size'>;
  /** Of acks: a device that answers what it was sent has always enough. */
  ackRate: Pick<TokenBuckets, 'take'>;
  /** With a database that is away. */
  patience: Pick<ReturnType<typeof createPatience>, 'holds' | 'wait'>;
  /** The developer of a device that is logged in, where that is known. */
  ownerOf(deviceId: string): string | undefined;
  /** Of a connection, where there are other nodes. */
  fenceOf(client: Client): Fence | undefined;
  /** Sends what a handler answers. */
  respond(client: Client, answer: object): void;
  /** Tells the device what was wrong with its message. */
  reject(client: Client, answer: Rejection): void;
}

const SCHEMAS = { acks: 'mqtt/ack', status: 'mqtt/status', events: 'mqtt/event', requests: 'mqtt/request' } as const;

// Nothing that a device could do better.
const NOT_ITS_FAULT: ReadonlySet<string> = new Set(['INTERNAL', 'DATABASE_UNAVAILABLE']);

/** What a message calls itself, for its sender to find it again. */
const IDENTITIES = {
  acks: { name: 'transactionId', schema: 'common/transaction-id' },
  status: undefined,
  events: { name: 'eventId', schema: 'common/event-id' },
  requests: { name: 'requestId', schema: 'common/request-id' },
} as const;

const NOTHING = Buffer.alloc(0);
const PARTLY = 'parts of the message were left out.';
// A message counts once, and once more for each so many bytes: large ones cost as much as several.
const BYTES_PER_COUNT = 16 * 1024;
// So does a SUBSCRIBE, for each so many filters, as a power of two.
const FILTERS_PER_COUNT = 6;
/** Acks that a device may send for each command that it is sent, besides those of its rate: steps, and the result. */
const ACKS_PER_COMMAND = 4;
/** Acks beyond its rate that it may have kept while it was away: two of each of a thousand commands. */
export const ACKS_AT_ONCE = 2_048;
// Characters; a topic can have 65,535.
const LONGEST_TOPIC = 256;
// Characters of the faults on a log line.
const LONGEST_LINE = 300;

const shortTopic = (topic: string): string => topic.slice(0, LONGEST_TOPIC).toWellFormed();

/**
 * Messages from devices, as Aedes' authorizePublish: that runs before the PUBACK, so when a device's acknowledgement is
 * acknowledged to it, its settlement is on the disk. Work starts in the order of the packets (so units of work are in
 * that order too) and several share a commit; the PUBACKs follow in the order of the packets [MQTT-4.6.0-2]. A message
 * is read tolerantly: what is wrong in it, or all of it when nothing has a meaning without that, is answered on the errors
 * topic and dropped, and so is one to a topic that is not the device's. An error to Aedes closes the connection without
 * a PUBACK, and the device sends the message again, for ever if need be: that is for a device above its rate, and for a
 * failure of ours.
 */
export function createInbound(parts: Parts) {
  const { contracts, log, logLimit, metrics, watch, handlers, exactlyOnce, patience, fenceOf, respond, reject } = parts;
  const { rate, ackRate, ownerOf } = parts;
  /** No message counts for more than a second: it could never be sent. */
  const mostCost = Math.max(1, Math.floor(rate.size() / BURST_SECONDS));
  const tails = new WeakMap<Client, Promise<Error | null>>();
  const tooFast = new WeakSet<Client>();
  const work = createWork();

  /** `transactionId`, `eventId` or `requestId` of a message, where it can be read. */
  function identityOf(kind: Inbound | undefined, message: unknown): object {
    const identity = kind && IDENTITIES[kind];
    if (!identity || typeof message !== 'object' || message === null) return {};
    const value = (message as Record<string, unknown>)[identity.name];
    return contracts.accepts(identity.schema, value) ? { [identity.name]: value } : {};
  }

  function tell(
    client: Client | null,
    deviceId: string,
    told: { topic: string; reason: string; details: readonly Fault[] },
    identity: object,
  ): void {
    const { topic, reason, details } = { ...told, topic: shortTopic(told.topic) };
    const leftOut = logLimit(`${deviceId} ${reason === PARTLY ? 'partly taken' : 'rejected'}`, ownerOf(deviceId));
    if (leftOut !== undefined) {
      const faults = faultText(details.slice(0, 3)).slice(0, LONGEST_LINE);
      const line = { deviceId, topic, reason, faults, ...identity, leftOut };
      log.info(
        line,
        reason === PARTLY ? 'parts of a message of a device were left out' : 'a message of a device was rejected',
      );
    }
    if (client) reject(client, { topic, reason, details: toldFaults(details), ...identity });
  }

  /** Rejects for what is no fault of the message. */
  async function handle<Kind extends Inbound>(
    kind: Kind,
    deviceId: string,
    client: Client | null,
    { topic, payload }: PublishPacket,
  ): Promise<null> {
    let message: unknown;
    try {
      message = decodePayload(payload);
      const { value, leftOut, unknown } = contracts.read(SCHEMAS[kind], message);
      if (unknown.count > 0) {
        metrics.mqttUnknownMembers.inc({ topic: kind }, unknown.count);
        log.debug({ deviceId, topic, members: unknown.names }, 'members of a message that nobody knows are ignored');
      }
      const respondTo = (answer: object): void => (client ? respond(client, answer) : undefined);
      const fence = client ? fenceOf(client) : undefined;
      const arrival = { bytes: payload.length, respond: respondTo, fence };
      const answer = await handlers[kind](deviceId, value as Messages[Kind], arrival);
      if (answer) respondTo(answer);
      if (leftOut.length === 0) return null;
      metrics.mqttLeftOut.inc({ topic: kind });
      tell(client, deviceId, { topic, reason: PARTLY, details: leftOut }, identityOf(kind, message));
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (NOT_ITS_FAULT.has(error.code)) throw thrown;
      metrics.mqttRejected.inc({ topic: kind });
      const { message: reason, details } = error;
      tell(client, deviceId, { topic, reason, details }, identityOf(kind, message));
    }
    return null;
  }

  /** Null, or why there is no PUBACK. */
  async function outcomeOf(
    deviceId: string,
    client: Client | null,
    carryOut: () => Promise<Error | null>,
  ): Promise<Error | null> {
    if (patience.holds(client)) await patience.wait(client);
    for (;;) {
      try {
        return await carryOut();
      } catch (err) {
        if (isDatabaseAway(err) && (await patience.wait(client))) continue;
        if (err instanceof Superseded) return err; // it comes again, to whoever has the device
        log.error({ err, deviceId }, 'a message from a device could not be carried out; it will come again');
        return err instanceof Error ? err : new Error(String(err));
      }
    }
  }

  /** A closed connection would make a persistent client send it for ever. */
  async function drop(deviceId: string, client: Client | null, packet: PublishPacket): Promise<null> {
    metrics.mqttRefused.inc({ reason: 'publish' });
    const topic = shortTopic(packet.topic);
    const leftOut = logLimit(`${deviceId} publish`, ownerOf(deviceId));
    if (leftOut !== undefined)
      log.warn({ deviceId, topic, leftOut }, 'a device publishes to a topic that is not its own');
    const { message: reason, details } = new DomainError('TOPIC_FOREIGN');
    if (client) reject(client, { topic, reason, details });
    // From here on it is a message that nobody gets, whoever subscribes the topic that it was for.
    packet.topic = topicOf(deviceId, 'status');
    return null;
  }

  /** Of what comes behind it on the connection nothing is taken any more: PUBACKs leave no gap [MQTT-4.6.0-2]. */
  async function refuseRate(client: Client | null): Promise<Error> {
    if (client && !tooFast.has(client)) {
      tooFast.add(client);
      const leftOut = logLimit(`${client.id} rate`, ownerOf(client.id));
      if (leftOut !== undefined)
        log.info({ deviceId: client.id, leftOut }, 'a device is cut off: it sends above its rate');
    }
    metrics.mqttRefused.inc({ reason: 'rate' });
    return new Error('more messages per second than a device may send');
  }

  function outcomeFor(
    kind: Inbound | undefined,
    deviceId: string,
    client: Client | null,
    packet: PublishPacket,
  ): Promise<Error | null> {
    // A will is one per connection and does not come again: it counts, and is never refused. Aedes gives it as the CONNECT
    // had it, which is no packet.
    const isWill = (packet as Partial<PublishPacket>).cmd === undefined;
    const buckets = kind === 'acks' ? ackRate : rate;
    const cost = Math.min(mostCost, 1 + Math.floor(packet.payload.length / BYTES_PER_COUNT));
    const isTooFast = !isWill && client !== null && tooFast.has(client);
    if ((isTooFast || buckets.take(deviceId, cost)?.allowed === false) && !isWill) return refuseRate(client);
    const carryOut = (): Promise<null> =>
      kind ? handle(kind, deviceId, client, packet) : drop(deviceId, client, packet);
    if (packet.qos !== 2 || !client || isWill) return outcomeOf(deviceId, client, carryOut);
    const once = (): Promise<Error | null> => exactlyOnce.carryOut(client, packet.messageId ?? 0, carryOut);
    return outcomeOf(deviceId, client, once);
  }

  async function answerLater(
    outcome: Promise<Error | null>,
    packet: PublishPacket,
    callback: (error: Error | null) => void,
  ): Promise<void> {
    const error = await outcome;
    if (!error) packet.payload = NOTHING; // Aedes stores what is of QoS 2, to know it again
    callback(error);
    work.ended();
  }

  function authorizePublish(
    client: Client | null,
    packet: PublishPacket,
    callback: (error?: Error | null) => void,
  ): void {
    // A will that is published after a restart has no client; its owner was checked when it was stored.
    const deviceId = client?.id ?? (packet as AedesPublishPacket & { clientId?: string }).clientId ?? '';
    const kind = inboundKind(deviceId, packet.topic);
    if (packet.messageId === 0) {
      metrics.mqttRefused.inc({ reason: 'packet_id' }); // [MQTT-2.3.1-1]
      callback(new Error('packet identifier 0'));
      return;
    }
    if (watch.messages > 0) {
      const { topic, qos, payload } = packet;
      watch.message({ deviceId, direction: 'in', topic, qos, payload });
    }
    packet.retain = false; // nobody can subscribe it, and retained messages have no bound
    packet.dup = false; // [MQTT-3.3.1-3]
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

    /** A command is on its way to the device: it may answer it. */
    sent: (deviceId: string): void => void ackRate.take(deviceId, -ACKS_PER_COMMAND),

    /** Counts a SUBSCRIBE or UNSUBSCRIBE of so many filters as a message; false when it is above the rate. */
    mayAsk(client: Client, filters: number): boolean {
      const cost = Math.min(mostCost, 1 + (filters >> FILTERS_PER_COUNT));
      if (!tooFast.has(client) && rate.take(client.id, cost)?.allowed !== false) return true;
      void refuseRate(client);
      return false;
    },

    /** The will of a connection that ended elsewhere, as it was kept. */
    carryOutWill: (packet: object): Promise<void> =>
      new Promise((resolve) => authorizePublish(null, packet as PublishPacket, () => resolve())),

    idle: work.idle,
  };
}
