import type { Duplex } from 'node:stream';
import { createPacketReader } from '../packet-reader.ts';
import { packetFault } from '../packet-rules.ts';
import { disconnectBytes } from './bytes.ts';
import type { Asked } from './connect.ts';
import { createDeviceFlow } from './device-flow.ts';
import { type FromDevice, readFromDevice } from './from-device.ts';
import { REASON, type Reason, Violation } from './reasons.ts';
import { createServiceFlow, type Limits } from './service-flow.ts';

/** The most packets, and about the most bytes, that are rewritten in one go: the guard shares its time by them. */
const MOST_AT_ONCE = { packets: 8, bytes: 8 * 1024 };
/** A packet that no device may send; it stands in the order of the packets where the fault is. */
const FAULT = Buffer.from([0xf0, 0]);

interface Parts {
  conn: Duplex;
  asked: Asked;
  limits: Limits;
  /** The bytes that have arrived behind the CONNECT. */
  rest: Buffer;
  /** Called before a packet is handed on, in the order of the packets. Throws a Violation. */
  comes(packet: FromDevice): void;
  /** Whether the device has a subscription to a filter. */
  subscribes(filter: string): boolean;
}

export type Five = ReturnType<typeof createFive>;

/**
 * Makes a connection of MQTT 5 one of 3.1.1 for everything behind it. What is read from the connection are packets of
 * 3.1.1, a few at a time; what is written to it is rewritten for the device. The device's own properties stay here.
 */
export function createFive({ conn, asked, limits, rest, comes, subscribes }: Parts) {
  const reader = createPacketReader();
  const read = conn.read.bind(conn) as (size?: number) => Buffer | null;
  const write = conn.write.bind(conn) as (bytes: Buffer) => boolean;
  const end = conn.end.bind(conn) as (...given: unknown[]) => Duplex;
  const destroy = conn.destroy.bind(conn);
  const device = createDeviceFlow({ mostUnanswered: limits.receiveMaximum, subscribes });
  const service = createServiceFlow({ asked, limits, device, write });
  let fault: Violation | undefined;
  let farewell: Reason | undefined;
  let hasLeft = false;
  if (rest.length > 0) reader.push(rest);

  /** The next packet of the device, for MQTT 3.1.1; undefined when none is whole. */
  function next(): Buffer | undefined {
    const found = reader.look(limits.packetLength);
    if (found === 'none' || found === 'part') return undefined;
    if (found === 'too large')
      throw new Violation(REASON.tooLarge, `[MQTT-3.2.2-15] a packet of ${reader.length} bytes`);
    if (found === 'bad length') throw new Violation(REASON.malformed, '[MQTT-1.5.5] remaining length');
    const packet = readFromDevice(reader.bytes, reader.first, reader.start, reader.end);
    device.arrives(packet);
    comes(packet);
    if (packet.kind === 'ack') service.answered(packet);
    if (packet.kind === 'disconnect') hasLeft = true;
    reader.pass();
    return packet.bytes;
  }

  /** Some packets of the device; undefined when none is whole. */
  function some(): Buffer | undefined {
    const packets: Buffer[] = [];
    let bytes = 0;
    try {
      while (packets.length < MOST_AT_ONCE.packets && bytes < MOST_AT_ONCE.bytes) {
        const packet = next();
        if (packet === undefined) break;
        packets.push(packet);
        bytes += packet.length;
      }
    } catch (thrown) {
      if (!(thrown instanceof Violation)) throw thrown;
      fault = thrown;
      reader.clear();
      packets.push(FAULT);
    }
    return packets.length > 1 ? Buffer.concat(packets) : packets[0];
  }

  function readSome(): Buffer | null {
    for (;;) {
      const packets = fault === undefined ? some() : undefined;
      if (packets !== undefined) return packets;
      const chunk = read();
      if (chunk === null) return null;
      if (fault === undefined) reader.push(chunk);
    }
  }

  /** Tells the device why its connection ends; nothing when it has left, or was not let in [MQTT-3.14.0-1]. */
  function sayFarewell(): void {
    const last = farewell;
    farewell = undefined;
    if (last === undefined || hasLeft || !service.isOpen() || !conn.writable) return;
    const bytes = disconnectBytes(last);
    // The reason string may be left out, the DISCONNECT as well [MQTT-3.14.2-3].
    const shorter = bytes.length > asked.maximumPacketSize ? disconnectBytes({ ...last, text: '' }) : bytes;
    if (shorter.length <= asked.maximumPacketSize) write(shorter);
  }

  Object.assign(conn, {
    /** Node itself asks with 0, so that more data comes from the socket. */
    read: (size?: number) => (size === 0 ? read(0) : readSome()),
    write: service.write,
    end(...given: unknown[]) {
      sayFarewell();
      return end(...given);
    },
    destroy(error?: Error) {
      sayFarewell();
      return destroy(error);
    },
  });

  return {
    asked,

    /** The fault of a packet that was handed on, by which the guard ends the connection; undefined when it has none. */
    check(bytes: Buffer, first: number, start: number, packetEnd: number): string | undefined {
      if (first === FAULT[0] && fault !== undefined) {
        farewell ??= fault;
        return fault.message;
      }
      const clause = packetFault(bytes, first, start, packetEnd);
      if (clause !== undefined) farewell ??= { code: device.codeOf(first, clause), text: clause };
      return clause;
    },

    /** The reason that is told when the connection ends; the first one counts. */
    ends(reason: Reason | undefined): void {
      farewell ??= reason;
    },

    /** Sets the reason that the acknowledgement of a message of the device will have. */
    verdict: device.verdict,
    isRefused: device.isRefused,
    unanswerable: device.unanswerable,
    takeUnanswerable: device.takeUnanswerable,
    manner: service.manner,
    /** Whether a packet is not larger than the device takes. */
    fits: service.fits,
    keepCorrelation: service.keepCorrelation,
  };
}
