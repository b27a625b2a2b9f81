import type { AedesPublishPacket, Client, PublishPacket } from 'aedes';
import { DomainError, type Fault, toDomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { TokenBuckets } from '../token-buckets.ts';
import { type Inbound, inboundKind } from './topics.ts';

/**
 * One per topic: validates the decoded payload and carries it out, and may have an answer; the PUBACK waits for it. What
 * takes longer than a PUBACK may wait is answered by `respond`; a connection that has ended meanwhile gets nothing.
 */
export type Handler = (
  deviceId: string,
  message: unknown,
  respond: (answer: object) => void,
) => Promise<object | undefined>;

interface Parts {
  log: Log;
  metrics: Metrics;
  handlers: Record<Inbound, Handler>;
  /** Of what devices send by themselves: all but acks, which commands bound. */
  rate: Pick<TokenBuckets, 'take'>;
  /** Sends what a handler answers. */
  respond(client: Client, answer: object): void;
  /** Tells the device what was wrong with its message. */
  reject(client: Client, answer: { topic: string; reason: string; details: Fault[] }): void;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(payload: string | Buffer): unknown {
  try {
    return JSON.parse(typeof payload === 'string' ? payload : utf8.decode(payload));
  } catch (cause) {
    throw new DomainError('REQUEST_INVALID', {
      details: [{ loc: ['body'], msg: 'JSON decode error', type: 'json_invalid' }],
      cause,
    });
  }
}

/**
 * Messages from devices, as Aedes' authorizePublish: that runs before the PUBACK, so when a device's acknowledgement is
 * acknowledged to it, its settlement is on the disk. Work starts in the order of the packets (so units of work are in
 * that order too) and several share a commit; the PUBACKs follow in the order of the packets [MQTT-4.6.0-2]. A message
 * that is wrong is answered on the errors topic and dropped; an error to Aedes closes the connection without a PUBACK:
 * that is for a foreign topic, for a device above its rate, and for a failure of ours: the device sends the message again.
 */
export function createInbound({ log, metrics, handlers, rate, respond, reject }: Parts) {
  const tails = new WeakMap<Client, Promise<Error | null>>();
  let running = 0;
  let whenIdle: (() => void)[] = [];

  async function handle(kind: Inbound, deviceId: string, client: Client | null, packet: PublishPacket): Promise<void> {
    try {
      const respondTo = (answer: object): void => (client ? respond(client, answer) : undefined);
      const answer = await handlers[kind](deviceId, decode(packet.payload), respondTo);
      if (answer) respondTo(answer);
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (error.code === 'INTERNAL') throw thrown;
      metrics.mqttRejected.inc({ topic: kind });
      log.debug({ deviceId, topic: packet.topic, reason: error.message }, 'message from a device rejected');
      if (client) reject(client, { topic: packet.topic, reason: error.message, details: error.details });
    }
  }

  /** Null, or why there is no PUBACK. */
  async function outcomeOf(...message: Parameters<typeof handle>): Promise<Error | null> {
    try {
      await handle(...message);
      return null;
    } catch (err) {
      const [, deviceId] = message;
      log.error({ err, deviceId }, 'a message from a device could not be carried out; it will come again');
      return err instanceof Error ? err : new Error(String(err));
    }
  }

  async function refuseRate(): Promise<Error> {
    metrics.mqttRefused.inc({ reason: 'rate' });
    return new Error('more messages per second than a device may send');
  }

  async function answerLater(outcome: Promise<Error | null>, callback: (error: Error | null) => void): Promise<void> {
    const error = await outcome;
    callback(error);
    finished();
  }

  const finished = (): void => {
    running -= 1;
    if (running > 0) return;
    const idle = whenIdle;
    whenIdle = [];
    for (const resolve of idle) resolve();
  };

  return {
    authorizePublish(client: Client | null, packet: PublishPacket, callback: (error?: Error | null) => void): void {
      // A will that is published after a restart has no client; its owner was checked when it was stored.
      const deviceId = client?.id ?? (packet as AedesPublishPacket & { clientId?: string }).clientId ?? '';
      const kind = inboundKind(deviceId, packet.topic);
      if (!kind || packet.messageId === 0) {
        metrics.mqttRefused.inc({ reason: kind ? 'packet_id' : 'publish' }); // [MQTT-2.3.1-1]
        callback(new Error(kind ? 'packet identifier 0' : `publish to ${packet.topic} is not allowed`));
        return;
      }
      packet.retain = false; // nobody can subscribe it, and retained messages have no bound
      packet.dup = false; // [MQTT-3.3.1-3]
      metrics.mqttMessages.inc({ topic: kind });
      running += 1;
      const tooMany = kind !== 'acks' && rate.take(deviceId)?.allowed === false;
      const outcome = tooMany ? refuseRate() : outcomeOf(kind, deviceId, client, packet);
      const before = client && tails.get(client);
      const inOrder = before ? before.then(() => outcome) : outcome;
      if (client) tails.set(client, inOrder);
      void answerLater(inOrder, callback);
    },
    idle: (): Promise<void> => (running > 0 ? new Promise((resolve) => whenIdle.push(resolve)) : Promise.resolve()),
  };
}
