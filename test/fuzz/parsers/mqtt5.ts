import assert from 'node:assert/strict';
import { generate, type Packet, parser } from 'mqtt-packet';
import { readConnect } from '../../../src/edge/mqtt/five/connect.ts';
import { readFromDevice } from '../../../src/edge/mqtt/five/from-device.ts';
import { Violation } from '../../../src/edge/mqtt/five/reasons.ts';
import { createPacketReader } from '../../../src/edge/mqtt/packet-reader.ts';
import { packetFault, TYPE } from '../../../src/edge/mqtt/packet-rules.ts';
import { inPieces } from '../mutate.ts';
import type { FuzzedParser } from '../parser.ts';

const LIMIT = 256 * 1024;
const DEVICE = '353547070000099';
const userProperties = { a: 'b', ü: '日本' };
const CONNECT = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clientId: DEVICE, keepalive: 60 } as const;
const PACKETS: readonly Packet[] = [
  { ...CONNECT, clean: true },
  {
    ...CONNECT,
    clean: false,
    username: DEVICE,
    password: Buffer.from('secret'),
    properties: { sessionExpiryInterval: 60, receiveMaximum: 7, maximumPacketSize: 4096, userProperties },
    will: {
      topic: `devices/${DEVICE}/status`,
      payload: Buffer.from('{"ü":1}'),
      qos: 1,
      retain: false,
      properties: { contentType: 'application/json', messageExpiryInterval: 9 },
    },
  },
  { cmd: 'publish', topic: `devices/${DEVICE}/events`, payload: '{"a":"😀"}', qos: 0, dup: false, retain: false },
  {
    cmd: 'publish',
    topic: 'ü/日本',
    payload: 'x'.repeat(200),
    qos: 1,
    messageId: 1,
    dup: true,
    retain: false,
    properties: { responseTopic: 'a/b', correlationData: Buffer.from([0, 255]), userProperties },
  },
  { cmd: 'publish', topic: 'a', payload: '', qos: 2, messageId: 65_535, dup: false, retain: false },
  { cmd: 'puback', messageId: 1, reasonCode: 0x97, properties: { reasonString: 'no room' } },
  { cmd: 'pubrec', messageId: 2, reasonCode: 0x80 },
  { cmd: 'pubrel', messageId: 3, reasonCode: 0x92 },
  { cmd: 'pubcomp', messageId: 4 },
  { cmd: 'subscribe', messageId: 5, subscriptions: [{ topic: 'a/+/b', qos: 1, nl: true, rap: true, rh: 1 }] },
  { cmd: 'unsubscribe', messageId: 6, unsubscriptions: ['a/+/b', '#'], properties: { userProperties } },
  { cmd: 'pingreq' },
  { cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 0, reasonString: 'bye' } },
];
const documents = PACKETS.map((packet) => generate(packet, { protocolVersion: 5 }));

interface Passed {
  /** The bytes of the device, and those that MQTT 3.1.1 has for them. */
  bytes: Buffer;
  rewritten: Buffer;
}

/** The packets that pass the rules, and the fault of the first one that does not. */
function split(pieces: readonly Buffer[]): { packets: Passed[]; fault: string | undefined } {
  const reader = createPacketReader();
  const packets: Passed[] = [];
  for (const piece of pieces) {
    reader.push(piece);
    for (;;) {
      const found = reader.look(LIMIT);
      if (found === 'none' || found === 'part') break;
      if (found !== 'whole') return { packets, fault: found };
      const { bytes, first, start, end } = reader;
      const isConnect = first === TYPE.CONNECT << 4;
      // The front begins with packets whose name and level the guard has found.
      if (isConnect && bytes.toString('latin1', start, Math.min(end, start + 7)) !== '\0\u0004MQTT\u0005')
        return { packets, fault: 'level' };
      try {
        const rewritten = isConnect
          ? readConnect(bytes, start, end).connect
          : readFromDevice(bytes, first, start, end).bytes;
        packets.push({ bytes: Buffer.from(reader.take()), rewritten });
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        assert.ok(error.code >= 0x80, 'a fault has a reason code that refuses');
        return { packets, fault: error.message };
      }
    }
  }
  return { packets, fault: undefined };
}

function parsed(bytes: Buffer, protocolVersion: number): Packet {
  const packets: Packet[] = [];
  const reading = parser({ protocolVersion });
  reading.on('packet', (packet) => packets.push(packet));
  reading.on('error', (error) => {
    throw new Error(`mqtt-packet refuses a packet of level ${protocolVersion}`, { cause: error });
  });
  reading.parse(bytes);
  assert.equal(packets.length, 1, 'mqtt-packet reads one packet');
  return packets[0]!;
}

/** The fields that both versions have. */
function inCommon(packet: Packet): object {
  const { cmd } = packet;
  const id = { messageId: (packet as { messageId?: number }).messageId };
  if (packet.cmd === 'publish') {
    const { topic, payload, qos, dup } = packet;
    return { cmd, ...id, topic, payload, qos, dup };
  }
  if (packet.cmd === 'subscribe')
    return { cmd, ...id, subscriptions: packet.subscriptions.map(({ topic, qos }) => ({ topic, qos })) };
  if (packet.cmd === 'unsubscribe') return { cmd, ...id, unsubscriptions: packet.unsubscriptions };
  if (packet.cmd !== 'connect') return { cmd, ...id };
  const { clientId, keepalive, username, password, will } = packet;
  return {
    cmd,
    clientId,
    keepalive,
    username,
    password,
    will: will && { topic: will.topic, payload: will.payload, qos: will.qos },
  };
}

/** The front for MQTT 5: what it hands on must be what the device has said, also to another reader. */
export const mqtt5: FuzzedParser = {
  documents: [...documents, Buffer.concat(documents.slice(2))],
  words: [
    '\0\u0004MQTT\u0005',
    '\u0011',
    '\u0021\0\u0001',
    '\u0026\0\u0001a\0\u0001b',
    '/',
    '+',
    '#',
    '\u0000',
    '\ufeff',
  ],
  read(input, random) {
    const whole = split([input]);
    assert.deepEqual(split(inPieces(input, random)), whole, 'packets in pieces are the same packets');
    for (const { bytes, rewritten } of whole.packets) {
      const reader = createPacketReader();
      reader.push(rewritten);
      assert.equal(reader.look(LIMIT), 'whole', 'one whole packet');
      assert.equal(reader.end, rewritten.length, 'and nothing behind it');
      if (packetFault(rewritten, reader.first, reader.start, reader.end) !== undefined) continue; // the guard refuses it
      const before = parsed(bytes, 5);
      if (before.cmd === 'pubrec' && (before.reasonCode ?? 0) >= 0x80) continue; // it becomes a PUBCOMP
      assert.deepEqual(inCommon(parsed(rewritten, 4)), inCommon(before), 'the packet of 3.1.1 says the same');
    }
    return whole.fault === undefined && whole.packets.length > 0;
  },
};
