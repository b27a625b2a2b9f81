import type { Duplex } from 'node:stream';
import { type Fault, faultText } from '@lapel/schemas/contracts/errors';
import type { Client, PublishPacket } from 'aedes';
import type { EndReason } from '../../../core/sessions/connection-log-repository.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { keepWill, makeClean, subscriptionsOf, writePacket } from '../aedes-internals.ts';
import { MOST_UNRELEASED } from '../exactly-once.ts';
import {
  ANSWERED,
  type FoundConnect,
  type GuardParts,
  type Opened,
  Refusal,
  type RefusedConnect,
} from '../guard-parts.ts';
import { TYPE } from '../packet-rules.ts';
import { topicOf } from '../topics.ts';
import { ackBytes, refusalBytes } from './bytes.ts';
import { type Asked, NEVER, readConnect } from './connect.ts';
import { createFive, type Five } from './five.ts';
import { createFiveLinks } from './five-links.ts';
import type { FromDevice } from './from-device.ts';
import { bytesOf, PROPERTY } from './properties.ts';
import { REASON, type Reason, reasonOfEnd, reasonOfError, Violation } from './reasons.ts';
import type { Limits } from './service-flow.ts';

/** The limits of the service for a device of MQTT 5, which its CONNACK tells. The body of the longest packet has a head of four bytes. */
const LIMITS: Limits = { receiveMaximum: MOST_UNRELEASED, packetSize: 256 * 1024, packetLength: 256 * 1024 - 4 };

type Published = GuardParts['published'];

interface Parts {
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Carries out a message of a device. */
  published: Published;
  /** Called when a message of QoS 2 was refused, so that another one may have its identifier. */
  released(client: Client, messageId: number): void;
  /** Notes the end of a connection whose session goes on; resolves when it need not be waited for. */
  ended(client: Client, end: { expirySeconds: number | null; willSeconds: number | null }): Promise<void>;
  /** Ends the session of a device, which has nothing more to say. */
  endSession(client: Client): Promise<void>;
  /** Takes the session from a connection that goes on: it leaves nothing behind when it ends. */
  detachSession(client: Client): Promise<void>;
}

/**
 * The front for MQTT 5: everything behind it (the guard, Aedes, the handlers) goes on with MQTT 3.1.1. A connection costs it
 * one object. Nothing here is asked for a connection of 3.1.1 while its messages come and go.
 */
