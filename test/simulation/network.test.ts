import t from 'tap';
import { Network } from './network.ts';
import { WorldTime } from './time.ts';

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
