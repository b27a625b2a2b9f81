import { packetFault, stringEnd, TYPE } from '../packet-rules.ts';
import { counted, packetOf } from './bytes.ts';
import { numberOf, PROPERTY, readProperties, type Values, WILL } from './properties.ts';
import { REASON, Violation } from './reasons.ts';

const FLAG = { clean: 0x02, will: 0x04, willRetain: 0x20, password: 0x40, user: 0x80 } as const;
const LEVEL_OF_3_1_1 = 4;
const NAME = 'MQTT';
const CONNECT = TYPE.CONNECT << 4;
/** The most messages that wait for an acknowledgement, when a device does not say how many it takes [MQTT5 3.1.2.11.3]. */
const RECEIVE_MAXIMUM = 65_535;
/** The least bytes of a packet that a device must take: the packets of the service without messages are smaller. */
const LEAST_PACKET_SIZE = 512;

/** The wishes of a device in its CONNECT. */
export interface Asked {
  /** The CONNECT as MQTT 3.1.1 has it. */
  connect: Buffer;
  /** It wants a session that begins now (`Clean Start`). */
  isNew: boolean;
  /** Whether its session outlives the connection. */
  isKept: boolean;
  /** Seconds for which its session outlives the connection; NEVER: it does not end by itself. */
  expirySeconds: number;
  /** Seconds after the end of the connection in which its will is due; 0: at once. */
  willDelaySeconds: number;
  /** The messages without an acknowledgement that it takes at a time. */
  receiveMaximum: number;
  /** The messages that it says it takes; undefined when it says nothing. */
  saidMaximum: number | undefined;
  /** The bytes of a packet that it takes, at most. */
  maximumPacketSize: number;
  /** Whether reason strings may stand in all packets [MQTT-3.1.2-29]. */
  tellsProblems: boolean;
}

/** The session expiry interval of a session that does not end by itself [MQTT5 3.1.2.11.2]. */
export const NEVER = 0xffff_ffff;

const malformed = (clause: string): Violation => new Violation(REASON.malformed, clause);

function positive(values: Values, id: number, name: string): number | undefined {
  const value = numberOf(values, id);
  if (value === 0) throw new Violation(REASON.protocolError, `[MQTT-3.1.2] ${name} 0`);
  return value;
}

/** The field at `at`, with its length in front, and where it ends. */
function field(bytes: Buffer, at: number, end: number): [field: Buffer, next: number] {
  const stop = stringEnd(bytes, at, end);
  if (stop < 0) throw malformed('[MQTT-3.1.3-1] a field is missing');
  return [bytes.subarray(at, stop), stop];
}

function checkAuthentication(values: Values): void {
  if (values.has(PROPERTY.authenticationMethod))
    throw new Violation(REASON.authenticationMethod, '[MQTT-4.12.0-1] no authentication method is known here');
  if (values.has(PROPERTY.authenticationData))
    throw new Violation(REASON.protocolError, '[MQTT-3.1.2] authentication data without a method');
}

/** The delay of a will. Refuses one that the service could not publish as the device wants it. */
function willDelay(flags: number, values: Values): number {
  if ((flags & FLAG.willRetain) !== 0)
    throw new Violation(REASON.retain, '[MQTT-3.2.2-13] retained messages are not available');
  return numberOf(values, PROPERTY.willDelay) ?? 0;
}

/**
 * Reads the body of a CONNECT of MQTT 5, whose name and level are known. Throws a Violation, which its CONNACK tells.
 */
export function readConnect(bytes: Buffer, start: number, end: number): Asked {
  const flagsAt = start + 2 + NAME.length + 1;
  if (flagsAt + 3 > end) throw malformed('[MQTT-3.1] too short');
  const flags = bytes[flagsAt] as number;
  const { values, end: payloadAt } = readProperties(bytes, flagsAt + 3, end, TYPE.CONNECT);
  checkAuthentication(values);
  const isNew = (flags & FLAG.clean) !== 0;
  const expirySeconds = numberOf(values, PROPERTY.sessionExpiry) ?? 0;
  const isKept = expirySeconds > 0;
  const saidMaximum = positive(values, PROPERTY.receiveMaximum, 'receive maximum');
  const maximumPacketSize = positive(values, PROPERTY.maximumPacketSize, 'maximum packet size');
  if (maximumPacketSize !== undefined && maximumPacketSize < LEAST_PACKET_SIZE)
    throw new Violation(REASON.tooLarge, `a device must take packets of ${LEAST_PACKET_SIZE} bytes`);
  const [clientId, afterId] = field(bytes, payloadAt, end);
  const parts = [clientId];
  let at = afterId;
  let willDelaySeconds = 0;
  if ((flags & FLAG.will) !== 0) {
    const will = readProperties(bytes, at, end, WILL);
    willDelaySeconds = willDelay(flags, will.values);
    const [topic, message] = field(bytes, will.end, end);
    const [payload, next] = field(bytes, message, end);
    parts.push(topic, payload);
    at = next;
  }
  if ((flags & (FLAG.user | FLAG.password)) === FLAG.password)
    throw new Violation(REASON.login, 'the user name is missing, which must be the deviceId');
  parts.push(bytes.subarray(at, end));
  // A session that is new but kept is one of MQTT 3.1.1 with `clean` 0, whose former one is not usable.
  const isClean = isNew && !isKept;
  const head = Buffer.from([
    LEVEL_OF_3_1_1,
    (flags & ~FLAG.clean) | (isClean ? FLAG.clean : 0),
    ...bytes.subarray(flagsAt + 1, flagsAt + 3),
  ]);
  const body = Buffer.concat([counted(NAME), head, ...parts]);
  const clause = packetFault(body, CONNECT, 0, body.length);
  if (clause !== undefined) throw malformed(clause);
  return {
    connect: packetOf(CONNECT, [body]),
    isNew,
    isKept,
    expirySeconds,
    willDelaySeconds,
    receiveMaximum: saidMaximum ?? RECEIVE_MAXIMUM,
    saidMaximum,
    maximumPacketSize: maximumPacketSize ?? Number.POSITIVE_INFINITY,
    tellsProblems: numberOf(values, PROPERTY.requestProblem) !== 0,
  };
}
