import t from 'tap';
import { Network } from './network.ts';
import { WorldTime } from './time.ts';
import type { WorldSocket } from './world-socket.ts';

const LAST_PORT = 65_535;
const CONNECTIONS = 50_000;
const AT_A_TIME = 10_000;

t.test('a world has more connections than there are ports, one after another, and no two of one port', async (t) => {
  const time = new WorldTime();
  const network = new Network(time, { latency: () => 1, piece: (length) => length, isOpen: () => true });
  const server = { listening: false, emit: () => true, _connections: 0, _emitCloseIfDrained: () => undefined };
  network.listen(server as never, 80);
  const stays = network.connect({ port: 80 });
  const run = (): Promise<void> => time.run(new Promise((resolve) => time.plan(10, 'later', resolve)));
  await run();
  for (let made = 0; made < CONNECTIONS; made += AT_A_TIME) {
    const sockets = Array.from({ length: AT_A_TIME }, () => network.connect({ port: 79 }).on('error', () => undefined));
    const ports = new Set(sockets.map(({ localPort }) => localPort));
    t.equal(ports.size, AT_A_TIME);
    t.ok(Math.max(...ports) <= LAST_PORT);
    t.notOk(ports.has(stays.localPort));
    await run(); // nobody listens there
  }
  t.notOk(stays.destroyed);
});

for (const way of ['of a stream', 'with a buffer of its own'] as const)
  t.test(`a reader ${way} that pauses gets nothing, and its writer waits`, async (t) => {
    const time = new WorldTime();
    const network = new Network(time, { latency: () => 1, piece: (length) => length, isOpen: () => true });
    let accepted: WorldSocket | undefined;
    const server = {
      emit(_name: string, socket: WorldSocket) {
        accepted = socket;
        return true;
      },
      _connections: 0,
      _emitCloseIfDrained: () => undefined,
    };
    network.listen(server as never, 80);
    const run = (): Promise<void> => time.run(new Promise((resolve) => time.plan(100, 'later', resolve)));
    let got = '';
    const take = (bytes: Buffer): boolean => {
      got += String(bytes);
      return true;
    };
    const onread = {
      buffer: Buffer.alloc(7),
      callback: (length: number, bytes: Buffer) => take(bytes.subarray(0, length)),
    };
    const reader = network.connect({ port: 80, ...(way === 'of a stream' ? {} : { onread }) });
    if (way === 'of a stream') reader.on('data', take);
    await run();
    const sent = Array.from({ length: 20 }, (_, place) => String(place % 10).repeat(60_000));
    let written = 0;
    accepted!.write('first', () => undefined);
    await run();
    t.equal(got, 'first');
    reader.pause();
    for (const text of sent) accepted!.write(text, () => (written += 1));
    accepted!.end();
    await run();
    t.equal(got, 'first');
    t.ok(written > 0 && written < sent.length, `${written} of ${sent.length} are on their way`);
    reader.resume();
    await run();
    t.ok(got === `first${sent.join('')}`, 'everything comes, in order');
    t.equal(written, sent.length);
    t.ok(reader.readableEnded);
  });
