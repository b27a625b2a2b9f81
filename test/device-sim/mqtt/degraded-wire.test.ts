import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Conditions } from '@lapel/device-sim/mqtt/conditions';
import { degraded } from '@lapel/device-sim/mqtt/degraded-wire';
import { type Wire, wireTo } from '@lapel/device-sim/mqtt/wire';
import { createRandom } from '@lapel/device-sim/random';
import t, { type Test } from 'tap';
import { until } from '../../until.ts';
import { handTimers } from '../hand-timers.ts';

/** A connection to a real server through a bad network, whose time the test moves. */
async function connectBadly(t: Test, first: Conditions | null) {
  const timers = handTimers();
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const heard: string[] = [];
  let conditions = first;
  let drained = 0;
  const connect = degraded(wireTo(`mqtt://127.0.0.1:${port}`), {
    conditions: () => conditions,
    random: createRandom(1),
    timers,
  });
  const wire: Wire = connect({
    onOpen: () => opened.resolve(),
    onBytes: (_, bytes) => heard.push(bytes.toString()),
    onDrain: () => {
      drained += 1;
    },
    onClose: () => closed.resolve(),
  });
  const [socket] = await accepted;
  t.teardown(() => socket.destroy());
  const received: string[] = [];
  socket.setEncoding('utf8').on('data', (text: string) => received.push(text));
  await opened.promise;
  return {
    wire,
    socket,
    timers,
    received,
    heard,
    closed: closed.promise,
    drained: () => drained,
    become: (next: Conditions | null) => {
      conditions = next;
    },
  };
}

const fixed = (milliseconds: number, bytesPerSecond: number | null = null): Conditions => ({
  delay: { min: milliseconds, max: milliseconds },
  bytesPerSecond,
});

t.test('each direction delays its bytes, and none overtakes another', async (t) => {
  const { wire, socket, timers, received, heard, become } = await connectBadly(t, fixed(500));
  wire.write(Buffer.from('slow '));
  become(null);
  wire.write(Buffer.from('quick'));
  t.equal(await timers.next(), 500);
  t.equal(await timers.next(), 500, 'it waits for the bytes before it');
  while (received.join('') !== 'slow quick') await once(socket, 'data');
  become(fixed(200));
  socket.write('answer');
  await until(() => timers.waiting() !== 0);
  t.strictSame(heard, []);
  t.equal(await timers.next(), 700);
  t.strictSame(heard, ['answer']);
});

t.test('without bad conditions nothing waits', async (t) => {
  const { wire, socket, timers, heard } = await connectBadly(t, null);
  wire.write(Buffer.from('ping'));
  await once(socket, 'data');
  socket.write('pong');
  await until(() => heard.length !== 0);
  t.equal(timers.waiting(), 0);
});

t.test('bandwidth limits how much arrives, and a writer has to wait for room', async (t) => {
  const { wire, timers, drained } = await connectBadly(t, fixed(0, 1000));
  t.equal(wire.write(Buffer.alloc(500)), true);
  t.equal(wire.write(Buffer.alloc(70_000)), false, 'as with a full buffer of a socket');
  t.equal(await timers.next(), 500);
  t.equal(drained(), 0);
  t.equal(await timers.next(), 70_500);
  t.equal(drained(), 1);
});

t.test('a broken connection loses the bytes on their way, an orderly end does not', async (t) => {
  const broken = await connectBadly(t, fixed(100));
  broken.wire.write(Buffer.from('lost'));
  broken.wire.destroy();
  await broken.closed;
  t.equal(broken.timers.waiting(), 0);
  t.strictSame(broken.received, []);

  const orderly = await connectBadly(t, fixed(100));
  const ended = once(orderly.socket, 'end');
  orderly.wire.write(Buffer.from('last'));
  orderly.wire.end();
  await orderly.timers.next();
  await ended;
  t.strictSame(orderly.received, ['last']);
});

t.test('bytes that arrived before the other side closed are still heard', async (t) => {
  const { socket, timers, heard, closed } = await connectBadly(t, fixed(100));
  socket.end('goodbye');
  await until(() => timers.waiting() !== 0);
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(heard, []);
  await timers.next();
  await closed;
  t.strictSame(heard, ['goodbye']);
});
