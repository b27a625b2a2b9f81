import type { Duplex } from 'node:stream';
import type { Packet } from 'mqtt-packet';
import type { ConditionsNow } from '../mqtt/conditions.ts';
import { degraded } from '../mqtt/degraded-wire.ts';
import { type Level, packetBytes, type Rest, readPackets } from '../mqtt/packets.ts';
import type { Wire, WireEnd } from '../mqtt/wire.ts';
import type { Random } from '../random.ts';
import type { Timers } from '../timers.ts';

/** One connection of a device, at the end of the service. */
export interface Connection {
  /** Whether it is open in both directions. */
  readonly isOpen: boolean;
  /** The protocol level; 4 before the CONNECT has said it. */
  readonly level: Level;
  /** Sends packets in one piece. */
  send(...packets: Packet[]): void;
  /** Sends packets and then closes the connection. Reads nothing more, so that no PUBACK counts. */
  sendAndCut(...packets: Packet[]): void;
  /** Reads and sends nothing more, and leaves the connection open. */
  freeze(): void;
  /** Closes the connection at once, without reading more. */
  cut(): void;
}

/** How long a device has to close a connection that this end has closed, in milliseconds. */
const FAREWELL_MILLISECONDS = 1000;
const NOTHING = Buffer.alloc(0);

/** Makes a stream the wire of one end. */
const attach =
  (stream: Duplex) =>
  (end: WireEnd): Wire => {
    stream.on('data', (bytes: Buffer) => end.onBytes(stream, bytes));
    // The close event tells the end of every connection.
    stream.on('error', () => {});
    stream.once('close', () => end.onClose(stream, undefined));
    return stream;
  };

/** `network`: the network in front of this end, which may be bad; null: there is none. */
export function openConnection(
  stream: Duplex,
  network: { conditions: ConditionsNow; random: Random; timers: Timers } | null,
  handlers: {
    onPacket: (packet: Packet) => void;
    /** Called with the breach of MQTT in the bytes of the device. It closes the connection. */
    onFault: (reason: string) => void;
    /** Called once. `byDevice`: the device has closed the connection, or it broke. */
    onClose: (byDevice: boolean) => void;
  },
): Connection {
  let rest: Rest;
  let level: Level = 4;
  let isFirst = true;
  let isOpen = true;
  let byDevice = true;

  const bytesOf = (packets: readonly Packet[]): Buffer =>
    Buffer.concat(packets.map((packet) => packetBytes(packet, level)));

  /** Reads the first packet, which says the version of all that follow. */
  function begin(bytes: Buffer): void {
    const { packets, rest: after } = readPackets(rest, bytes, level, 1);
    rest = after;
    const [first] = packets;
    if (!first) return;
    isFirst = false;
    if (first.cmd === 'connect' && first.protocolVersion === 5) level = 5;
    handlers.onPacket(first);
    if (isOpen && rest) take(NOTHING);
  }

  function take(bytes: Buffer): void {
    if (isFirst) {
      begin(bytes);
      return;
    }
    const { packets, rest: after } = readPackets(rest, bytes, level);
    rest = after;
    for (const packet of packets) if (isOpen) handlers.onPacket(packet);
  }

  const end: WireEnd = {
    onOpen: () => {},
    onBytes(_, bytes) {
      if (!isOpen) return;
      try {
        take(bytes);
      } catch (error) {
        handlers.onFault((error as Error).message);
      }
    },
    onDrain: () => {},
    onClose() {
      isOpen = false;
      whenClosed();
      handlers.onClose(byDevice);
    },
  };
  let whenClosed = (): void => {};
  const wire = network ? degraded(attach(stream), network)(end) : attach(stream)(end);

  return {
    get isOpen() {
      return isOpen;
    },
    get level() {
      return level;
    },
    send(...packets) {
      if (isOpen) wire.write(bytesOf(packets));
    },
    sendAndCut(...packets) {
      if (!isOpen) return;
      isOpen = false;
      byDevice = false;
      wire.write(bytesOf(packets));
      wire.end();
      const timer = setTimeout(() => wire.destroy(), FAREWELL_MILLISECONDS);
      whenClosed = () => clearTimeout(timer);
    },
    freeze() {
      isOpen = false;
    },
    cut() {
      if (isOpen) byDevice = false;
      isOpen = false;
      wire.destroy();
    },
  };
}
