import type { Duplex } from 'node:stream';
import type { Client, PublishPacket, SubscribePacket } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import type { packetFault } from './packet-rules.ts';

/** A message was not carried out because of a bound. The same message may be carried out later. */
export class Refusal extends Error {}

/** Says that a message was not carried out and that the device has its answer, so the connection goes on. */
export const ANSWERED = new Error('answered');

/** A CONNECT of MQTT 5: its body is in `bytes` from `start` to `end`; `rest` is what has arrived behind it. */
export interface FoundConnect {
  bytes: Buffer;
  start: number;
  end: number;
  rest: Buffer;
}

/** The parts of a connection of MQTT 5 that the guard uses in place of its own. */
export interface Opened {
  /** The CONNECT, as MQTT 3.1.1 has it. */
  connect: Buffer;
  /** Finds the fault of a packet. */
  check: typeof packetFault;
  published: GuardParts['published'];
}

/** A CONNECT of MQTT 5 that breaks the protocol, or asks for what is not available; with its answer. */
export interface RefusedConnect {
  connack: Buffer;
  clause: string;
}

/** The parts of the rest of the edge that the guard of packets needs. */
export interface GuardParts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  /** LAPEL_DEVICE_RATE_LIMIT: messages per second and device; 0 is no limit. */
  messageRate: number;
  /** The developerId of a logged-in device; undefined while it is not known. */
  ownerOf(deviceId: string): string | undefined;
  /** Called when a logged-in device has sent a packet. */
  heard(deviceId: string): void;
  /**
   * Counts a SUBSCRIBE or UNSUBSCRIBE with this number of topic filters for the rate limit of the device. When it
   * returns false, the connection ends.
   */
  isWithinRate(client: Client, filters: number): boolean;
  /** Called before a SUBSCRIBE is carried out. */
  subscribes(packet: SubscribePacket): void;
  /** True while a publish to the client with this packet identifier waits for its PUBACK. */
  awaitsPuback(client: Client, messageId: number): boolean;
  /** Speaks MQTT 5 with devices; undefined when it is switched off. */
  five?: { open(client: Client, conn: Duplex, found: FoundConnect): Opened | RefusedConnect } | undefined;
  /** Called when a CONNECT is refused for its protocol level; `deviceId` is the client id that it claims. */
  unknownVersion(client: Client, deviceId: string): void;
  /** True while a QoS 2 message of the client with this packet identifier is in work, or waits for its PUBREL. */
  isTaken(client: Client, messageId: number): boolean;
  /** Called when a PUBACK has arrived. */
  acknowledged(client: Client, messageId: number): void;
  /** Carries out a message of a device. `done` is called when it is stored, or with the reason why no PUBACK is sent. */
  published(client: Client, packet: PublishPacket, done: (error?: Error | null) => void): void;
  /** Called when a CONNECT was processed, successfully or not. */
  loginEnded(client: Client): void;
  /** Called when a connection is about to end: only the answers to packets in work may still be written to it. */
  ending(client: Client, reason: string): void;
  /** Called before the connection of a device ends that was silent for longer than its keep-alive allows. */
  silent(client: Client): void;
  /** Called when the device has sent a DISCONNECT. */
  disconnects(client: Client): void;
}

/** The calls with which the guard reports the progress of one connection to the bounds of connections. */
export interface Connection {
  /** The address of the device. */
  address: string;
  /** Called when the whole CONNECT has arrived. */
  connectReceived(): void;
  loggedIn(deviceId: string): void;
  /** Called when the CONNECT was refused. */
  refused(): void;
}

export interface Guarded {
  /** Sends a CONNACK with a return code that refuses the login, and ends the connection. */
  refuse(code: number): void;
}
