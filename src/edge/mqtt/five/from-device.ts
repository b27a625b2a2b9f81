import { stringEnd, TYPE } from '../packet-rules.ts';
import { packetOf } from './bytes.ts';
import { bytesOf, numberOf, PROPERTY, readProperties, type Values } from './properties.ts';
import { isRefusal, REASON, Violation } from './reasons.ts';

/** A packet of a device as MQTT 3.1.1 has it, with what only MQTT 5 says. */
export type FromDevice =
  | { kind: 'publish'; bytes: Buffer; qos: number; messageId: number; topic: Buffer; payload: Buffer; values: Values }
  | { kind: 'ack'; bytes: Buffer; type: number; messageId: number; code: number; text: string }
  | { kind: 'subscribe'; bytes: Buffer; messageId: number; filters: string[] }
  | { kind: 'unsubscribe'; bytes: Buffer; messageId: number; filters: string[] }
  | { kind: 'disconnect'; bytes: Buffer; code: number; sessionExpiry: number | undefined }
  | { kind: 'other'; bytes: Buffer };

const RETAIN = 1;
const FLAGS = 15;
const DISCONNECT = Buffer.from([TYPE.DISCONNECT << 4, 0]);
const OPTIONS = { qos: 0x03, retainHandling: 0x30, reserved: 0xc0 } as const;
const NOTHING = Buffer.alloc(0);
/** The reason codes that a device may send, besides 0 [MQTT5 2.4]. */
const RECEIVED = new Set([0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99]);
const RELEASED = new Set([REASON.packetId as number]);
const LEAVES = new Set([0x04, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99]);

const malformed = (clause: string): Violation => new Violation(REASON.malformed, clause);
const protocolError = (clause: string): Violation => new Violation(REASON.protocolError, clause);

function readPublish(bytes: Buffer, first: number, start: number, end: number): FromDevice {
  const qos = (first >> 1) & 3;
  if (qos === 3) throw malformed('[MQTT-3.3.1-4] QoS 3');
  const topicEnd = stringEnd(bytes, start, end);
  const propertiesAt = qos === 0 ? topicEnd : topicEnd + 2;
  if (topicEnd < 0 || propertiesAt > end) throw malformed('[MQTT-3.3.2-1] no topic, or no packet identifier');
  const { values, end: payloadAt } = readProperties(bytes, propertiesAt, end, TYPE.PUBLISH);
  if ((first & RETAIN) !== 0) throw new Violation(REASON.retain, '[MQTT-3.2.2-14] retained messages are not available');
  if (values.has(PROPERTY.topicAlias))
    throw new Violation(REASON.topicAlias, '[MQTT-3.3.2-9] topic aliases are not available');
  const topic = bytes.subarray(start + 2, topicEnd);
  if (topic.length === 0) throw protocolError('[MQTT-3.3.2] no topic');
  const answerTo = bytesOf(values, PROPERTY.responseTopic);
  if (answerTo?.length === 0 || answerTo?.includes('+') || answerTo?.includes('#'))
    throw protocolError('[MQTT-3.3.2-14] a response topic that is none');
  const payload = bytes.subarray(payloadAt, end);
  return {
    kind: 'publish',
    bytes: packetOf(first, [bytes.subarray(start, propertiesAt), payload]),
    qos,
    messageId: qos === 0 ? 0 : bytes.readUInt16BE(topicEnd),
    topic,
    payload,
    values,
  };
}

/** A PUBACK, PUBREC, PUBREL or PUBCOMP: reason code and properties may be missing [MQTT5 3.4.2]. */
function readAck(bytes: Buffer, first: number, start: number, end: number): FromDevice {
  if (start + 2 > end) throw malformed('[MQTT-2.2.1] no packet identifier');
  const type = first >> 4;
  const code = start + 2 < end ? (bytes[start + 2] as number) : 0;
  const codes = type === TYPE.PUBACK || type === TYPE.PUBREC ? RECEIVED : RELEASED;
  if (code !== 0 && !codes.has(code)) throw protocolError(`[MQTT-2.4] reason code ${code}`);
  const read = start + 3 < end ? readProperties(bytes, start + 3, end, type) : undefined;
  if (read !== undefined && read.end !== end) throw malformed('[MQTT-2.2.2] bytes behind the properties');
  const text = (read && bytesOf(read.values, PROPERTY.reasonString)?.toString()) ?? '';
  const id = bytes.subarray(start, start + 2);
  // A PUBREC that refuses is not answered [MQTT-4.3.3-4]; as a PUBCOMP it has no effect.
  const sent = type === TYPE.PUBREC && isRefusal(code) ? (TYPE.PUBCOMP << 4) | (first & FLAGS) : first;
  return { kind: 'ack', bytes: packetOf(sent, [id]), type, messageId: id.readUInt16BE(0), code, text };
}

