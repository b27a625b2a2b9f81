import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { isRefusal, type Link } from '@lapel/device-sim/mqtt/link';
import { createLink } from '@lapel/device-sim/mqtt/mqtt-link';
import { systemTimers, type Timers } from '@lapel/device-sim/timers';
import t from 'tap';
import { until } from '../../until.ts';
import { handTimers } from '../hand-timers.ts';
import { startScriptedService } from './scripted-service.ts';

const deviceId = '350000000000001';
const topic = `devices/${deviceId}/acks`;
const nothing = (): void => {};

async function world({
  timers = systemTimers,
  clean = false,
  onMessage = () => undefined,
}: {
  timers?: Timers;
  clean?: boolean;
  onMessage?: (link: Link, messageId: number, payload: string) => 'hold' | undefined;
} = {}) {
  const service = await startScriptedService();
  const online: boolean[] = [];
  const ends: string[] = [];
  const foreign: string[] = [];
  let ended: () => void = nothing;
  const link: Link = createLink({
    url: service.url,
    deviceId,
    credential: 'secret',
    clean,
    timers,
    onOnline: (sessionPresent) => online.push(sessionPresent),
    onBatch: () => {},
    onForeign: (name) => foreign.push(name),
    onMessage: (_topic, payload, _dup, messageId) => onMessage(link, messageId, payload.toString()),
    onClose(reason) {
      ends.push(reason);
      ended();
    },
  });
  return {
    service,
    link,
    online,
    ends,
    foreign,
    /** Resolves with the reason of the next end. */
    end: () => new Promise<void>((resolve) => (ended = resolve)).then(() => ends.at(-1)),
    async login(options?: { sessionPresent?: boolean }) {
      const [connection] = await Promise.all([service.login(options), link.open()]);
      return connection;
    },
    async [Symbol.asyncDispose]() {
      await link.cut();
      await service[Symbol.asyncDispose]();
    },
  };
}

const command = (messageId: number, payload = '{}') => ({
  cmd: 'publish',
  topic: `devices/${deviceId}/commands`,
  payload,
  qos: 1,
  messageId,
  dup: false,
  retain: false,
});

t.test('the CONNECT has the deviceId, the keep-alive and the clean flag', async (t) => {
  await using parts = await world();
  const opened = parts.link.open({ credential: 'another' });
  const connection = await parts.service.connection();
  const connect = await connection.next('connect');
  t.match(connect, { protocolVersion: 4, clientId: deviceId, username: deviceId, clean: false, keepalive: 60 });
  t.equal(connect.password?.toString(), 'another');
  connection.send({ cmd: 'connack', returnCode: 0, sessionPresent: true });
  const { messageId, subscriptions } = await connection.next('subscribe');
  t.equal(subscriptions.length, 3, 'it subscribes at every login');
  connection.send({ cmd: 'suback', messageId, granted: [1, 1, 1] });
  await opened;
  t.strictSame(parts.online, [true]);
  await parts.link.close();
  await connection.next('disconnect');
  await connection.closed;
});

t.test('a message on a foreign topic is reported, and has no effect', async (t) => {
  await using parts = await world({ onMessage: () => t.fail('it is not its own') as never });
  const connection = await parts.login();
  for (const topic of ['devices/350000000000002/commands', `devices/${deviceId}/acks`]) {
    connection.send({ ...command(7), topic } as never);
    await connection.next('puback');
  }
  t.strictSame(parts.foreign, ['devices/350000000000002/commands', `devices/${deviceId}/acks`]);
});

t.test('a SUBSCRIBE that was never answered is repeated, even if the session is present', async (t) => {
  await using parts = await world();
  const first = parts.link.open();
  const connection = await parts.service.connection();
  await connection.next('connect');
  connection.send({ cmd: 'connack', returnCode: 0, sessionPresent: false });
  await connection.next('subscribe');
  connection.socket.destroy();
  await t.rejects(first);
  const again = parts.link.open();
  const next = await parts.service.connection();
  await next.next('connect');
  next.send({ cmd: 'connack', returnCode: 0, sessionPresent: true });
  const { messageId, subscriptions } = await next.next('subscribe');
  t.equal(subscriptions.length, 3);
  next.send({ cmd: 'suback', messageId, granted: [1, 1, 0x80] });
  await t.rejects(again, { message: 'the service refused a subscription' });
});

t.test('a disconnect waits for messages in flight; after DISCONNECT nothing is sent', async (t) => {
  const timers = handTimers();
  await using parts = await world({ timers, onMessage: () => t.fail('it has left') as never });
  const { link } = parts;
  const connection = await parts.login();
  link.publish('acks', 'one', nothing);
  const gone = Promise.all([link.close(), link.close()]);
  const { messageId } = await connection.next('publish');
  connection.send({ cmd: 'puback', messageId });
  connection.lingers = true;
  await connection.next('disconnect');
  connection.send(command(1));
  connection.socket.end();
  await gone;
  t.strictSame(connection.arrived, []);
  t.equal(timers.waiting(), 0);
});

