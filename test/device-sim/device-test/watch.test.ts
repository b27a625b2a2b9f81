import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { createCommandMaker } from '@lapel/device-sim/device-test/command-maker';
import { readContract } from '@lapel/device-sim/device-test/contract';
import { deviceTestText } from '@lapel/device-sim/device-test/device-test-text';
import type { Account } from '@lapel/device-sim/device-test/login';
import { createAlarms } from '@lapel/device-sim/device-test/watch';
import mqttPacket, { type Packet } from 'mqtt-packet';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';
import { testedDevice } from './tested.ts';

const connect = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: false, clientId: 'x' } as const;

/** The watch over messages, with a clock that the test moves. */
function watch() {
  const raised: string[] = [];
  const timers = handTimers();
  const alarms = createAlarms({
    contract: readContract(),
    commands: createCommandMaker(() => 0),
    timers,
    strayRule: () => 'answers',
    raise: (rule, _expected, came) => raised.push(`${rule}: ${came}`),
  });
  return {
    raised,
    timers,
    alarms,
    receive(kind: string, body: unknown): void {
      const payload = Buffer.from(JSON.stringify(body));
      alarms.received({ kind, body }, payload, 1);
    },
  };
}

t.test('a device that is silent for more than one and a half keep-alive intervals is noticed', async (t) => {
  const { raised, timers, alarms } = watch();
  alarms.connected({ ...connect, keepalive: 20 });
  timers.elapse(30_000);
  alarms.packet();
  t.strictSame(raised, []);
  timers.elapse(31_000);
  alarms.packet();
  t.strictSame(raised, ['keep-alive: none for 31 s']);
});

t.test('the id of an event or request belongs to one content', async (t) => {
  const { raised, receive } = watch();
  const event = { eventId: 'e-1', type: 'custom.sos', occurredAt: '2026-11-23T09:30:00Z', data: {} };
  receive('events', event);
  receive('events', event);
  receive('requests', { requestId: 'e-1', type: 'softwareDownloadUrl', data: { transactionId: 1 } });
  t.strictSame(raised, []);
  receive('events', { ...event, type: 'custom.other' });
  receive('requests', { requestId: 'e-1', type: 'softwareDownloadUrl', data: { transactionId: 2 } });
  t.match(raised, [/^events: another content with the same id/, /^requests: another content with the same id/]);
});

t.test('unknown members are no fault of a message; wrong values are', async (t) => {
  const { raised, receive } = watch();
  receive('status', { lang: 'ja', mood: 'good', network: { type: 'wifi', ssid: 'ü'.repeat(16), rssi: null, band: 5 } });
  t.strictSame(raised, []);
  receive('status', { network: { type: 'wifi', ssid: 'ü'.repeat(17), rssi: null } });
  receive('events', { eventId: 'e', type: 'nonsense', occurredAt: 'now', data: {} });
  receive('acks', { transactionId: 5, status: 'done' });
  t.match(raised, [
    /^messages: network\.ssid: /,
    /^messages: type: String should be bluetooth\.connected/,
    /^messages: occurredAt: String should be ISO 8601/,
    /^messages: status: .*: processing, succeeded, failed$/,
    'answers: one of transaction 5',
  ]);
});

/** Logs in with bare packets, and sends the others behind it. */
async function sendAll(url: string, { deviceId, credential }: Account, packets: readonly (Packet | Buffer)[]) {
  const socket: Socket = connectTcp({ host: '127.0.0.1', port: Number(new URL(url).port) });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const login = {
    ...connect,
    clientId: deviceId,
    username: deviceId,
    password: Buffer.from(credential),
    keepalive: 60,
  };
  const own = ['commands', 'responses', 'errors'].map((kind) => ({
    topic: `devices/${deviceId}/${kind}`,
    qos: 1 as const,
  }));
  const subscribe = { cmd: 'subscribe', messageId: 1, subscriptions: own } as const;
  const bytes = [login, subscribe, ...packets].map((one) =>
    Buffer.isBuffer(one) ? one : mqttPacket.generate(one as Packet),
  );
  socket.write(Buffer.concat(bytes));
  return socket;
}

const publish = (topic: string, payload: string, more: object = {}): Packet =>
  ({ cmd: 'publish', topic, payload, qos: 1, messageId: 9, dup: false, retain: false, ...more }) as Packet;

t.test('hostile packets are found, and their texts are cut and escaped', async (t) => {
  let socket: Socket | undefined;
  const record = await testedDevice('--cases login --answer-time 0.2 --wait 0.2', (url, account) => {
    const own = `devices/${account.deviceId}`;
    void sendAll(url, account, [
      { cmd: 'subscribe', messageId: 2, subscriptions: [{ topic: '#', qos: 1 }] },
      publish(`${own}/acks`, '\u001b[31m{'),
      publish('devices/\u202e1/acks', '{}'),
      publish(`${own}/status`, JSON.stringify({ lang: 'x'.repeat(300 * 1024) })),
      { cmd: 'puback', messageId: 777 },
    ]).then((made) => (socket = made));
  });
  socket?.destroy();
  const findings = record.cases[0]?.findings ?? [];
  // It breaks `answers` too, because no answer comes; on a busy machine the test excuses a wait.
  const broken = new Set(findings.map(({ rule }) => rule).filter((rule) => rule !== 'answers'));
  t.strictSame([...broken].sort(), ['messages', 'mqtt', 'topics']);
  t.equal(findings.filter(({ rule }) => rule === 'messages').length, 3, 'no more are listed');
  const text = deviceTestText(record);
  for (const character of ['\u001b', '\u202e']) t.notOk(text.includes(character));
  t.match(text, /\\u\{1b\}\[31m/);
  for (const line of text.split('\n')) t.ok(line.length < 500, `${line.slice(0, 80)}...`);
});

/** A reserved packet type, with a length that never ends. */
const GARBAGE = Buffer.from([0xf0, 0xff, 0xff, 0xff, 0xff, 0xff]);

t.test('a packet that breaks MQTT ends the connection', async (t) => {
  let closed: Promise<unknown> | undefined;
  const record = await testedDevice('--cases login --answer-time 0.5 --wait 5', (url, account) => {
    closed = sendAll(url, account, []).then(async (socket) => {
      await once(socket, 'data');
      socket.resume();
      socket.write(GARBAGE);
      await once(socket, 'close');
    });
  });
  await closed;
  t.ok(record.cases[0]?.findings.some(({ rule }) => rule === 'mqtt'));
});

t.test('a device that speaks TLS is told that the port is without', async (t) => {
  const hello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);
  let closed: Promise<unknown> | undefined;
  const run = testedDevice('--wait 3', (url) => {
    const socket = connectTcp({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.on('error', () => {});
    socket.resume();
    socket.write(Buffer.concat([hello, Buffer.alloc(512)]));
    closed = once(socket, 'close');
  });
  await t.rejects(run, { message: /not MQTT without TLS: / });
  await closed;
});
