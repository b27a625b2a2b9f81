import type { PublishPacket } from 'aedes';
import { TYPE } from './packet-rules.ts';

/** The longest length field of one byte; each further byte holds seven more bits [MQTT-2.2.3]. */
const MOST_IN_ONE_BYTE = 0x7f;

/** The number of bytes that a length takes [MQTT-2.2.3]. */
export const lengthBytes = (length: number): number =>
  length <= 0x7f ? 1 : length <= 0x3fff ? 2 : length <= 0x1f_ffff ? 3 : 4;

/** Writes a length at `at`; returns where it ends. */
export function writeLength(bytes: Buffer, at: number, length: number): number {
  let rest = length;
  for (; rest > MOST_IN_ONE_BYTE; rest >>>= 7) at = bytes.writeUInt8((rest & MOST_IN_ONE_BYTE) | 0x80, at);
  return bytes.writeUInt8(rest, at);
}

/**
 * A PUBLISH packet in one buffer, without RETAIN and DUP [MQTT-3.3]. `messageId` 0 makes it QoS 0, any other value QoS 1.
 */
export function publishBytes(topic: string, payload: string, messageId: number): Buffer {
  const topicLength = Buffer.byteLength(topic);
  const payloadLength = Buffer.byteLength(payload);
  const isNumbered = messageId !== 0;
  const length = 2 + topicLength + (isNumbered ? 2 : 0) + payloadLength;
  const bytes = Buffer.allocUnsafe(1 + lengthBytes(length) + length);
  bytes[0] = isNumbered ? 0x32 : 0x30;
  let at = writeLength(bytes, 1, length);
  at = bytes.writeUInt16BE(topicLength, at);
  at += bytes.write(topic, at);
  if (isNumbered) at = bytes.writeUInt16BE(messageId, at);
  bytes.write(payload, at);
  return bytes;
}

/** A PUBACK packet [MQTT-3.4]. */
export const pubackBytes = (messageId: number): Buffer => Buffer.from([0x40, 2, messageId >>> 8, messageId & 0xff]);

/** A CONNACK packet with a return code that refuses the login [MQTT-3.2.2-4]. */
export const connackBytes = (code: number): Buffer => Buffer.from([0x20, 2, 0, code]);

const cutLengths = new WeakMap<PublishPacket, number>();

/** Marks a PUBLISH of which only the beginning is kept, with its remaining length as it was sent. */
export const cutFrom = (packet: PublishPacket, length: number): void => void cutLengths.set(packet, length);

/** The remaining length of a PUBLISH of which only the beginning is kept; undefined for a whole one. */
export const lengthBeforeCut = (packet: PublishPacket): number | undefined => cutLengths.get(packet);

/** A PUBACK of a device. */
export type Puback = { cmd: 'puback'; messageId: number };

const DUP = 8;
const RETAIN = 1;

/**
 * Reads a PUBACK, or a PUBLISH of QoS 0 or 1, which are nearly all packets of a device; undefined for all other packets.
 * `packetFault` must have found no fault in it, with the same arguments. The fields have the values that mqtt-packet
 * reads, which Aedes would use; it takes several times as long. The payload is a view of `bytes`, as there, so it keeps
 * the chunk that it came in. A copy would cost time for nothing: a message is forgotten when it has been carried out.
 */
export function readPacket(
  bytes: Buffer,
  first: number,
  start: number,
  end: number,
): PublishPacket | Puback | undefined {
  const type = first >> 4;
  if (type === TYPE.PUBACK) return { cmd: 'puback', messageId: bytes.readUInt16BE(start) };
  const qos = (first >> 1) & 3;
  if (type !== TYPE.PUBLISH || qos > 1) return undefined;
  const topicStart = start + 2;
  const topicEnd = topicStart + bytes.readUInt16BE(start);
  const packet: PublishPacket = {
    cmd: 'publish',
    retain: (first & RETAIN) !== 0,
    qos: qos === 1 ? 1 : 0,
    dup: (first & DUP) !== 0,
    topic: bytes.toString('utf8', topicStart, topicEnd),
    payload: bytes.subarray(qos === 1 ? topicEnd + 2 : topicEnd, end),
  };
  if (qos === 1) packet.messageId = bytes.readUInt16BE(topicEnd);
  return packet;
}
