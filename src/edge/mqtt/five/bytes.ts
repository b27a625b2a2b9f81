import { lengthBytes, writeLength } from '../packet-bytes.ts';
import { TYPE } from '../packet-rules.ts';
import { PROPERTY } from './properties.ts';
import type { Reason } from './reasons.ts';

/** The most characters of a reason string. */
const LONGEST_REASON = 300;
const CONTROLS = /\p{Cc}/gu;

/** A packet of its first byte and the parts of its body. */
export function packetOf(first: number, parts: readonly Buffer[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const bytes = Buffer.allocUnsafe(1 + lengthBytes(length) + length);
  bytes[0] = first;
  let at = writeLength(bytes, 1, length);
  for (const part of parts) at += part.copy(bytes, at);
  return bytes;
}

export const two = (value: number): Buffer => Buffer.from([value >>> 8, value & 0xff]);

/** Bytes, or a text, with their length in front. */
export function counted(value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([two(bytes.length), bytes]);
}

export const byteProperty = (id: number, value: number): Buffer => Buffer.from([id, value]);
export const twoProperty = (id: number, value: number): Buffer => Buffer.from([id, value >>> 8, value & 0xff]);

export function fourProperty(id: number, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(5);
  bytes[0] = id;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

export const textProperty = (id: number, value: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from([id]), counted(value)]);

export const userProperty = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([PROPERTY.userProperty]), counted(name), counted(value)]);

/** Properties with their length in front. */
export function properties(...parts: readonly Buffer[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const head = Buffer.allocUnsafe(lengthBytes(length));
  writeLength(head, 0, length);
  return Buffer.concat([head, ...parts]);
}

/** The reason string of a packet; none for an empty text. Foreign text in it loses its control characters. */
export const reasonString = (text: string): Buffer[] =>
  text === ''
    ? []
    : [textProperty(PROPERTY.reasonString, text.slice(0, LONGEST_REASON).toWellFormed().replace(CONTROLS, ' '))];

/** A PUBACK, PUBREC, PUBREL or PUBCOMP. */
export function ackBytes(type: number, messageId: number, { code, text }: Reason): Buffer {
  const first = (type << 4) | (type === TYPE.PUBREL ? 2 : 0);
  const id = two(messageId);
  if (text !== '') return packetOf(first, [id, Buffer.from([code]), properties(...reasonString(text))]);
  return packetOf(first, code === 0 ? [id] : [id, Buffer.from([code])]);
}

const DISCONNECT = TYPE.DISCONNECT << 4;

export const disconnectBytes = ({ code, text }: Reason): Buffer =>
  packetOf(DISCONNECT, [Buffer.from([code]), properties(...reasonString(text))]);

const CONNACK = 0x20;

/** A CONNACK that refuses the login [MQTT-3.2.2-6]. */
export const refusalBytes = ({ code, text }: Reason): Buffer =>
  packetOf(CONNACK, [Buffer.from([0, code]), properties(...reasonString(text))]);

/** A CONNACK that lets the device in. */
export const welcomeBytes = (sessionPresent: number, parts: readonly Buffer[]): Buffer =>
  packetOf(CONNACK, [Buffer.from([sessionPresent, 0]), properties(...parts)]);

/** A SUBACK or UNSUBACK with a code for each filter. */
export const codesBytes = (first: number, messageId: number, codes: readonly number[]): Buffer =>
  packetOf(first, [two(messageId), properties(), Buffer.from(codes)]);
