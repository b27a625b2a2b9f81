const NOTHING = Buffer.alloc(0);
// A packet that comes in pieces is gathered in a buffer that grows with what has come, not with what is claimed.
const SMALLEST_GATHERING = 1024;
const LENGTH_BYTES = 4; // [MQTT-2.2.3]

export type Found = 'none' | 'part' | 'whole' | 'too large' | 'bad length';

/**
 * Finds the packets in what comes on a connection. As long as packets come whole no byte is copied: what is handed out
 * are windows on the chunks. A packet that comes in pieces is copied as often as it takes to double.
 */
export function createPacketReader() {
  let filled = 0; // what has come ends here
  let taken = 0; // what was handed out ends here
  let seen = 0; // the packets that were seen end here

  const reader = {
    bytes: NOTHING as Buffer,
    /** Of the packet that `look` has found last: its first byte, where its body begins and ends, and what it claims. */
    first: 0,
    start: 0,
    end: 0,
    length: 0,

    push(chunk: Buffer): void {
      if (taken === filled) {
        reader.bytes = chunk;
        taken = 0;
        seen = 0;
        filled = chunk.length;
        return;
      }
      if (reader.bytes.length - filled < chunk.length) {
        const rest = filled - taken;
        const grown = Buffer.allocUnsafeSlow(Math.max(SMALLEST_GATHERING, (rest + chunk.length) * 2));
        reader.bytes.copy(grown, 0, taken, filled);
        reader.bytes = grown;
        seen -= taken;
        taken = 0;
        filled = rest;
      }
      chunk.copy(reader.bytes, filled);
      filled += chunk.length;
    },

    /** Looks at the packet behind those that were seen. One that claims more than `limit` is not waited for. */
    look(limit: number): Found {
      const { bytes } = reader;
      if (seen === filled) return 'none';
      reader.first = bytes[seen] as number;
      let at = seen + 1;
      let length = 0;
      for (let shift = 0; ; shift += 7, at += 1) {
        if (shift === LENGTH_BYTES * 7) return 'bad length';
        if (at >= filled) return 'part';
        const byte = bytes[at] as number;
        length |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      reader.length = length;
      if (length > limit) return 'too large';
      reader.start = at + 1;
      reader.end = reader.start + length;
      return reader.end > filled ? 'part' : 'whole';
    },

    /** The packet that `look` has found is to be handed out. */
    see(): void {
      seen = reader.end;
    },

    /** A window on the packets that were seen and not handed out before. */
    take(): Buffer {
      const window = taken === 0 && seen === reader.bytes.length ? reader.bytes : reader.bytes.subarray(taken, seen);
      taken = seen;
      return window;
    },

    clear(): void {
      reader.bytes = NOTHING;
      filled = 0;
      taken = 0;
      seen = 0;
    },
  };
  return reader;
}
