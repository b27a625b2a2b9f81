import type { IConnackPacket, IConnectPacket, Packet } from 'mqtt-packet';

/** A reason code of MQTT 5, and the words that go with it. */
export interface Reason {
  readonly code: number;
  readonly text: string;
}

/** The messages of a device without a PUBACK, and the bytes of a packet, that the service takes (docs/devices.md). */
export const LIMITS = { receiveMaximum: 100, maximumPacketSize: 262_144 } as const;
const NEVER_ENDS = 0xffff_ffff;
const LEAST_PACKET_SIZE = 512;
/** The messages without a PUBACK that a device takes if it does not say how many [MQTT5 3.1.2.11.3]. */
const RECEIVE_MAXIMUM = 65_535;
/** Codes from here on refuse. */
export const REFUSES = 0x80;

/** The reasons that the service has for the return codes of MQTT 3.1.1. */
const OF_RETURN_CODES: Readonly<Record<number, number>> = { 1: 0x84, 4: 0x86 };

/** The Receive Maximum and the Maximum Packet Size of a device. */
export interface Bounds {
  readonly receiveMaximum: number;
  readonly maximumPacketSize: number;
}

export const boundsOf = ({ properties }: IConnectPacket): Bounds => ({
  receiveMaximum: properties?.receiveMaximum ?? RECEIVE_MAXIMUM,
  maximumPacketSize: properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY,
});

export const isFive = ({ protocolVersion }: IConnectPacket): boolean => protocolVersion === 5;

/** Whether the session of a device outlives the connection. */
export const keepsSession = (packet: IConnectPacket): boolean =>
  isFive(packet) ? (packet.properties?.sessionExpiryInterval ?? 0) > 0 : packet.clean === false;

/** Why the service would refuse a CONNECT of MQTT 5 for its properties or its will. */
export function connectFault({ properties = {}, will }: IConnectPacket): Reason | undefined {
  if (properties.authenticationMethod !== undefined) return { code: 0x8c, text: 'there are no authentication methods' };
  if (properties.receiveMaximum === 0 || properties.maximumPacketSize === 0)
    return { code: 0x82, text: 'a Receive Maximum or a Maximum Packet Size of 0 [MQTT-3.1.2]' };
  if ((properties.maximumPacketSize ?? LEAST_PACKET_SIZE) < LEAST_PACKET_SIZE)
    return { code: 0x95, text: `a device must take packets of ${LEAST_PACKET_SIZE} bytes` };
  if (will?.retain) return { code: 0x9a, text: 'the will is to be retained' };
  if ((will?.properties?.willDelayInterval ?? 0) > 0) return { code: 0x83, text: 'the will has a delay' };
  return undefined;
}

/** The CONNACK of MQTT 5 that refuses a login. */
export const refusalOfFive = ({ code, text }: Reason): Packet => ({
  cmd: 'connack',
  reasonCode: code,
  sessionPresent: false,
  properties: { reasonString: text },
});

/** The CONNACK that refuses a login, with the return code of MQTT 3.1.1. */
export function refusal(packet: IConnectPacket, { returnCode, text }: { returnCode: number; text: string }): Packet {
  if (!isFive(packet)) return { cmd: 'connack', returnCode, sessionPresent: false };
  return refusalOfFive({ code: OF_RETURN_CODES[returnCode] ?? returnCode, text });
}

/** The CONNACK that lets a device in; with MQTT 5 it tells the limits. */
export function welcome(packet: IConnectPacket, sessionPresent: boolean): IConnackPacket {
  if (!isFive(packet)) return { cmd: 'connack', returnCode: 0, sessionPresent };
  return {
    cmd: 'connack',
    reasonCode: 0,
    sessionPresent,
    properties: {
      ...(keepsSession(packet) && { sessionExpiryInterval: NEVER_ENDS }),
      ...LIMITS,
      retainAvailable: false,
      topicAliasMaximum: 0,
      wildcardSubscriptionAvailable: false,
      subscriptionIdentifiersAvailable: false,
      sharedSubscriptionAvailable: false,
    },
  };
}

/** Why the service ends the connection at a packet of MQTT 5 that MQTT 3.1.1 does not have like this. */
export function packetFault(packet: Packet): Reason | undefined {
  if (packet.cmd === 'publish' && packet.retain)
    return { code: 0x9a, text: 'a retained message; the CONNACK says that there are none [MQTT-3.2.2-14]' };
  if (packet.cmd === 'publish' && packet.properties?.topicAlias !== undefined)
    return { code: 0x94, text: 'a topic alias; the CONNACK says that there are none [MQTT-3.3.2-9]' };
  if (packet.cmd === 'subscribe' && packet.properties?.subscriptionIdentifier !== undefined)
    return { code: 0xa1, text: 'a subscription identifier; the CONNACK says that there are none [MQTT-3.8.2]' };
  if (packet.cmd === 'auth') return { code: 0x82, text: 'AUTH without an authentication method [MQTT-4.12.0-6]' };
  return undefined;
}

/** The code of the SUBACK for a filter that is none of the device's topics. */
export function reasonOfFilter(filter: string): number {
  if (filter.startsWith('$share/')) return 0x9e;
  return filter.includes('+') || filter.includes('#') ? 0xa2 : 0x87;
}

export const disconnectOf = ({ code, text }: Reason): Packet => ({
  cmd: 'disconnect',
  reasonCode: code,
  properties: { reasonString: text },
});

export const shownCode = (code: number): string => `0x${code.toString(16).toUpperCase()}`;
