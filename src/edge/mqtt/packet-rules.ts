import { isUtf8 } from 'node:buffer';

/** The types of MQTT control packets: the upper four bits of their first byte. */
export const TYPE = {
  CONNECT: 1,
  PUBLISH: 3,
  PUBACK: 4,
  PUBREC: 5,
  PUBREL: 6,
  PUBCOMP: 7,
  SUBSCRIBE: 8,
  UNSUBSCRIBE: 10,
  PINGREQ: 12,
  DISCONNECT: 14,
  /** Only MQTT 5 has it. */
  AUTH: 15,
} as const;

/** The most filters in one SUBSCRIBE or UNSUBSCRIBE; a device needs only three. */
export const MOST_FILTERS = 256;

/**
 * The fault of a CONNECT with an unknown protocol level. This fault alone is answered, with CONNACK 1; others just end
 * the connection.
 */
export const UNKNOWN_LEVEL = '[MQTT-3.1.2-2] protocol level';

// The lower four bits of the first byte that each packet type must have [MQTT-2.2.2-1]; -1 for types that only a server
// sends. PUBLISH uses these bits for its own flags.
const FLAGS = [-1, 0, -1, -1, 0, 0, 2, 0, 2, -1, 2, -1, 0, -1, 0, -1];
const KNOWN_LEVELS: Record<string, number> = { MQTT: 4, MQIsdp: 3 };

const CONTROL_END = 0x1f;
const DELETE = 0x7f;
const C1_END = 0x9f;
const SLASH = 0x2f;
const PLUS = 0x2b;
const HASH = 0x23;

/**
 * The fault of bytes that must be UTF-8 text without control characters; undefined when there is none. Most texts are
 * ASCII, so only texts with other bytes are checked for UTF-8.
 */
export function textFault(bytes: Buffer, start: number, end: number): string | undefined {
  let ascii = true;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === 0) return '[MQTT-1.5.3-2] null character';
    if (byte <= CONTROL_END || byte === DELETE) return '[MQTT-1.5.3] control character';
    if (byte > DELETE) ascii = false;
  }
  if (ascii) return undefined;
  if (!isUtf8(bytes.subarray(start, end))) return '[MQTT-1.5.3-1] ill-formed UTF-8';
  for (let at = start; at < end - 1; at += 1) {
    if (bytes[at] === 0xc2 && (bytes[at + 1] as number) <= C1_END) return '[MQTT-1.5.3] control character';
  }
  return undefined;
}

function topicFault(bytes: Buffer, start: number, end: number): string | undefined {
  if (start === end) return '[MQTT-4.7.3-1] empty topic';
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === PLUS || byte === HASH) return '[MQTT-3.3.2-2] wildcard in a topic';
  }
  return textFault(bytes, start, end);
}

function filterFault(bytes: Buffer, start: number, end: number): string | undefined {
  if (start === end) return '[MQTT-4.7.3-1] empty filter';
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== PLUS && byte !== HASH) continue;
    const alone = (at === start || bytes[at - 1] === SLASH) && (at === end - 1 || bytes[at + 1] === SLASH);
    if (byte === PLUS && !alone) return '[MQTT-4.7.1-3] + within a level';
    if (byte === HASH && (!alone || at !== end - 1)) return '[MQTT-4.7.1-2] # not alone in the last level';
  }
  return textFault(bytes, start, end);
}

/** The end of the string whose length field is at `at`, or -1 when it exceeds the packet. */
export function stringEnd(bytes: Buffer, at: number, end: number): number {
  if (at + 2 > end) return -1;
  const stop = at + 2 + bytes.readUInt16BE(at);
  return stop > end ? -1 : stop;
}

