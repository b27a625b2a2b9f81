import type { Duplex } from 'node:stream';
import type { Packet } from 'mqtt-packet';
import { type Level, packetBytes, type Rest, readPackets } from '../mqtt/packets.ts';

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
  /** Closes the connection at once, without reading more. */
  cut(): void;
}

/** How long a device has to close a connection that this end has closed, in milliseconds. */
const FAREWELL_MILLISECONDS = 1000;
const NOTHING = Buffer.alloc(0);

export function openConnection(
  stream: Duplex,
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

  stream.on('data', (bytes: Buffer) => {
    if (!isOpen) return;
    try {
      take(bytes);
    } catch (error) {
      handlers.onFault((error as Error).message);
    }
  });
  // The close event tells the end of every connection.
  stream.on('error', () => {});
  stream.once('close', () => {
    isOpen = false;
    handlers.onClose(byDevice);
  });

  return {
    get isOpen() {
      return isOpen;
    },
    get level() {
      return level;
    },
    send(...packets) {
      if (isOpen) stream.write(bytesOf(packets));
    },
    sendAndCut(...packets) {
      if (!isOpen) return;
      isOpen = false;
      byDevice = false;
      stream.end(bytesOf(packets));
      const timer = setTimeout(() => stream.destroy(), FAREWELL_MILLISECONDS);
      stream.once('close', () => clearTimeout(timer));
    },
    cut() {
      if (isOpen) byDevice = false;
      isOpen = false;
      stream.destroy();
    },
  };
}
