import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { shareOpenFiles } from '../src/runtime/open-files.ts';
import { addressGroup, createSocketBounds } from '../src/runtime/socket-bounds.ts';
import { createFakeClock } from './fake-clock.ts';

/** A server with bounds; each call of `open` returns both ends of a connection. */
async function start(t: Test, limits: { perAddress: number; total: number }) {
  const clock = createFakeClock();
  const hits: string[] = [];
  const bounds = createSocketBounds({
    clock,
    limits: { ...limits, stallMs: 8_000 },
    onBound: (bound, outcome) => hits.push(`${bound} ${outcome}`),
  });
  const arrivals: ((socket: Socket) => void)[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    bounds.admit(socket);
    arrivals.shift()?.(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  async function open(localAddress = '127.0.0.1') {
    const arrived = new Promise<Socket>((resolve) => arrivals.push(resolve));
    const near = connect({ port, host: '127.0.0.1', localAddress });
    near.on('error', () => undefined);
    sockets.push(near);
    const closed = new Promise<void>((resolve) => near.once('close', () => resolve()));
    return { near, far: await arrived, closed };
  }
  return { clock, hits, bounds, open };
}

t.test('a full address loses the connection that has waited longest, not one with a request in progress', async (t) => {
  const { bounds, hits, open } = await start(t, { perAddress: 3, total: 10 });
  const first = await open();
  const second = await open();
  const third = await open();
  bounds.works(first.far);
  bounds.works(second.far);
  bounds.waits(second.far); // later than the third began to wait
  await open();
  third.near.resume();
  await third.closed;
  t.equal(first.far.destroyed || second.far.destroyed, false);
  await open();
  second.near.resume();
  await second.closed;
  t.same(hits, ['connections_per_address cut', 'connections_per_address cut']);
  t.equal(bounds.open(), 3);
});

t.test('if all connections have a request in progress, a further one is refused', async (t) => {
  const { bounds, hits, open } = await start(t, { perAddress: 2, total: 2 });
  for (const { far } of [await open(), await open()]) bounds.works(far);
  t.equal(bounds.isFull(), true);
  const { near, closed } = await open();
  near.resume();
  await closed;
  t.same(hits, ['connections_per_address refused']);
});

t.test(
  'above the bound of all, the address with most connections loses one',
  { skip: process.platform !== 'linux' && 'only Linux has every address of loopback' },
  async (t) => {
    const { hits, open } = await start(t, { perAddress: 3, total: 4 });
    const few = await open('127.0.0.2'); // it has waited for longest
    const many = [await open('127.0.0.3'), await open('127.0.0.3'), await open('127.0.0.3')];
    await open('127.0.0.4');
    many[0]?.near.resume();
    await many[0]?.closed;
    t.equal(few.far.destroyed, false);
    t.same(hits, ['connections cut']);
  },
);

t.test('a peer that reads nothing is cut, one that reads slowly is not', async (t) => {
  const { clock, hits, open } = await start(t, { perAddress: 3, total: 3 });
  const [still, slow] = [await open(), await open()];
  const slice = Buffer.alloc(64 * 1024);
  for (const { far } of [still, slow]) Readable.from(Array<Buffer>(512).fill(slice)).pipe(far);
  slow.near.on('data', () => undefined).pause();
  for (let round = 1; round <= 5; round += 1) {
    const written = slow.far.bytesWritten;
    slow.near.resume();
    while (slow.far.bytesWritten === written) await once(slow.near, 'data');
    slow.near.pause();
    clock.advance(2_000);
  }
  still.near.resume();
  await still.closed;
  t.equal(slow.far.destroyed, false);
  t.same(hits, ['write_progress cut']);
  const gone = new Promise((resolve) => slow.far.once('close', resolve));
  slow.near.destroy();
  await gone;
  t.equal(clock.timers(), 0, 'nothing is watched when nobody is there');
});

t.test('an IPv6 network of 64 bits counts as one address, and so does IPv4 in any form', async (t) => {
  t.equal(addressGroup('192.0.2.7'), '192.0.2.7');
  t.equal(addressGroup('::ffff:192.0.2.7'), '192.0.2.7');
  t.equal(addressGroup('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  t.equal(addressGroup('2001:db8:1:2::6'), '2001:db8:1:2::/64');
  t.equal(addressGroup('2001:db8::1:2:3:4:5'), '2001:db8:0:1::/64');
  t.equal(addressGroup('fe80::1%eth0'), 'fe80:0:0:0::/64');
  t.equal(addressGroup('::1'), '0:0:0:0::/64');
});

t.test('all bounds of connections together leave open files for the service itself', async (t) => {
  for (const limit of [256, 1024, 4096, 65_536, 1_048_576]) {
    const { http, admin, objects, mqtt } = shareOpenFiles(limit);
    t.ok(http + admin + objects + mqtt <= limit - Math.min(1280, Math.floor(limit / 3)), `${limit}`);
    t.ok(Math.min(http, admin, objects, mqtt) > 0);
  }
});
