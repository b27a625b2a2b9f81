import { TYPE, textFault } from '../packet-rules.ts';
import { REASON, Violation } from './reasons.ts';

/** The identifiers of properties [MQTT5 2.2.2.2]. */
export const PROPERTY = {
  payloadFormat: 0x01,
  messageExpiry: 0x02,
  contentType: 0x03,
  responseTopic: 0x08,
  correlationData: 0x09,
  subscriptionId: 0x0b,
  sessionExpiry: 0x11,
  serverKeepAlive: 0x13,
  authenticationMethod: 0x15,
  authenticationData: 0x16,
  requestProblem: 0x17,
  willDelay: 0x18,
  requestResponse: 0x19,
  serverReference: 0x1c,
  reasonString: 0x1f,
  receiveMaximum: 0x21,
  topicAliasMaximum: 0x22,
  topicAlias: 0x23,
  retainAvailable: 0x25,
  userProperty: 0x26,
  maximumPacketSize: 0x27,
  wildcardAvailable: 0x28,
  subscriptionIdAvailable: 0x29,
  sharedAvailable: 0x2a,
} as const;

type Kind = 'byte' | 'flag' | 'two' | 'four' | 'variable' | 'text' | 'bytes' | 'pair';

/** The properties of a will, which CONNECT has besides its own. */
export const WILL = 0;
/** Where a device may send properties: the type of the packet. */
export type Holder = number;

const { CONNECT, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, UNSUBSCRIBE, DISCONNECT } = TYPE;
const MESSAGES = [PUBLISH, WILL];
const ACKS = [PUBACK, PUBREC, PUBREL, PUBCOMP];
const ALL = [CONNECT, WILL, PUBLISH, ...ACKS, SUBSCRIBE, UNSUBSCRIBE, DISCONNECT];

/** The properties that a device may send: the kind of each, and the packets that may have it. */
const KNOWN: Readonly<Record<number, { kind: Kind; holders: readonly Holder[] }>> = {
  [PROPERTY.payloadFormat]: { kind: 'flag', holders: MESSAGES },
  [PROPERTY.messageExpiry]: { kind: 'four', holders: MESSAGES },
  [PROPERTY.contentType]: { kind: 'text', holders: MESSAGES },
  [PROPERTY.responseTopic]: { kind: 'text', holders: MESSAGES },
  [PROPERTY.correlationData]: { kind: 'bytes', holders: MESSAGES },
  [PROPERTY.subscriptionId]: { kind: 'variable', holders: [SUBSCRIBE] },
  [PROPERTY.sessionExpiry]: { kind: 'four', holders: [CONNECT, DISCONNECT] },
  [PROPERTY.authenticationMethod]: { kind: 'text', holders: [CONNECT] },
  [PROPERTY.authenticationData]: { kind: 'bytes', holders: [CONNECT] },
  [PROPERTY.requestProblem]: { kind: 'flag', holders: [CONNECT] },
  [PROPERTY.willDelay]: { kind: 'four', holders: [WILL] },
  [PROPERTY.requestResponse]: { kind: 'flag', holders: [CONNECT] },
  [PROPERTY.reasonString]: { kind: 'text', holders: [...ACKS, DISCONNECT] },
  [PROPERTY.receiveMaximum]: { kind: 'two', holders: [CONNECT] },
  [PROPERTY.topicAliasMaximum]: { kind: 'two', holders: [CONNECT] },
  [PROPERTY.topicAlias]: { kind: 'two', holders: [PUBLISH] },
  [PROPERTY.userProperty]: { kind: 'pair', holders: ALL },
  [PROPERTY.maximumPacketSize]: { kind: 'four', holders: [CONNECT] },
};

/** The most bytes of properties of one packet. Each is looked at, and a packet counts by what is left without them. */
export const MOST_PROPERTIES = 8 * 1024;

export type Values = ReadonlyMap<number, number | Buffer>;
const NONE: Values = new Map();