/** The filters of a SUBSCRIBE or UNSUBSCRIBE; rewrites the options of the first into the QoS that MQTT 3.1.1 has. */
function readFilters(bytes: Buffer, first: number, start: number, end: number): FromDevice {
  const type = first >> 4;
  const kind = type === TYPE.SUBSCRIBE ? 'subscribe' : 'unsubscribe';
  if (start + 2 > end) throw malformed('[MQTT-2.2.1] no packet identifier');
  const { values, end: filtersAt } = readProperties(bytes, start + 2, end, type);
  if (values.has(PROPERTY.subscriptionId))
    throw new Violation(REASON.subscriptionId, '[MQTT-3.8.2] subscription identifiers are not available');
  const payload = Buffer.from(bytes.subarray(filtersAt, end));
  const filters: string[] = [];
  for (let at = 0; at < payload.length; ) {
    const stop = stringEnd(payload, at, payload.length);
    if (stop < 0 || (kind === 'subscribe' && stop === payload.length))
      throw malformed('[MQTT-3.8.3-1] a filter does not fit');
    filters.push(payload.toString('utf8', at + 2, stop));
    at = stop;
    if (kind === 'unsubscribe') continue;
    const options = payload[stop] as number;
    if ((options & OPTIONS.reserved) !== 0) throw malformed('[MQTT-3.8.3-5] reserved bits of the options');
    if ((options & OPTIONS.qos) === 3) throw protocolError('[MQTT-3.8.3] requested QoS 3');
    if ((options & OPTIONS.retainHandling) === OPTIONS.retainHandling)
      throw protocolError('[MQTT-3.8.3] retain handling 3');
    payload[stop] = options & OPTIONS.qos;
    at = stop + 1;
  }
  if (filters.length === 0) throw protocolError(`[MQTT-${kind === 'subscribe' ? '3.8.3-2' : '3.10.3-2'}] no filter`);
  const id = bytes.subarray(start, start + 2);
  return { kind, bytes: packetOf(first, [id, payload]), messageId: id.readUInt16BE(0), filters };
}

function readDisconnect(bytes: Buffer, first: number, start: number, end: number): FromDevice {
  if (first !== DISCONNECT[0]) throw malformed('[MQTT-3.14.1-1] reserved flags');
  const code = start < end ? (bytes[start] as number) : 0;
  if (code !== 0 && !LEAVES.has(code)) throw protocolError(`[MQTT-3.14.2-1] reason code ${code}`);
  const read = start + 1 < end ? readProperties(bytes, start + 1, end, TYPE.DISCONNECT) : undefined;
  if (read !== undefined && read.end !== end) throw malformed('[MQTT-2.2.2] bytes behind the properties');
  const sessionExpiry = read && numberOf(read.values, PROPERTY.sessionExpiry);
  return { kind: 'disconnect', bytes: DISCONNECT, code, sessionExpiry };
}

/**
 * Reads a packet of a device, of which the reader has found the first byte and the body, and rewrites it for MQTT 3.1.1.
 * Throws a Violation. Rules that MQTT 3.1.1 has as well are checked behind it, with the packets of that version.
 */
export function readFromDevice(bytes: Buffer, first: number, start: number, end: number): FromDevice {
  switch (first >> 4) {
    case TYPE.PUBLISH:
      return readPublish(bytes, first, start, end);
    case TYPE.PUBACK:
    case TYPE.PUBREC:
    case TYPE.PUBREL:
    case TYPE.PUBCOMP:
      return readAck(bytes, first, start, end);
    case TYPE.SUBSCRIBE:
    case TYPE.UNSUBSCRIBE:
      return readFilters(bytes, first, start, end);
    case TYPE.DISCONNECT:
      return readDisconnect(bytes, first, start, end);
    case TYPE.CONNECT:
      throw protocolError('[MQTT-3.1.0-2] a second CONNECT');
    case TYPE.AUTH:
      throw protocolError('[MQTT-4.12.0-6] AUTH without an authentication method');
    default: // PINGREQ, and types that no device sends: the rules of MQTT 3.1.1 say what they are
      return { kind: 'other', bytes: packetOf(first, [start === end ? NOTHING : bytes.subarray(start, end)]) };
  }
}