export function createFront({ clock, log, published, released, ended, endSession, detachSession }: Parts) {
  const fives = new WeakMap<Client, Five>();
  /** The seconds for which sessions outlive their connections, where a DISCONNECT has changed them. */
  const changed = new WeakMap<Client, number>();
  /** The connections whose will was put off. */
  const putOff = new WeakSet<Client>();
  /** The connections whose session ends with their DISCONNECT. */
  const ending = new WeakSet<Client>();

  /** Keeps what a request says about its response. It is answered on the device's topic for responses, and on no other. */
  function asks(
    client: Client,
    five: Five,
    { topic, payload, messageId, values }: Extract<FromDevice, { kind: 'publish' }>,
  ): void {
    if (values.size === 0 || topic.toString() !== topicOf(client.id, 'requests')) return;
    const answerTo = bytesOf(values, PROPERTY.responseTopic);
    const data = bytesOf(values, PROPERTY.correlationData);
    if (answerTo !== undefined && answerTo.toString() !== topicOf(client.id, 'responses')) five.unanswerable(messageId);
    else if (data !== undefined) five.keepCorrelation(payload, data);
  }

  /** Carries out a message, and answers it with a reason code where MQTT 3.1.1 would end the connection. */
  function carryOut(client: Client, five: Five, packet: PublishPacket, done: (error?: Error | null) => void): void {
    const { messageId = 0, qos } = packet;
    const answer = (error?: Error | null): void => {
      const isRefused = error instanceof Refusal && qos > 0;
      if (isRefused) five.verdict(messageId, { code: REASON.quota, text: error.message });
      const isFailure = Boolean(error) && !isRefused;
      if (isFailure || qos !== 2 || !five.isRefused(messageId)) {
        done(isFailure ? error : null);
        return;
      }
      // A PUBREC that refuses is the end of the message: Aedes must not store its identifier [MQTT-4.3.3-9].
      released(client, messageId);
      writePacket(client, ackBytes(TYPE.PUBREC, messageId, { code: 0, text: '' }), () => done(ANSWERED));
    };
    if (qos > 0 && five.takeUnanswerable(messageId)) {
      five.verdict(messageId, {
        code: REASON.topic,
        text: `responses come on ${topicOf(client.id, 'responses')} only`,
      });
      answer();
    } else published(client, packet, answer);
  }

  function leaves(
    client: Client,
    asked: Asked,
    { code, sessionExpiry }: Extract<FromDevice, { kind: 'disconnect' }>,
  ): void {
    if (!asked.isKept && sessionExpiry !== undefined && sessionExpiry > 0)
      throw new Violation(REASON.protocolError, '[MQTT-3.14.2] a session that ends with its connection');
    if (code !== 0) keepWill(client);
    if (sessionExpiry !== undefined) changed.set(client, sessionExpiry);
    if (asked.isKept && sessionExpiry === 0) ending.add(client);
  }

  function stored(client: Client, change: Promise<void>): void {
    change.catch((err: unknown) =>
      log.warn({ err, deviceId: client.id }, 'the session of a device could not be ended'),
    );
  }

  function expiryOf(client: Client): number | null {
    const seconds = changed.get(client) ?? fives.get(client)?.asked.expirySeconds ?? NEVER;
    return seconds === NEVER ? null : seconds;
  }

  /** A will is due at the end of its session at the latest [MQTT5 3.1.3.2.2]. */
  function willDelayOf(client: Client): number | null {
    const delay = Math.min(fives.get(client)?.asked.willDelaySeconds ?? 0, expiryOf(client) ?? NEVER);
    return delay === 0 ? null : delay;
  }

  return {
    ...createFiveLinks({ clock, log, published, fiveOf: (client) => fives.get(client) }),

    /** Takes over a connection whose first packet is a CONNECT of MQTT 5. */
    open(client: Client, conn: Duplex, { bytes, start, end, rest }: FoundConnect): Opened | RefusedConnect {
      let asked: Asked;
      try {
        asked = readConnect(bytes, start, end);
      } catch (thrown) {
        if (!(thrown instanceof Violation)) throw thrown;
        return { connack: refusalBytes(thrown), clause: thrown.message };
      }
      const five = createFive({
        conn,
        asked,
        limits: LIMITS,
        rest,
        comes(packet) {
          if (packet.kind === 'disconnect') leaves(client, asked, packet);
          if (packet.kind === 'publish') asks(client, five, packet);
        },
        subscribes: (filter) => subscriptionsOf(client)[filter] !== undefined,
      });
      fives.set(client, five);
      return {
        connect: asked.connect,
        check: five.check,
        published: (one, packet, done) => carryOut(one, five, packet, done),
      };
    },

    of: (client: Client): Five | undefined => fives.get(client),

    /** Carries out a message of QoS 2, or a will, of any connection. */
    published(client: Client | null, packet: PublishPacket, done: (error?: Error | null) => void): void {
      // Aedes passes a will as it was in the CONNECT, without `cmd`.
      const isWill = (packet as Partial<PublishPacket>).cmd === undefined;
      const willSeconds = client && isWill ? willDelayOf(client) : null;
      if (client && willSeconds !== null) {
        putOff.add(client);
        void ended(client, { expirySeconds: expiryOf(client), willSeconds });
        return; // without an answer Aedes leaves the stored will as it is
      }
      const five = client ? fives.get(client) : undefined;
      if (client && five) carryOut(client, five, packet, done);
      else published(client as Client, packet, done);
    },

    /** Called when the errors topic tells a fault of a message. `code`: of the error; undefined when it was taken in parts. */
    told(
      client: Client,
      { messageId }: PublishPacket,
      told: { code?: string; reason: string; details: readonly Fault[] },
    ): void {
      if (messageId === undefined) return;
      const text = `${told.reason} ${faultText(told.details.slice(0, 3))}`.trim();
      const code = told.code === undefined ? REASON.success : reasonOfError(told.code);
      fives.get(client)?.verdict(messageId, { code, text });
    },

    /** Called before the connection ends. */
    ends(client: Client, reason: EndReason, detail?: string): void {
      fives.get(client)?.ends(reasonOfEnd(reason, detail));
    },

    /** Called before the process stops. */
    stops(client: Client, isOneOfMany: boolean): void {
      const reason: Reason = isOneOfMany
        ? { code: REASON.anotherServer, text: 'this node stops: connect again' }
        : { code: REASON.shuttingDown, text: 'the service stops' };
      fives.get(client)?.ends(reason);
    },

    /** Whether the session of a connection begins now, whatever is stored. */
    isNew: (client: Client): boolean => fives.get(client)?.asked.isNew === true,

    /** Called when a device has logged in. */
    ready(client: Client): void {
      const asked = fives.get(client)?.asked;
      if (!asked || asked.isKept || client.clean) return;
      makeClean(client);
      stored(client, detachSession(client));
    },

    expiryOf,
    willDelayOf,

    /** Called when a connection has ended and the device has no newer one. */
    left(client: Client): void {
      const expirySeconds = expiryOf(client);
      if (expirySeconds === null || expirySeconds === 0 || putOff.has(client)) return;
      void ended(client, { expirySeconds, willSeconds: null });
    },

    /** Called when the device has sent a DISCONNECT, before the next login of the device. */
    disconnects(client: Client): void {
      if (ending.has(client)) stored(client, endSession(client));
    },
  };
}
