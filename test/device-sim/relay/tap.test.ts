import { createSeats } from '@lapel/device-sim/relay/seats';
import { createTap, MOST_BEFORE_LOGIN, MOST_EARLY } from '@lapel/device-sim/relay/tap';
import mqttPacket, { type Packet } from 'mqtt-packet';
import t from 'tap';

const DEVICE = '350000000000006';
const bytesOf = (...packets: Packet[]): Buffer => Buffer.concat(packets.map((packet) => mqttPacket.generate(packet)));
const CONNECT: Packet = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId: DEVICE, keepalive: 60 };
const connack = (returnCode = 0): Packet => ({ cmd: 'connack', returnCode, sessionPresent: false });
const publish = (topic: string, messageId = 1, dup = false, payload = '{}'): Packet => ({
  cmd: 'publish',
  topic: `devices/${DEVICE}/${topic}`,
  payload,
  qos: 1,
  messageId,
  dup,
  retain: false,
});

function tapped() {
  const lines: string[] = [];
  const seats = createSeats({
    connected: () => lines.push('connected'),
    disconnected: (_, how) => lines.push(how),
  });
  const tap = () => createTap({ seats, onMessage: (_, kind, topic) => lines.push(`${kind} ${topic}`) });
  return { lines, tap, take: () => lines.splice(0) };
}

t.test('messages are recorded from the CONNACK on, however their bytes are cut', async (t) => {
  const { tap, take } = tapped();
  const one = tap();
  const device = bytesOf(CONNECT, publish('status'), publish('events', 2), { cmd: 'pingreq' });
  for (const byte of device) one.fromDevice(Buffer.of(byte));
  t.strictSame(take(), [], 'the service has not accepted the login');
  one.fromService(bytesOf(connack(), publish('commands'), { cmd: 'pingresp' }));
  t.strictSame(take(), ['connected', 'sent status', 'sent events', 'received commands']);
  one.fromDevice(bytesOf({ ...(publish('events', 3) as object), topic: 'devices/other/events' } as Packet));
  one.fromDevice(bytesOf({ cmd: 'disconnect' } as Packet));
  one.fromService(bytesOf(publish('commands', 2)));
  one.closed(true);
  t.strictSame(take(), ['politely'], 'a message on a topic of another device is not recorded');
  t.equal(one.isUnreadable, false);
});

t.test('a repetition of MQTT is no second message, also on the next connection', async (t) => {
  const { tap, take } = tapped();
  const [one, two] = [tap(), tap()];
  one.fromDevice(bytesOf(CONNECT));
  one.fromService(bytesOf(connack()));
  one.fromDevice(bytesOf(publish('acks', 7), publish('acks', 7, true), publish('acks', 8)));
  one.fromService(bytesOf({ cmd: 'puback', messageId: 8 }));
  two.fromDevice(bytesOf(CONNECT));
  two.fromService(bytesOf(connack()));
  one.fromDevice(bytesOf(publish('acks', 9)));
  one.closed(true);
  two.fromDevice(bytesOf(publish('acks', 7, true), publish('acks', 8, true)));
  two.closed(false);
  t.strictSame(
    take(),
    ['connected', 'sent acks', 'sent acks', 'lost', 'connected', 'sent acks', 'lost'],
    'only the newest connection of a device is recorded',
  );
});

t.test('what cannot be read is not recorded', async (t) => {
  const accepted = bytesOf(connack(), publish('commands'));
  const cases: Record<string, { device: Buffer; service?: Buffer; isUnreadable?: boolean }> = {
    'no MQTT': { device: Buffer.from('GET / HTTP/1.1\r\n\r\n') },
    'bytes of zero': { device: Buffer.alloc(1000) },
    'a length of more than four bytes': { device: Buffer.alloc(10, 0xff) },
    'another packet before CONNECT': { device: bytesOf(publish('status'), CONNECT) },
    'MQTT 5': { device: bytesOf({ ...CONNECT, protocolVersion: 5 } as Packet) },
    'a CONNECT that is cut off': { device: Buffer.concat([Buffer.of(0x10, 4), Buffer.from([0, 40, 1, 2])]) },
    'too much before the login': {
      device: bytesOf(CONNECT, publish('events', 1, false, 'x'.repeat(MOST_BEFORE_LOGIN))),
    },
    'too many messages before the login': {
      device: bytesOf(CONNECT, ...Array.from({ length: MOST_EARLY + 1 }, (_, n) => publish('events', n + 1))),
    },
    'a large packet before the login': {
      device: Buffer.concat([Buffer.of(0x10, 0xff, 0xff, 0x3f), Buffer.alloc(MOST_BEFORE_LOGIN + 1)]),
    },
    'a login that is refused': { device: bytesOf(CONNECT), service: bytesOf(connack(5)), isUnreadable: false },
    'a service that is no MQTT': {
      device: bytesOf(CONNECT),
      service: Buffer.from('\u0000\u0000no'),
      isUnreadable: true,
    },
  };
  const { tap, take } = tapped();
  for (const [name, { device, service = accepted, isUnreadable = true }] of Object.entries(cases)) {
    const one = tap();
    one.fromDevice(device);
    one.fromService(service);
    one.fromDevice(bytesOf(publish('events', 2)));
    one.closed(true);
    t.strictSame(take(), [], name);
    t.equal(one.isUnreadable, isUnreadable, name);
  }

  const broken = tap();
  broken.fromDevice(bytesOf(CONNECT));
  broken.fromService(bytesOf(connack()));
  broken.fromDevice(bytesOf(publish('events')));
  broken.fromDevice(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]));
  broken.fromDevice(bytesOf(publish('events', 2)));
  broken.fromService(bytesOf(publish('commands')));
  broken.closed(true);
  t.strictSame(
    take(),
    ['connected', 'sent events', 'cut'],
    'a packet that is too large ends the record of a connection',
  );
});
