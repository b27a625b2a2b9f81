import { type About, type Manner, PENDING_ANSWERS } from '../outbound.ts';
import { createPacketReader } from '../packet-reader.ts';
import { TYPE } from '../packet-rules.ts';
import {
  ackBytes,
  byteProperty,
  codesBytes,
  counted,
  fourProperty,
  packetOf,
  properties,
  refusalBytes,
  textProperty,
  two,
  twoProperty,
  userProperty,
  welcomeBytes,
} from './bytes.ts';
import type { Asked } from './connect.ts';
import { createCorrelations } from './correlations.ts';
import type { createDeviceFlow } from './device-flow.ts';
import type { FromDevice } from './from-device.ts';
import { PROPERTY } from './properties.ts';
import { isRefusal, OF_CONNACK, REASON, type Reason } from './reasons.ts';

/** The limits of the service for the packets of a device. */
export interface Limits {
  /** The most messages of a device without an acknowledgement. */
  receiveMaximum: number;
  /** The most bytes of a packet, and of its body (the remaining length). */
  packetSize: number;
  packetLength: number;
}

interface Parts {
  asked: Asked;
  limits: Limits;
  device: Pick<ReturnType<typeof createDeviceFlow>, 'received' | 'completed' | 'granted' | 'unsubscribed'>;
  /** Writes to the device. */
  write(bytes: Buffer): boolean;
}

const CONNACK = 2;
const SUBACK = 9;
const UNSUBACK = 11;
/** All packets of the service have these, so they are made once. */
const OF_JSON = Buffer.concat([
  byteProperty(PROPERTY.payloadFormat, 1),
  textProperty(PROPERTY.contentType, 'application/json'),
]);
/** Bytes of a PUBLISH besides topic and message, at most: head, identifier, properties. */
const MOST_AROUND = 5 + 2 + 2 + 4 + OF_JSON.length + 5 + 5 + 'traceparent'.length + 64;
const RESPONSES = /\/responses$/;

const PUBLISH = TYPE.PUBLISH << 4;
const QOS_1 = 2;

/**
 * Rewrites what the service writes to a connection of MQTT 5. PUBLISHes are made here already; of those with QoS 1 no more
 * are under way than the device takes, and the others wait [MQTT-3.3.4-9].
 */
