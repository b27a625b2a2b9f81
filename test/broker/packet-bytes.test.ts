import { isDeepStrictEqual } from 'node:util';
import { createRandom } from '@lapel/device-sim/random';
import { generate, type Packet } from 'mqtt-packet';
import t from 'tap';
import { pubackBytes, publishBytes } from '../../src/edge/mqtt/packet-bytes.ts';
import { mqtt, split } from '../fuzz/parsers/mqtt.ts';

const bytesOf = (topic: string, payload: string, messageId: number): Buffer =>
  messageId === 0
    ? generate({ cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false })
    : generate({ cmd: 'publish', topic, payload, qos: 1, messageId, dup: false, retain: false });

t.test('a PUBLISH has the bytes that mqtt-packet makes of it', async (t) => {
  const topics = ['a', 'devices/353547070000099/commands', 'ü/😀'];
  // The length field gets another byte at 128, 16,384 and 2,097,152.
  const lengths = [0, 1, 90, 120, 125, 127, 128, 16_340, 16_380, 16_383, 16_384, 2_097_110, 2_097_152];
  for (const topic of topics)
    for (const length of lengths)
      for (const messageId of [0, 1, 255, 256, 65_535]) {
        const payload = 'x'.repeat(length);
        const same = publishBytes(topic, payload, messageId).equals(bytesOf(topic, payload, messageId));
        t.ok(same, `${topic}, ${length} bytes, ${messageId}`);
      }
  const foreign = '{"ssid":"カメラ \u0000 😀 ü"}';
  t.strictSame(publishBytes('t', foreign, 7), bytesOf('t', foreign, 7));
  t.strictSame(publishBytes('t', '\ud800', 7), bytesOf('t', '\ud800', 7), 'a lone surrogate');
});

t.test('a PUBACK has the bytes that mqtt-packet makes of it', async (t) => {
  for (const messageId of [1, 255, 256, 65_535])
    t.strictSame(pubackBytes(messageId), generate({ cmd: 'puback', messageId }), `${messageId}`);
});

const TOPICS = ['a', 'devices/353547070000099/acks', 'ü/日本/😀', `a${'/ü'.repeat(150)}`];
const PAYLOADS = ['', '{"a":"ü😀"}', 'x'.repeat(200), 'x'.repeat(64 * 1024)];

/** Packets that the service reads itself, and among them others, which Aedes reads. */
function* mixedPackets(topics: readonly string[], payloads: readonly string[]): Generator<Packet> {
  for (const topic of topics)
    for (const payload of payloads)
      for (const retain of [false, true]) {
        yield { cmd: 'publish', topic, payload, qos: 0, dup: false, retain };
        for (const dup of [false, true]) {
          yield { cmd: 'publish', topic, payload, qos: 1, messageId: topic.length * 200, dup, retain };
          yield { cmd: 'publish', topic, payload, qos: 2, messageId: 65_535, dup, retain };
        }
        yield { cmd: 'puback', messageId: 256 + topic.length };
        yield { cmd: 'pingreq' };
        yield { cmd: 'subscribe', messageId: 3, subscriptions: [{ topic, qos: 1 }] };
      }
}
const streamOf = (topics: readonly string[], payloads: readonly string[]): Buffer =>
  Buffer.concat(Array.from(mixedPackets(topics, payloads), (packet) => generate(packet)));

t.test('the packets that the service reads itself have the fields that mqtt-packet reads', async (t) => {
  const stream = streamOf(TOPICS, PAYLOADS);
  for (const seed of [1, 2, 3]) t.ok(await mqtt.read(stream, createRandom(seed)), 'in one chunk, and in pieces');
  const kinds = Object.groupBy(split([stream]).packets, ({ own }) => own?.cmd ?? 'others');
  t.match(kinds, { publish: { length: 96 }, puback: { length: 32 }, others: { length: 128 } });
});

t.test('packets are the same wherever a chunk ends', async (t) => {
  const stream = streamOf(TOPICS.slice(1, 3), PAYLOADS.slice(0, 2));
  const whole = split([stream]);
  t.same(split(Array.from(stream, (byte) => Buffer.from([byte]))), whole, 'after each byte');
  const broken = Array.from(stream, (_, at) => at).filter(
    (at) => !isDeepStrictEqual(split([stream.subarray(0, at), stream.subarray(at)]), whole),
  );
  t.same(broken, [], 'after any one byte');
});
