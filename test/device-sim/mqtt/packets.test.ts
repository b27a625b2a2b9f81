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
