import { generate } from 'mqtt-packet';
import t from 'tap';
import { pubackBytes, publishBytes } from '../../src/edge/mqtt/packet-bytes.ts';

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
