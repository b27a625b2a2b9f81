import type { EndReason } from '../../../core/sessions/connection-log-repository.ts';

/** The reason codes of MQTT 5 that the service sends [MQTT5 2.4]. */
export const REASON = {
  success: 0x00,
  withWill: 0x04,
  noSubscription: 0x11,
  unspecified: 0x80,
  malformed: 0x81,
  protocolError: 0x82,
  notSupported: 0x83,
  version: 0x84,
  clientId: 0x85,
  login: 0x86,
  notAuthorized: 0x87,
  unavailable: 0x88,
  shuttingDown: 0x8b,
  authenticationMethod: 0x8c,
  keepAlive: 0x8d,
  takenOver: 0x8e,
  filter: 0x8f,
  topic: 0x90,
  packetId: 0x92,
  receiveMaximum: 0x93,
  topicAlias: 0x94,
  tooLarge: 0x95,
  quota: 0x97,
  administrative: 0x98,
  payload: 0x99,
  retain: 0x9a,
  anotherServer: 0x9c,
  sharedSubscription: 0x9e,
  subscriptionId: 0xa1,
  wildcard: 0xa2,
} as const;

/** A reason code, and the words for people that go with it. */
export interface Reason {
  code: number;
  text: string;
}

/** A packet that MQTT 5 does not allow here: the reason code that tells the device, and the clause. */
export class Violation extends Error implements Reason {
  readonly code: number;
  constructor(code: number, clause: string) {
    super(clause);
    this.code = code;
  }
  get text(): string {
    return this.message;
  }
}

/** Codes from here on say that something was refused. */
export const isRefusal = (code: number): boolean => code >= REASON.unspecified;

/** The reasons of MQTT 5 for the CONNACK codes of MQTT 3.1.1. */
export const OF_CONNACK: Readonly<Record<number, Reason>> = {
  1: { code: REASON.version, text: 'this version of MQTT is not supported' },
  2: { code: REASON.clientId, text: 'the client id is not a deviceId' },
  3: { code: REASON.unavailable, text: 'the service cannot check the login now; connect again after a pause' },
  4: { code: REASON.login, text: 'the device is not registered, or its credential is wrong' },
  5: { code: REASON.notAuthorized, text: 'the device may not connect, or the topic of its will is not its own' },
};

/** Why a connection ends, in the DISCONNECT of the service. Other reasons are the device's own, or need no words. */
const OF_END: Partial<Record<EndReason, Reason>> = {
  keep_alive: { code: REASON.keepAlive, text: 'no packet for one and a half times the keep-alive' },
  replaced: { code: REASON.takenOver, text: 'the device has a newer connection' },
  contested: { code: REASON.takenOver, text: 'the device has a newer connection, again and again' },
  elsewhere: {
    code: REASON.anotherServer,
    text: 'the device has, or gets, its connection at another node: connect again',
  },
  revoked: { code: REASON.administrative, text: 'the service has ended the connection' },
};

/** Words of ends because of a bound; those of the guard begin so. */
const OF_BOUND = /^more /;
/** Words of ends because a packet breaks the protocol: they name its clause. */
const OF_PROTOCOL = /^\[MQTT/;

/** The reason that a DISCONNECT tells; undefined when none is to be sent. */
export function reasonOfEnd(reason: EndReason, detail: string | undefined): Reason | undefined {
  if (reason !== 'protocol') return OF_END[reason];
  if (detail !== undefined && OF_BOUND.test(detail)) return { code: REASON.quota, text: detail };
  if (detail !== undefined && OF_PROTOCOL.test(detail)) return { code: REASON.protocolError, text: detail };
  // The fault is one of the service: its words are for the log.
  return { code: REASON.unspecified, text: 'the service could not carry out a message: send it again' };
}

/** The codes of messages that the errors topic tells about, by the code of the error; others are `notSupported`. */
const OF_ERROR: Readonly<Record<string, number>> = {
  REQUEST_INVALID: REASON.payload,
  MESSAGE_TOO_LARGE: REASON.tooLarge,
  TOPIC_FOREIGN: REASON.notAuthorized,
  EVENT_BYTES_EXCEEDED: REASON.quota,
};

/** The reason code of a message that was rejected with an error. */
export const reasonOfError = (code: string): number => OF_ERROR[code] ?? REASON.notSupported;

/** The code of the SUBACK for a filter that the service does not grant. */
export function reasonOfFilter(filter: string): number {
  if (filter.startsWith('$share/')) return REASON.sharedSubscription;
  return filter.includes('+') || filter.includes('#') ? REASON.wildcard : REASON.notAuthorized;
}
