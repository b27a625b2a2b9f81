import type { IPublishPacket } from 'mqtt-packet';
import { isRecord } from '../mqtt/messages.ts';
import { packetBytes } from '../mqtt/packets.ts';
import type { Connection } from './connection.ts';
import { type Bounds, REFUSES, shownCode } from './five.ts';
import type { Journal } from './journal.ts';

/** The topics on which the service sends. */
export type Outbound = 'commands' | 'responses' | 'errors';

/** A message of the service, and whether the device has sent its PUBACK. */
export interface Sent {
  readonly messageId: number;
  confirmed: boolean;
}

/** The time in which a command must be delivered, for MQTT 5. */
const EXPIRY_SECONDS = 86_400;

/** The messages of the service to the device. */
export interface Outflow {
  /** Begins anew on another connection: what was without a PUBACK is not sent again by itself. */
  begin(connection: Connection, bounds: Bounds): void;
  publish(kind: Outbound, payloads: readonly (string | Buffer)[], isLast: boolean): Sent[];
  /** The message of a PUBACK; undefined if there is none without one. `code`: the reason code of MQTT 5. */
  confirm(messageId: number, reason: { code: number; text: string }): Sent | undefined;
}

const readJson = (payload: string | Buffer): Readonly<Record<string, unknown>> => {
  try {
    const body: unknown = JSON.parse(payload.toString());
    return isRecord(body) ? body : {};
  } catch {
    return {};
  }
};

/**
 * `failed`: called in place of the device for a command that it does not take, as the service settles it.
 * `correlationOf`: the Correlation Data of the request that a response answers.
 */
export function createOutflow({
  prefix,
  journal,
  failed,
  correlationOf,
}: {
  prefix: string;
  journal: Journal;
  failed: (transactionId: unknown, code: string) => void;
  correlationOf: (requestId: unknown) => Buffer | undefined;
}): Outflow {
  const waiting = new Map<number, { readonly sent: Sent; readonly packet: IPublishPacket }>();
  /** Messages above the Receive Maximum of the device [MQTT-3.3.4-9]. */
  let held: IPublishPacket[] = [];
  let lastMessageId = 0;
  let current: Connection | undefined;
  let bounds: Bounds = { receiveMaximum: 0, maximumPacketSize: 0 };

  /** The properties that the service gives its messages with MQTT 5. */
  function propertiesOf(kind: Outbound, payload: string | Buffer): NonNullable<IPublishPacket['properties']> {
    if (typeof payload !== 'string') return {};
    const body = readJson(payload);
    const correlationData = kind === 'responses' ? correlationOf(body['requestId']) : undefined;
    return {
      payloadFormatIndicator: true,
      contentType: 'application/json',
      ...(kind === 'commands' && body['attempt'] === 1 && { messageExpiryInterval: EXPIRY_SECONDS }),
      ...(correlationData && { correlationData }),
    };
  }

  function packetFor(kind: Outbound, payload: string | Buffer): IPublishPacket {
    lastMessageId = (lastMessageId % 65_535) + 1;
    const mine = { topic: prefix + kind, payload, qos: 1, messageId: lastMessageId } as const;
    const properties = current?.level === 5 && { properties: propertiesOf(kind, payload) };
    return { cmd: 'publish', dup: false, retain: false, ...mine, ...properties };
  }

  /** The waiting messages for which the device has room. */
  function withRoom(): IPublishPacket[] {
    const room = Math.max(0, bounds.receiveMaximum - (waiting.size - held.length));
    const packets = held.slice(0, room);
    held = held.slice(room);
    return packets;
  }

  const settle = ({ topic, payload }: IPublishPacket, code: string): void => {
    if (topic === `${prefix}commands`) failed(readJson(payload)['transactionId'], code);
  };

  return {
    begin(connection, its) {
      current = connection;
      bounds = its;
      waiting.clear();
      held = [];
    },
    publish(kind, payloads, isLast) {
      const all = payloads.map((payload): Sent => {
        const packet = packetFor(kind, payload);
        const sent: Sent = { messageId: lastMessageId, confirmed: false };
        journal.note('service', `sends ${kind}: ${String(payload)}`);
        if (current && packetBytes(packet, current.level).length > bounds.maximumPacketSize) {
          journal.note('service', 'leaves it out: it is larger than the Maximum Packet Size of the device');
          sent.confirmed = true;
          settle(packet, 'PACKET_TOO_LARGE');
          return sent;
        }
        waiting.set(lastMessageId, { sent, packet });
        held.push(packet);
        return sent;
      });
      const packets = withRoom();
      if (isLast) {
        journal.note('service', 'cuts the connection right behind it');
        current?.sendAndCut(...packets);
      } else if (packets.length > 0) current?.send(...packets);
      return all;
    },
    confirm(messageId, { code, text }) {
      const found = waiting.get(messageId);
      if (!found) return undefined;
      waiting.delete(messageId);
      found.sent.confirmed = true;
      if (code >= REFUSES) {
        journal.note('device', `refuses message ${messageId} with ${shownCode(code)} ${text}`);
        settle(found.packet, 'NOT_ACCEPTED');
      }
      const packets = withRoom();
      if (packets.length > 0) current?.send(...packets);
      return found.sent;
    },
  };
}