export function createServiceFlow({ asked, limits, device, write }: Parts) {
  const splitter = createPacketReader();
  const correlations = createCorrelations();
  /** The messages without an acknowledgement, with what is told when the device refuses one. */
  const sent = new Map<number, About['refused']>();
  const held: Buffer[] = [];
  let isOpen = false;

  const manner: Manner = { publishBytes, mostAnswers: Math.min(PENDING_ANSWERS, asked.receiveMaximum) };

  /** Leaves the words of a packet out if the device does not want them, or does not take so much [MQTT-3.1.2-29]. */
  function worded(make: (reason: Reason) => Buffer, reason: Reason, always = false): Buffer {
    const whole = always || asked.tellsProblems ? make(reason) : undefined;
    if (whole !== undefined && whole.length <= asked.maximumPacketSize) return whole;
    return make({ code: reason.code, text: '' });
  }

  function connack(sessionPresent: number, code: number): Buffer {
    if (code !== 0) return worded(refusalBytes, OF_CONNACK[code] ?? { code: REASON.unspecified, text: '' }, true);
    isOpen = true;
    return welcomeBytes(sessionPresent, [
      twoProperty(PROPERTY.receiveMaximum, limits.receiveMaximum),
      byteProperty(PROPERTY.retainAvailable, 0),
      fourProperty(PROPERTY.maximumPacketSize, limits.packetSize),
      twoProperty(PROPERTY.topicAliasMaximum, 0),
      byteProperty(PROPERTY.wildcardAvailable, 0),
      byteProperty(PROPERTY.subscriptionIdAvailable, 0),
      byteProperty(PROPERTY.sharedAvailable, 0),
    ]);
  }

  /** A packet of MQTT 3.1.1 for the device. */
  function rewritten(first: number, body: Buffer): Buffer {
    const type = first >> 4;
    if (type === CONNACK) return connack(body[0] as number, body[1] as number);
    if (body.length < 2) return packetOf(first, [body]);
    const messageId = body.readUInt16BE(0);
    if (type === TYPE.PUBACK || type === TYPE.PUBREC)
      return worded((reason) => ackBytes(type, messageId, reason), device.received(type, messageId));
    // The service sends no messages of QoS 2, so no identifier of such a message is known.
    if (type === TYPE.PUBREL) return ackBytes(type, messageId, { code: REASON.packetId, text: '' });
    if (type === TYPE.PUBCOMP) device.completed(messageId);
    if (type === SUBACK) return codesBytes(first, messageId, device.granted(messageId, body.subarray(2)));
    if (type === UNSUBACK) return codesBytes(first, messageId, device.unsubscribed(messageId));
    return packetOf(first, [body]);
  }

  /** Sends a PUBLISH that is whole, or keeps it until the device has acknowledged others. */
  function publish(bytes: Buffer): boolean {
    if (sent.size - held.length <= asked.receiveMaximum) return write(bytes);
    held.push(bytes);
    return true;
  }

  /** Whether a PUBLISH is not larger than the device takes [MQTT-3.1.2-24]. */
  const fits = (topic: string, payload: () => string, further = 0): boolean =>
    asked.maximumPacketSize === Number.POSITIVE_INFINITY ||
    Buffer.byteLength(topic) + Buffer.byteLength(payload()) + MOST_AROUND + further <= asked.maximumPacketSize;

  /** A PUBLISH for the device; `messageId` 0 makes it QoS 0, any other value QoS 1. It is written at once. */
  function publishBytes(topic: string, payload: string, messageId: number, about: About = {}): Buffer {
    const parts: Buffer[] = [OF_JSON];
    if (about.expirySeconds !== undefined) parts.push(fourProperty(PROPERTY.messageExpiry, about.expirySeconds));
    if (about.traceparent !== undefined) parts.push(userProperty('traceparent', about.traceparent));
    const data = RESPONSES.test(topic) ? correlations.of(payload) : undefined;
    if (data !== undefined && fits(topic, () => payload, data.length))
      parts.push(textProperty(PROPERTY.correlationData, data));
    const id = messageId === 0 ? [] : [two(messageId)];
    if (messageId !== 0) sent.set(messageId, about.refused);
    const body = [counted(topic), ...id, properties(...parts), Buffer.from(payload)];
    return packetOf(messageId === 0 ? PUBLISH : PUBLISH | QOS_1, body);
  }

  return {
    manner,
    isOpen: (): boolean => isOpen,

    /** Takes the place of the `write` of the connection; packets may come in pieces. */
    write(chunk: Buffer | string): boolean {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      if (splitter.look(Number.MAX_SAFE_INTEGER) === 'none' && (bytes[0] as number) >> 4 === TYPE.PUBLISH)
        return ((bytes[0] as number) & QOS_1) === 0 ? write(bytes) : publish(bytes);
      splitter.push(bytes);
      let isWritable = true;
      while (splitter.look(Number.MAX_SAFE_INTEGER) === 'whole') {
        const { first, start, end } = splitter;
        isWritable = write(rewritten(first, splitter.bytes.subarray(start, end)));
        splitter.pass();
      }
      return isWritable;
    },

    /** Called when an acknowledgement of the device has arrived. */
    answered({ type, messageId, code, text }: Extract<FromDevice, { kind: 'ack' }>): void {
      if (type !== TYPE.PUBACK || !sent.has(messageId)) return;
      if (isRefusal(code)) sent.get(messageId)?.({ code, text });
      sent.delete(messageId);
      const next = held.shift();
      if (next !== undefined) write(next);
    },

    fits,

    /** Keeps the correlation data of a request, which its response gets. */
    keepCorrelation: correlations.keep,
  };
}