t.test('a refusing CONNACK is reported with its meaning; 4 and 5 are about the device', async (t) => {
  await using parts = await world();
  for (const [returnCode, words, isAboutDevice] of [
    [3, /Server unavailable/, false],
    [4, /Bad username or password/, true],
    [5, /Not authorized/, true],
  ] as const) {
    const opened = parts.link.open().catch((error: Error) => error);
    const connection = await parts.service.connection();
    await connection.next('connect');
    connection.send({ cmd: 'connack', returnCode, sessionPresent: false });
    const error = await opened;
    t.match(error, { message: words });
    t.equal(isRefusal(error), isAboutDevice);
  }
});

t.test('the PUBACK of a message goes before the messages that it causes', async (t) => {
  await using parts = await world({
    onMessage(link, messageId) {
      link.publish('acks', `answer to ${messageId}`, nothing);
      return undefined;
    },
  });
  const connection = await parts.login();
  connection.send(command(7));
  t.match(await connection.next('puback'), { messageId: 7 });
  t.match(await connection.next('publish'), { topic, payload: Buffer.from('answer to 7'), qos: 1, dup: false });
});

t.test('a held PUBACK is sent when it is released, and never on another connection', async (t) => {
  await using parts = await world({
    onMessage(link, messageId) {
      link.publish('acks', `answer to ${messageId}`, nothing);
      return 'hold';
    },
  });
  const { link } = parts;
  const connection = await parts.login();
  connection.send(command(7));
  await connection.next('publish');
  link.release(7);
  link.release(7);
  t.match(await connection.next('puback'), { messageId: 7 });
  connection.send(command(8));
  await connection.next('publish');
  await link.cut();
  link.forget();
  const next = await parts.login({ sessionPresent: true });
  link.release(8);
  link.publish('acks', 'after it', nothing);
  t.match(await next.next('publish'), { payload: Buffer.from('after it') });
});

t.test('unacknowledged messages are sent again in their order, with their ids, as duplicates', async (t) => {
  await using parts = await world();
  const done: string[] = [];
  const say = (text: string): void => parts.link.publish('acks', text, () => done.push(text));
  const connection = await parts.login();
  for (const text of ['one', 'two', 'three']) say(text);
  const first = [await connection.next('publish'), await connection.next('publish'), await connection.next('publish')];
  connection.send({ cmd: 'puback', messageId: first[1]!.messageId });
  connection.send({ cmd: 'puback', messageId: 999 });
  connection.socket.end();
  t.equal(await parts.end(), 'connection closed');
  t.strictSame(done, ['two']);
  const next = await parts.login({ sessionPresent: true });
  say('four');
  for (const before of [first[0]!, first[2]!]) {
    const again = await next.next('publish');
    t.match(again, { messageId: before.messageId, payload: before.payload, dup: true });
    next.send({ cmd: 'puback', messageId: again.messageId });
  }
  const fourth = await next.next('publish');
  t.match(fourth, { payload: Buffer.from('four'), dup: false });
  t.notOk([first[0]!.messageId, first[2]!.messageId].includes(fourth.messageId), 'an id that nothing else has');
  next.send({ cmd: 'puback', messageId: fourth.messageId });
  await until(() => parts.link.inFlight === 0);
  t.strictSame(done, ['two', 'one', 'three', 'four']);
});

t.test('a clean session knows nothing of the last one, so the messages count as new', async (t) => {
  await using parts = await world({ clean: true });
  const connection = await parts.login();
  parts.link.publish('acks', 'one', nothing);
  await connection.next('publish');
  await parts.link.cut();
  const next = await parts.login();
  t.match(await next.next('publish'), { payload: Buffer.from('one'), dup: false });
});

t.test('a device that has lost its memory sends nothing again', async (t) => {
  await using parts = await world();
  const connection = await parts.login();
  parts.link.publish('acks', 'one', () => t.fail('it was forgotten'));
  await connection.next('publish');
  await parts.link.cut();
  parts.link.forget();
  t.equal(parts.link.inFlight, 0);
  const next = await parts.login({ sessionPresent: true });
  parts.link.publish('acks', 'two', nothing);
  t.match(await next.next('publish'), { payload: Buffer.from('two') });
});

t.test('it sends pings, and disconnects from a service that does not answer', async (t) => {
  const timers = handTimers();
  await using parts = await world({ timers });
  const connection = await parts.login();
  t.equal(await timers.next(), 45_000, 'within the keep-alive');
  await connection.next('pingreq');
  connection.send({ cmd: 'pingresp' });
  connection.send(command(1));
  await connection.next('puback');
  t.equal(await timers.next(), 90_000);
  await connection.next('pingreq');
  const end = parts.end();
  t.equal(await timers.next(), 135_000);
  t.equal(await end, 'the service sent nothing for too long');
  await connection.closed;
  t.equal(timers.waiting(), 0, 'nothing is planned any more');
});