function connectFault(bytes: Buffer, start: number, end: number): string | undefined {
  const nameEnd = stringEnd(bytes, start, end);
  if (nameEnd < 0 || nameEnd + 4 > end) return '[MQTT-3.1] too short';
  const level = KNOWN_LEVELS[bytes.toString('latin1', start + 2, nameEnd)];
  if (level === undefined) return '[MQTT-3.1.2-1] protocol name';
  if (bytes[nameEnd] !== level) return UNKNOWN_LEVEL;
  const flags = bytes[nameEnd + 1] as number;
  if (flags & 0x01) return '[MQTT-3.1.2-3] reserved flag';
  const hasWill = (flags & 0x04) !== 0;
  const willQos = (flags >> 3) & 3;
  if (!hasWill && willQos !== 0) return '[MQTT-3.1.2-13] will QoS without a will';
  if (willQos === 3) return '[MQTT-3.1.2-14] will QoS 3';
  if (!hasWill && flags & 0x20) return '[MQTT-3.1.2-15] will retain without a will';
  const hasUser = (flags & 0x80) !== 0;
  const hasPassword = (flags & 0x40) !== 0;
  if (!hasUser && hasPassword) return '[MQTT-3.1.2-22] password without a user name';

  let at = nameEnd + 4;
  // The fields of the payload in their order (clientId, topic and message of the will, user, password) [MQTT-3.1.3-1]:
  // true for each field that the flags announce.
  const fields = [true, hasWill, hasWill, hasUser, hasPassword];
  for (let field = 0; field < fields.length; field += 1) {
    if (!fields[field]) continue;
    const stop = stringEnd(bytes, at, end);
    if (stop < 0) return '[MQTT-3.1.3-1] a field is missing';
    const isText = field !== 2 && field !== 4; // the message of the will and the password may be any bytes
    const fault = isText ? textFault(bytes, at + 2, stop) : undefined;
    if (fault) return fault;
    at = stop;
  }
  return at === end ? undefined : '[MQTT-3.1.3-1] bytes behind the last field';
}

function publishFault(bytes: Buffer, flags: number, start: number, end: number): string | undefined {
  const qos = (flags >> 1) & 3;
  if (qos === 3) return '[MQTT-3.3.1-4] QoS 3';
  if (qos === 0 && flags & 8) return '[MQTT-3.3.1-2] DUP with QoS 0';
  const topicEnd = stringEnd(bytes, start, end);
  if (topicEnd < 0) return '[MQTT-3.3.2-1] no topic';
  const fault = topicFault(bytes, start + 2, topicEnd);
  if (fault || qos === 0) return fault;
  if (topicEnd + 2 > end) return '[MQTT-2.3.1-1] no packet identifier';
  return bytes.readUInt16BE(topicEnd) === 0 ? '[MQTT-2.3.1-1] packet identifier 0' : undefined;
}

function filtersFault(bytes: Buffer, start: number, end: number, withQos: boolean): string | undefined {
  if (start + 2 > end || bytes.readUInt16BE(start) === 0) return '[MQTT-2.3.1-1] packet identifier 0';
  let at = start + 2;
  if (at === end) return withQos ? '[MQTT-3.8.3-3] no filter' : '[MQTT-3.10.3-2] no filter';
  for (let count = 1; at < end; count += 1) {
    if (count > MOST_FILTERS) return `more than ${MOST_FILTERS} filters`;
    const stop = stringEnd(bytes, at, end);
    if (stop < 0 || (withQos && stop === end)) return '[MQTT-3.8.3-1] a filter does not fit';
    const fault = filterFault(bytes, at + 2, stop);
    if (fault) return fault;
    if (withQos && (bytes[stop] as number) > 2) return '[MQTT-3.8.3-4] requested QoS';
    at = withQos ? stop + 1 : stop;
  }
  return undefined;
}

/**
 * The clause of MQTT 3.1.1 that a packet of a client breaks, or undefined. `first` is the first byte of the packet; its
 * variable header and payload are `bytes` from `start` to `end`. Nothing is copied.
 */
export function packetFault(bytes: Buffer, first: number, start: number, end: number): string | undefined {
  const type = first >> 4;
  const flags = first & 15;
  if (type === TYPE.PUBLISH) return publishFault(bytes, flags, start, end);
  const wanted = FLAGS[type];
  if (wanted === -1) return `[MQTT-2.2.1] packet type ${type}`;
  if (wanted !== flags) return '[MQTT-2.2.2-2] reserved flags';
  switch (type) {
    case TYPE.CONNECT:
      return connectFault(bytes, start, end);
    case TYPE.SUBSCRIBE:
      return filtersFault(bytes, start, end, true);
    case TYPE.UNSUBSCRIBE:
      return filtersFault(bytes, start, end, false);
    case TYPE.PINGREQ:
    case TYPE.DISCONNECT:
      return start === end ? undefined : '[MQTT-2.2.3] remaining length above 0';
    default: // the remaining types: PUBACK, PUBREC, PUBREL, PUBCOMP
      if (end - start !== 2) return '[MQTT-2.2.3] remaining length other than 2';
      return bytes.readUInt16BE(start) === 0 ? '[MQTT-2.3.1-1] packet identifier 0' : undefined;
  }
}
