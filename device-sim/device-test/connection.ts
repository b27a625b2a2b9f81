import type { Duplex } from 'node:stream';
import type { Packet } from 'mqtt-packet';
import { packetBytes, type Rest, readPackets } from '../mqtt/packets.ts';

/** One connection of a device, at the end of the service. */
export interface Connection {
  /** Whether it is open in both directions. */
  readonly isOpen: boolean;
  /** Sends packets in one piece. */
  send(...packets: Packet[]): void;
  /** Sends packets and then closes the connection. Reads nothing more, so that no PUBACK counts. */
  sendAndCut(...packets: Packet[]): void;
  /** Closes the connection at once, without reading more. */
  cut(): void;
}

/** How long a device has to close a connection that this end has closed, in milliseconds. */
const FAREWELL_MILLISECONDS = 1000;

export function openConnection(
  socket: Duplex,
  handlers: {
    onPacket: (packet: Packet) => void;
    /** Called with the breach of MQTT in the bytes of the device. The connection is closed then. */
    onFault: (reason: string) => void;
    /** Called once. `byDevice`: the device has closed the connection, or it broke. */
    onClose: (byDevice: boolean) => void;
  },
): Connection {
  let rest: Rest;
  let isOpen = true;
  let byDevice = true;

  function cut(): void {
    if (isOpen) byDevice = false;
    isOpen = false;
    socket.destroy();
  }

  socket.on('data', (bytes: Buffer) => {
    if (!isOpen) return;
    try {
      const { packets, rest: after } = readPackets(rest, bytes);
      rest = after;
      for (const packet of packets) if (isOpen) handlers.onPacket(packet);
    } catch (error) {
      handlers.onFault((error as Error).message);
      cut();
    }
  });
  // The close event tells the end of every connection.
  socket.on('error', () => {});
  socket.once('close', () => {
    isOpen = false;
    handlers.onClose(byDevice);
  });

  return {
    get isOpen() {
      return isOpen;
    },
    send(...packets) {
      if (isOpen) socket.write(Buffer.concat(packets.map((packet) => packetBytes(packet))));
    },
    sendAndCut(...packets) {
      if (!isOpen) return;
      isOpen = false;
      byDevice = false;
      socket.end(Buffer.concat(packets.map((packet) => packetBytes(packet))));
      const timer = setTimeout(() => socket.destroy(), FAREWELL_MILLISECONDS);
      socket.once('close', () => clearTimeout(timer));
    },
    cut,
  };
}