const malformed = (clause: string): Violation => new Violation(REASON.malformed, clause);
const protocolError = (clause: string): Violation => new Violation(REASON.protocolError, clause);

/** Reads a variable byte integer [MQTT5 1.5.5]; returns its value and where it ends. */
export function readVariable(bytes: Buffer, at: number, end: number): [value: number, next: number] {
  let value = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    if (at >= end) break;
    const byte = bytes[at] as number;
    at += 1;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (byte === 0 && shift > 0) throw malformed('[MQTT-1.5.5-1] a number with more bytes than it needs');
      return [value, at];
    }
  }
  throw malformed('[MQTT-1.5.5-1] a number that does not end');
}

/** The end of a field with a length of two bytes in front of it, which must lie in front of `end`. */
function fieldEnd(bytes: Buffer, at: number, end: number): number {
  if (at + 2 > end) throw malformed('[MQTT-2.2.2] a property does not fit');
  const stop = at + 2 + bytes.readUInt16BE(at);
  if (stop > end) throw malformed('[MQTT-2.2.2] a property does not fit');
  return stop;
}

function textEnd(bytes: Buffer, at: number, end: number): number {
  const stop = fieldEnd(bytes, at, end);
  const fault = textFault(bytes, at + 2, stop);
  if (fault !== undefined) throw malformed(fault);
  return stop;
}

const SIZES = { byte: 1, flag: 1, two: 2, four: 4 } as const;

/** Reads one value; returns it and where it ends. The strings of a pair are checked, and not kept. */
function readValue(kind: Kind, bytes: Buffer, at: number, end: number): [value: number | Buffer, next: number] {
  if (kind === 'variable') return readVariable(bytes, at, end);
  if (kind === 'pair') return [0, textEnd(bytes, textEnd(bytes, at, end), end)];
  if (kind === 'text' || kind === 'bytes') {
    const stop = kind === 'text' ? textEnd(bytes, at, end) : fieldEnd(bytes, at, end);
    return [bytes.subarray(at + 2, stop), stop];
  }
  const size = SIZES[kind];
  if (at + size > end) throw malformed('[MQTT-2.2.2] a property does not fit');
  const value = bytes.readUIntBE(at, size);
  if (kind === 'flag' && value > 1) throw protocolError('[MQTT-2.2.2] a property has another value than 0 and 1');
  return [value, at + size];
}

/**
 * Reads the properties that begin at `at` in a packet of a device, which ends at `end`. Values that are texts or bytes are
 * views. A property may stand there once, except user properties, which nothing reads.
 */
export function readProperties(
  bytes: Buffer,
  at: number,
  end: number,
  holder: Holder,
): { values: Values; end: number } {
  const [length, start] = readVariable(bytes, at, end);
  const stop = start + length;
  if (stop > end) throw malformed('[MQTT-2.2.2] properties that are longer than their packet');
  if (length === 0) return { values: NONE, end: stop };
  if (length > MOST_PROPERTIES)
    throw new Violation(REASON.quota, `more than ${MOST_PROPERTIES} bytes of properties in a packet`);
  const values = new Map<number, number | Buffer>();
  for (let next = start; next < stop; ) {
    const id = bytes[next] as number;
    const known = KNOWN[id];
    if (known === undefined) throw malformed(`[MQTT-2.2.2] unknown property ${id}`);
    if (!known.holders.includes(holder)) throw protocolError(`[MQTT-2.2.2] property ${id} does not belong there`);
    if (values.has(id)) throw protocolError(`[MQTT-2.2.2] property ${id} twice`);
    const [value, after] = readValue(known.kind, bytes, next + 1, stop);
    if (known.kind !== 'pair') values.set(id, value);
    next = after;
  }
  return { values, end: stop };
}

export const numberOf = (values: Values, id: number): number | undefined => values.get(id) as number | undefined;
export const bytesOf = (values: Values, id: number): Buffer | undefined => values.get(id) as Buffer | undefined;
