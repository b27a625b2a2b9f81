import { packetBytes, readPackets } from '@lapel/device-sim/mqtt/packets';
import t from 'tap';

t.test('the bytes of one connection that break MQTT do not disturb the reading of another one', async (t) => {
  const connect = packetBytes({ cmd: 'connect', protocolId: 'MQTT', clientId: 'a', clean: true, keepalive: 60 });
  for (const [name, broken] of Object.entries({
    'a CONNECT whose texts are longer than it': Buffer.from([0x10, 4, 0, 40, 1, 2]),
    'an unknown type': Buffer.from([0, 0]),
    'a QoS of 3': Buffer.from([0x36, 5, 0, 1, 0x61, 0, 1]),
  })) {
    t.throws(() => readPackets(undefined, broken), name);
    t.match(readPackets(undefined, connect).packets, [{ cmd: 'connect', clientId: 'a' }], name);
  }
});

t.test('a CONNECT of MQTT 5 changes the reading of no other connection', async (t) => {
  const head = { cmd: 'connect', protocolId: 'MQTT', clientId: 'a', clean: true, keepalive: 60 } as const;
  const ofFive = packetBytes({ ...head, protocolVersion: 5 }, 5);
  t.match(readPackets(undefined, ofFive, 4, 1).packets, [{ cmd: 'connect', protocolVersion: 5 }]);
  const publish = {
    cmd: 'publish',
    topic: 'a',
    payload: '{}',
    qos: 1,
    messageId: 1,
    dup: false,
    retain: false,
  } as const;
  const [read] = readPackets(undefined, packetBytes(publish)).packets;
  t.equal((read as { payload?: Buffer }).payload?.toString(), '{}');
});

t.test('the packets behind the wanted ones are in the rest', async (t) => {
  const both = Buffer.concat([packetBytes({ cmd: 'pingreq' }), packetBytes({ cmd: 'disconnect' })]);
  const { packets, rest } = readPackets(undefined, both, 4, 1);
  t.match(packets, [{ cmd: 'pingreq' }]);
  t.equal(packets.length, 1);
  t.match(readPackets(rest, Buffer.alloc(0)).packets, [{ cmd: 'disconnect' }]);
});
