import type { IPublishPacket, Packet } from 'mqtt-packet';
import { type Rest, readPackets } from '../mqtt/packets.ts';
import type { Direction } from '../recording/traffic.ts';
import type { Seat, Seats } from './seats.ts';

/** Bytes that are kept of a connection before the service has accepted its login, so that strangers take little memory. */
export const MOST_BEFORE_LOGIN = 64 * 1024;
/** The number of messages that are kept until then. */
export const MOST_EARLY = 100;
/** Lapel speaks MQTT 3.1.1; a connection of MQTT 5 would have to be read in another way. */
const READABLE = [3, 4];
const NAME = /^[a-z]{1,32}$/;

/** Reads along with one connection. It never changes or delays a byte, and never throws. */
export interface Tap {
  fromDevice(bytes: Buffer): void;
  fromService(bytes: Buffer): void;
  /** To be called once, when one side has ended the connection. */
  closed(byDevice: boolean): void;
  /** Whether something came that is not MQTT 3.1.1, or too much: from then on nothing is recorded. */
  readonly isUnreadable: boolean;
}

/** Records the messages of one connection from the CONNACK on, by which the service accepts the login. */
export function createTap({
  seats,
  onMessage,
}: {
  seats: Seats;
  onMessage: (device: string, kind: Direction, topic: string, payload: string | Buffer) => void;
}): Tap {
  /** `login`: until the service has accepted it; `over`: the rest of the connection is not read. */
  let state: 'login' | 'online' | 'over' = 'login';
  const rests: Record<Direction, Rest> = { sent: undefined, received: undefined };
  /** Messages of the device between its CONNECT and the CONNACK, and its DISCONNECT. */
  let early: Packet[] = [];
  /** All bytes of the device until the CONNACK. */
  let earlyBytes = 0;
  let deviceId: string | undefined;
  let isUnreadable = false;
  let seat: Seat | undefined;

  function stopReading(): void {
    state = 'over';
    early = [];
    rests.sent = undefined;
    rests.received = undefined;
  }

  function giveUp(): void {
    isUnreadable = true;
    stopReading();
  }

  function record(kind: Direction, { topic, payload }: IPublishPacket): void {
    const prefix = `devices/${deviceId}/`;
    const name = topic.slice(prefix.length);
    if (deviceId !== undefined && topic.startsWith(prefix) && NAME.test(name)) onMessage(deviceId, kind, name, payload);
  }

  function heardOnline(packet: Packet): void {
    if (packet.cmd === 'disconnect') seat?.leave('politely');
    else if (packet.cmd === 'publish' && seat?.isFirst(packet)) record('sent', packet);
  }

  function heardEarly(packet: Packet): void {
    if (early.length >= MOST_EARLY) giveUp();
    else if (packet.cmd === 'publish' || packet.cmd === 'disconnect') early.push(packet);
  }

  function heardDevice(packet: Packet): void {
    if (state === 'online') heardOnline(packet);
    else if (deviceId !== undefined) heardEarly(packet);
    else if (packet.cmd === 'connect' && READABLE.includes(packet.protocolVersion ?? 4)) deviceId = packet.clientId;
    else giveUp();
  }

  function accepted(id: string): void {
    state = 'online';
    seat = seats.take(id);
    for (const packet of early) heardOnline(packet);
    early = [];
  }

  function heardService(packet: Packet): void {
    if (state === 'login' && packet.cmd === 'connack' && deviceId !== undefined) {
      if (packet.returnCode === 0) accepted(deviceId);
      else stopReading();
    } else if (packet.cmd === 'publish' && seat?.isCurrent()) record('received', packet);
    else if (packet.cmd === 'puback' || packet.cmd === 'pubrec') seat?.confirmed(packet.messageId ?? 0);
  }

  function read(kind: Direction, bytes: Buffer, heard: (packet: Packet) => void): void {
    if (state === 'over') return;
    try {
      const { packets, rest } = readPackets(rests[kind], bytes);
      rests[kind] = rest;
      for (const packet of packets) {
        heard(packet);
        if (isOver()) return;
      }
      if (state === 'login' && earlyBytes > MOST_BEFORE_LOGIN) giveUp();
    } catch {
      giveUp();
    }
  }
  const isOver = (): boolean => state === 'over';

  return {
    get isUnreadable() {
      return isUnreadable || (deviceId === undefined && rests.sent !== undefined);
    },
    fromDevice(bytes) {
      if (state === 'login') earlyBytes += bytes.length;
      read('sent', bytes, heardDevice);
    },
    fromService(bytes) {
      read('received', bytes, heardService);
    },
    closed(byDevice) {
      seat?.leave(byDevice ? 'cut' : 'lost');
    },
  };
}
