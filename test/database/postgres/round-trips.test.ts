import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createAudit } from '../../../src/core/audit/audit.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { openPostgres } from '../../../src/platform/database/postgres/open-postgres.ts';
import type { UnitOfWork } from '../../../src/platform/database/sql.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { createFakeClock } from '../../fake-clock.ts';
import { createDatabase, NO_POSTGRES } from '../../postgres/databases.ts';

const insert = "INSERT INTO developers (developer_id, name, created_at) VALUES (?, 'x', 0)";
const read = 'SELECT 1 AS one';

/** A way to the server that counts round trips: how often a client sends something after an answer. */
async function counted(t: Test, url: string) {
  const target = new URL(url);
  const port = Number(target.port);
  const sockets: Socket[] = [];
  let trips = 0;
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port, host: '127.0.0.1', noDelay: true });
    let isAnswered = true;
    for (const socket of [client, server]) sockets.push(socket.on('error', () => undefined));
    client.on('data', (data) => {
      if (isAnswered) trips += 1;
      isAnswered = false;
      server.write(data);
    });
    server.on('data', (data) => {
      isAnswered = true;
      client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  target.port = String((proxy.address() as AddressInfo).port);
  return { url: target.href, trips: (): number => trips };
}

t.test(
  'a unit takes a round trip for each time that it waits, and its last writes take the COMMIT',
  {
    skip: NO_POSTGRES,
  },
  async (t) => {
    const way = await counted(t, await createDatabase(t));
    const database = await openPostgres({ url: way.url, nowMicros: 0 });
    t.teardown(() => database.close());
    let id = 0;
    const next = (): string => {
      id += 1;
      return `developer ${id}`;
    };

    /** The round trips of a unit. Other connections may be looked at meanwhile, so the least of some counts. */
    async function least(work: (unit: UnitOfWork) => Promise<unknown>): Promise<number> {
      const counts: number[] = [];
      for (let times = 0; times < 10; times += 1) {
        const before = way.trips();
        await database.transact(work, { device: 'device' });
        counts.push(way.trips() - before);
      }
      return Math.min(...counts);
    }

    const later = (unit: UnitOfWork): void => {
      unit.later(insert, [next()]);
      unit.later('UPDATE developers SET name = ? WHERE developer_id = ?', ['new', `developer ${id}`]);
    };
    t.equal(await least(async (unit) => later(unit)), 1, 'all goes together');
    t.equal(
      await least(async (unit) => {
        await Promise.all([unit.get(read), unit.get(`${read} WHERE 1 = 1`)]);
        later(unit);
      }),
      2,
      'the reads, then the writes with the COMMIT',
    );
    t.equal(
      await least(async (unit) => {
        later(unit);
        await unit.get(read);
      }),
      2,
      'the writes with the read that follows',
    );
    t.equal(await least((unit) => unit.run(insert, next())), 2, 'a write that is awaited');
    const parts = { clock: createFakeClock(), log: createLog({ level: 'silent' }), metrics: createMetrics() };
    const audit = createAudit({ database, ...parts });
    const note = {
      action: 'REMOVE /developers/{developerId}',
      resource: '/admin/v1/developers/dev',
      id: 'removal',
      details: { removed: { devices: 3 } },
      about: [{ kind: 'developer', id: 'dev' } as const, { kind: 'application', id: 'app' } as const],
    };
    t.equal(await least((unit) => audit.noteIn(unit, note)), 3, 'the row, the chain, and the seal with the COMMIT');
  },
);
