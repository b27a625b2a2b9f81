import { TYPE } from './packet-rules.ts';

const NOTHING = Buffer.alloc(0);
// The smallest buffer, in bytes, for a packet that arrives in pieces. The buffer grows with the bytes that have
// arrived, because the length that a packet claims may be a lie.
const SMALLEST_GATHERING = 1024;
const LENGTH_BYTES = 4; // bytes of the remaining length field, at most [MQTT-2.2.3]
/** Bytes that are kept of the body of a PUBLISH that is too long: the longest topic, and a beginning of the message. */
const KEPT = 96 * 1024;
/** KEPT as the remaining length of a packet [MQTT-2.2.3]. */
const KEPT_LENGTH = [(KEPT & 0x7f) | 0x80, ((KEPT >> 7) & 0x7f) | 0x80, KEPT >> 14];

export type Found = 'none' | 'part' | 'whole' | 'too large' | 'bad length';

/**
 * Splits the data of a connection into packets. While packets arrive whole no byte is copied: the result is a view of
 * the received chunk. A packet that arrives in pieces is copied whenever the buffer doubles. Of a PUBLISH that is too long
 * only the beginning is kept; it is found like a whole packet when the rest has arrived.
 */
export function createPacketReader() {
  let filled = 0; // where the received bytes end in `bytes`
  let taken = 0; // where the removed packets end
  let dropped = 0; // bytes of the packet behind them that were thrown away

  const reader = {
    bytes: NOTHING as Buffer,
    /**
     * The packet that `look` has found last: its first byte, the begin and end of its body in `bytes`, and the length
     * of its body.
     */
    first: 0,
    start: 0,
    end: 0,
    length: 0,
    /** Whether only the beginning of the packet is kept; `length` is that of the packet as it was sent. */
    isCut: false,

    push(chunk: Buffer): void {
      if (taken === filled) {
        reader.bytes = chunk;
        taken = 0;
        filled = chunk.length;
        return;
      }
      if (reader.bytes.length - filled < chunk.length) {
        const rest = filled - taken;
        const grown = Buffer.allocUnsafeSlow(Math.max(SMALLEST_GATHERING, (rest + chunk.length) * 2));
        reader.bytes.copy(grown, 0, taken, filled);
        reader.bytes = grown;
        taken = 0;
        filled = rest;
      }
      chunk.copy(reader.bytes, filled);
      filled += chunk.length;
    },

    /**
     * Finds the packet behind those that were removed. A packet longer than `limit` is reported as soon as its
     * length is known, without waiting for its body; a PUBLISH longer than `limit` and not longer than `most` is cut.
     */
    look(limit: number, most = limit): Found {
      const { bytes } = reader;
      if (taken === filled) return 'none';
      reader.first = bytes[taken] as number;
      let at = taken + 1;
      let length = 0;
      for (let shift = 0; ; shift += 7, at += 1) {
        if (shift === LENGTH_BYTES * 7) return 'bad length';
        if (at >= filled) return 'part';
        const byte = bytes[at] as number;
        length |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      reader.length = length;
      reader.start = at + 1;
      reader.isCut = length > limit;
      if (reader.isCut && (length > most || reader.first >> 4 !== TYPE.PUBLISH)) return 'too large';
      reader.end = reader.start + (reader.isCut ? KEPT : length);
      if (reader.end > filled) return 'part';
      if (!reader.isCut) return 'whole';
      const further = Math.min(filled - reader.end, length - KEPT - dropped);
      bytes.copyWithin(reader.end, reader.end + further, filled);
      filled -= further;
      dropped += further;
      return dropped < length - KEPT ? 'part' : 'whole';
    },

    /** Removes the packet that `look` has found. */
    pass(): void {
      taken = reader.end;
      dropped = 0;
    },

    /** The bytes that have arrived behind the packet that `look` has found. */
    rest: (): Buffer => reader.bytes.subarray(reader.end, filled),

    /** Removes the packet that `look` has found, and returns all its bytes, as a view of the buffer. */
    take(): Buffer {
      const packet = reader.bytes.subarray(taken, reader.end);
      const body = reader.bytes.subarray(reader.start, reader.end);
      reader.pass();
      return reader.isCut ? Buffer.concat([Buffer.from([reader.first, ...KEPT_LENGTH]), body]) : packet;
    },

    clear(): void {
      reader.bytes = NOTHING;
      filled = 0;
      taken = 0;
      dropped = 0;
    },
  };
  return reader;
}
