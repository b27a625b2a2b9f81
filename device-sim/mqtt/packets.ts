import mqttPacket, { type Packet } from 'mqtt-packet';

/** Larger than any message of the service: a longer packet is a fault. */
const LARGEST_PACKET = 1024 * 1024;

// Switches off a cache of the library: a buffer for each number up to 65,535, 13 MB that are never needed here.
mqttPacket.writeToStream.cacheNumbers = false;

/** The protocol levels of MQTT 3.1.1 and 5. */
export type Level = 4 | 5;

// One parser of each level for all connections. It only gets whole packets, so it keeps nothing between two of them.
const parsers = { 4: createParser(4), 5: createParser(5) };
let parsed: Packet[] = [];
let broken: Error | undefined;

function createParser(protocolVersion: Level) {
  const made = mqttPacket.parser({ protocolVersion });
  made.on('packet', (packet) => parsed.push(packet));
  made.on('error', (error) => {
    broken = error;
  });
  return made;
}

/** Throws an Error if the packets break MQTT. */
function parse(bytes: Buffer, level: Level): void {
  try {
    parsers[level].parse(bytes);
    if (broken) throw broken;
    // The parser takes the version of a CONNECT for its own, and would read the packets of other connections by it.
    if (parsed.some(({ cmd }) => cmd === 'connect')) parsers[level] = createParser(level);
  } catch (error) {
    // The parser stands in the middle of a packet, and would read the packets of another connection from there.
    parsers[level] = createParser(level);
    throw error;
  }
}

/**
 * The length of the packet that begins at `start`, by its fixed header [MQTT-2.2.3]; undefined if the header is
 * incomplete.
 */
function packetLength(bytes: Buffer, start: number): number | undefined {
  let length = 0;
  for (let place = 0; place < 4; place += 1) {
    const byte = bytes[start + 1 + place];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 128 ** place;
    if (byte < 0x80) {
      if (length > LARGEST_PACKET) throw new Error(`a packet of ${length} bytes`);
      return 2 + place + length;
    }
  }
  throw new Error('a remaining length of more than four bytes');
}

/** The beginning of a packet whose end has not arrived; mostly none. */
export type Rest = Buffer | undefined;

/**
 * The whole packets in the bytes that arrived. Payloads are views of `bytes`, valid until it is used again. Throws an
 * Error that names the breach of MQTT. At most `most` packets are read; the others are in the rest.
 */
export function readPackets(
  rest: Rest,
  bytes: Buffer,
  level: Level = 4,
  most = Number.POSITIVE_INFINITY,
): { packets: readonly Packet[]; rest: Rest } {
  const all = rest ? Buffer.concat([rest, bytes]) : bytes;
  let end = 0;
  for (let count = 0; count < most; count += 1) {
    const length = packetLength(all, end);
    if (length === undefined || end + length > all.length) break;
    end += length;
  }
  parsed = [];
  broken = undefined;
  if (end > 0) parse(end === all.length ? all : all.subarray(0, end), level);
  return { packets: parsed, rest: end === all.length ? undefined : Buffer.from(all.subarray(end)) };
}

export const packetBytes = (packet: Packet, level: Level = 4): Buffer =>
  mqttPacket.generate(packet, { protocolVersion: level });
