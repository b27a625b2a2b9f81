import assert from 'node:assert/strict';
import { generate, type Packet, parser } from 'mqtt-packet';
import { readPacket } from '../../../src/edge/mqtt/packet-bytes.ts';
import { createPacketReader } from '../../../src/edge/mqtt/packet-reader.ts';
import { packetFault } from '../../../src/edge/mqtt/packet-rules.ts';
import { inPieces } from '../mutate.ts';
import type { FuzzedParser } from '../parser.ts';

/** The largest remaining length after the login, as the guard has it. */
const LIMIT = 256 * 1024;
/** The bytes of the type and of the length in front of a packet, at most. */
const HEAD = 5;
const SMALLEST_BUFFER = 1024;

const DEVICE = '353547070000099';
const PACKETS: readonly Packet[] = [
  { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId: DEVICE, keepalive: 60 },
  {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: false,
    clientId: DEVICE,
    keepalive: 0,
    username: DEVICE,
    password: Buffer.from('secret'),
    will: { topic: `devices/${DEVICE}/will`, payload: Buffer.from('{"ü":1}'), qos: 1, retain: false },
  },
  { cmd: 'connect', protocolId: 'MQIsdp', protocolVersion: 3, clean: true, clientId: 'a', keepalive: 1 },
  { cmd: 'publish', topic: `devices/${DEVICE}/events`, payload: '{"a":"😀"}', qos: 0, dup: false, retain: false },
  { cmd: 'publish', topic: 'ü/日本', payload: 'x'.repeat(200), qos: 1, messageId: 1, dup: true, retain: false },
  { cmd: 'publish', topic: 'a', payload: '', qos: 2, messageId: 65_535, dup: false, retain: true },
  { cmd: 'puback', messageId: 1 },
  { cmd: 'pubrec', messageId: 2 },
  { cmd: 'pubrel', messageId: 3 },
  { cmd: 'pubcomp', messageId: 4 },
  { cmd: 'subscribe', messageId: 5, subscriptions: ['a/+/b', '#', '+', 'a/#'].map((topic) => ({ topic, qos: 1 })) },
  { cmd: 'unsubscribe', messageId: 6, unsubscriptions: ['a/+/b', '#'] },
  { cmd: 'pingreq' },
  { cmd: 'disconnect' },
];
const documents = PACKETS.map((packet) => generate(packet));

/** A packet that passes the rules, and what the service itself reads of it; undefined when only Aedes reads it. */
interface Passed {
  bytes: Buffer;
  own: ReturnType<typeof readPacket>;
}

/** The packets that pass the rules, and the fault that ends the connection. */
export function split(pieces: readonly Buffer[]): { packets: Passed[]; fault: string | undefined } {
  const reader = createPacketReader();
  const packets: Passed[] = [];
  let waiting = 0;
  /** The most bytes that have waited since the reader was empty. */
  let most = 0;
  for (const piece of pieces) {
    reader.push(piece);
    if (waiting === 0) most = 0;
    waiting += piece.length;
    most = Math.max(most, waiting);
    assert.ok(
      reader.bytes.length <= Math.max(SMALLEST_BUFFER, 2 * most),
      `the buffer has ${reader.bytes.length} bytes for ${most}`,
    );
    for (;;) {
      const found = reader.look(LIMIT);
      if (found === 'none' || found === 'part') break;
      const fault = found === 'whole' ? packetFault(reader.bytes, reader.first, reader.start, reader.end) : found;
      if (fault !== undefined) return { packets, fault };
      const own = readPacket(reader.bytes, reader.first, reader.start, reader.end);
      const bytes = Buffer.from(reader.take());
      waiting -= bytes.length;
      packets.push({ bytes, own });
    }
    assert.ok(waiting <= LIMIT + HEAD, `${waiting} bytes wait for the rest of a packet`);
  }
  return { packets, fault: undefined };
}

/** The packet that the library of Aedes reads from the bytes of one packet. */
function parsed(bytes: Buffer): Packet {
  const packets: Packet[] = [];
  const reading = parser();
  reading.on('packet', (packet) => packets.push(packet));
  reading.on('error', (error) => {
    throw new Error('the guard lets a packet pass that mqtt-packet refuses', { cause: error });
  });
  assert.equal(reading.parse(bytes), 0, 'mqtt-packet has read the whole packet');
  assert.equal(packets.length, 1, 'mqtt-packet reads one packet');
  return packets[0]!;
}

/** The packets that the service reads itself, with the fields that something behind its reader uses. */
function hotPacket(packet: Packet): object | undefined {
  if (packet.cmd === 'puback') return { cmd: 'puback', messageId: packet.messageId };
  if (packet.cmd !== 'publish' || packet.qos === 2) return undefined;
  const { length: _, ...read } = packet;
  return read;
}

/** The reader and the rules of packets: what passes them must be a packet for the broker behind them, too. */
export const mqtt: FuzzedParser = {
  documents: [...documents, Buffer.concat(documents)],
  words: ['\0\u0004MQTT', '/', '+', '#', '\u0000', '\u0085', '\ufeff'],
  read(input, random) {
    const whole = split([input]);
    assert.deepEqual(split(inPieces(input, random)), whole, 'packets in pieces are the same packets');
    for (const { bytes, own } of whole.packets) {
      const packet = parsed(bytes);
      assert.deepEqual(own, hotPacket(packet), 'the service reads what mqtt-packet reads');
      // mqtt-packet reads a CONNECT without a clientId, but does not write one. Its login is refused.
      if (packet.cmd === 'connect' && packet.clientId === '') continue;
      const { length: _, ...again } = parsed(generate(packet));
      const { length: __, ...before } = packet;
      assert.deepEqual({ ...again }, { ...before }, 'a packet that is written again is the same');
    }
    return whole.fault === undefined && whole.packets.length > 0;
  },
};