t.test('a service that never answers a CONNECT is given up', async (t) => {
  const timers = handTimers();
  await using parts = await world({ timers });
  const opened = parts.link.open();
  const connection = await parts.service.connection();
  await connection.next('connect');
  const refused = t.rejects(opened, { message: 'the service did not answer in time' });
  t.equal(await timers.next(), 30_000);
  await refused;
  await connection.closed;
});

t.test('bytes that are not MQTT end the connection, with a sentence', async (t) => {
  await using parts = await world();
  const cases: [string, Buffer][] = [
    ['the service sent connack', Buffer.from([0x20, 2, 0, 0])],
    ['a remaining length of more than four bytes', Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 1])],
    ['a packet of 268435455 bytes', Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])],
    ['the service published at a QoS that was not granted', Buffer.from([0x34, 5, 0, 1, 97, 0, 1])],
  ];
  for (const [words, bytes] of cases) {
    const connection = await parts.login();
    const end = parts.end();
    connection.socket.write(bytes);
    t.equal(await end, words);
  }
  const opened = parts.link.open();
  const connection = await parts.service.connection();
  connection.send(command(1));
  await t.rejects(opened, { message: 'the service began with publish' });
});

t.test('packets are read however the network splits them', async (t) => {
  const payloads: string[] = [];
  await using parts = await world({
    onMessage(_link, _messageId, payload) {
      payloads.push(payload);
      return undefined;
    },
  });
  const connection = await parts.login();
  const { default: mqttPacket } = await import('mqtt-packet');
  const bytes = Buffer.concat(
    ['a', 'b'.repeat(300), 'c'].map((payload, index) => mqttPacket.generate(command(index + 1, payload) as never)),
  );
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 40],
    [40, 45],
    [45, 200],
    [200, bytes.length],
  ] as const) {
    connection.socket.write(bytes.subarray(from, to));
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const messageId of [1, 2, 3]) t.match(await connection.next('puback'), { messageId });
  t.strictSame(payloads, ['a', 'b'.repeat(300), 'c']);
});

t.test('while the service does not read, messages wait in the device, not in its socket', async (t) => {
  await using parts = await world();
  const sockets: Socket[] = [];
  const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', note);
  t.teardown(() => unsubscribe('net.client.socket', note));
  const connection = await parts.login();
  connection.socket.pause();
  const payload = Buffer.alloc(10_000);
  for (let n = 0; n < 2000; n += 1) parts.link.publish('acks', payload, nothing);
  t.equal(parts.link.inFlight, 2000);
  t.ok(sockets[0]!.writableLength < 200_000, `${sockets[0]!.writableLength} of 20,000,000 bytes`);
  connection.socket.resume();
  for (let n = 0; n < 2000; n += 1) {
    connection.send({ cmd: 'puback', messageId: (await connection.next('publish')).messageId });
  }
  await until(() => parts.link.inFlight === 0);
});

t.test(
  'half open: the device notices by itself and comes back, while the service still has the old socket',
  async (t) => {
    const timers = handTimers();
    await using parts = await world({ timers, onMessage: () => t.fail('nothing is read') as never });
    const { link } = parts;
    const connection = await parts.login();
    link.freeze();
    connection.send(command(1));
    link.publish('acks', 'unheard', nothing);
    await timers.next();
    const end = parts.end();
    await timers.next();
    t.equal(await end, 'the service sent nothing for too long');
    const next = await parts.login({ sessionPresent: true });
    t.match(await next.next('publish'), { payload: Buffer.from('unheard'), dup: false });
    t.equal(connection.socket.destroyed, false);
    t.strictSame(connection.arrived, [], 'not even a farewell');
    connection.socket.end();
    await connection.closed;
    t.equal(link.online, true, 'the end of the old one is nothing to the new one');
  },
);

t.test('a slow reader pauses between reads', async (t) => {
  const timers = handTimers();
  const payloads: string[] = [];
  await using parts = await world({
    timers,
    onMessage(_link, _messageId, payload) {
      payloads.push(payload);
      return undefined;
    },
  });
  const connection = await parts.login();
  parts.link.readSlowly(100);
  connection.send(command(1, 'x'.repeat(161)));
  await connection.next('puback');
  connection.send(command(2, 'second'));
  await new Promise<void>((resolve) => connection.socket.write('', () => resolve()));
  t.equal(payloads.length, 1);
  t.equal(await timers.next(), 2000, '200 bytes at 100 a second');
  await connection.next('puback');
  t.equal(payloads[1], 'second');
});
