import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { openPostgres } from '../../../src/platform/database/postgres/open-postgres.ts';
import { createDatabase, NO_POSTGRES, startTestPostgres } from '../../postgres/databases.ts';

const insert = "INSERT INTO developers (developer_id, name, created_at) VALUES (?, 'x', 0)";
const all = 'SELECT developer_id AS id FROM developers ORDER BY developer_id';
const unavailable = { code: 'DATABASE_UNAVAILABLE' };

/** Like the bounds of the service, but some are milliseconds instead of seconds. */
const BOUNDS = { statementMs: 2_000, lockMs: 60, silenceMs: 300 };

async function open(t: Test, url: string) {
  const database = await openPostgres({ url, nowMicros: 0, bounds: BOUNDS, longestWaitMs: 1_000 });
  t.teardown(() => database.close());
  const ids = async (): Promise<string[]> => (await database.read.all<{ id: string }>(all)).map(({ id }) => id);
  return { database, ids };
}

/** Another client of the same database. */
async function other(t: Test, url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

/** A connection to the server that can end when the next answer arrives. */
async function cuttable(t: Test, url: string) {
  const target = new URL(url);
  const port = Number(target.port);
  const sockets = new Set<Socket>();
  let cutsNext = false;
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port, host: '127.0.0.1', noDelay: true });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.on('data', (data) => {
      if (cutsNext) {
        cutsNext = false;
        client.destroy();
      } else client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  target.port = String((proxy.address() as AddressInfo).port);
  return {
    url: target.href,
    cutAtNextAnswer(): void {
      cutsNext = true;
    },
  };
}

const skip = NO_POSTGRES && { skip: NO_POSTGRES };

/** Repeats a read until its connection is back, which may be later than the connection of the writers. */
async function backAgain<Result>(read: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const found = await read().catch((cause: unknown) => {
      if (isDatabaseAway(cause)) return undefined;
      throw cause;
    });
    if (found !== undefined) return found;
    await pause(20);
  }
}

void t.test('a transaction that others are in the way of', { ...skip }, async (t) => {
  const url = await createDatabase(t);
  const rival = await other(t, url);
  await rival.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '10ms'`);
  const { database, ids } = await open(t, url);
  await database.transact(async (unit) => {
    for (const id of ['dev', 'busy']) await unit.run(insert, id);
    for (const id of ['1', '2', '3']) {
      await unit.run(
        `INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at) VALUES (?, 'dev', ?, 'x', 0)`,
        id,
        Buffer.alloc(1),
      );
    }
  });
  const rename = "UPDATE developers SET name = ? WHERE developer_id = 'busy'";

  await t.test('a deadlock is run again', async (t) => {
    const undone: string[] = [];
    await rival.query("SET deadlock_timeout = '10s'"); // so that it is not the one that PostgreSQL ends
    await rival.query('BEGIN');
    await rival.query("SELECT * FROM developers WHERE developer_id = 'busy' FOR UPDATE");
    let runs = 0;
    let rivals: Promise<unknown> | undefined;
    await database.transact(
      async (unit) => {
        runs += 1;
        unit.onRollback(() => undone.push(`run ${runs}`));
        await unit.get('SELECT 1 AS one'); // the device's row is locked
        rivals ??= rival
          .query("SELECT * FROM devices WHERE device_id = '1' FOR UPDATE")
          .then(() => rival.query('COMMIT'));
        await unit.run(rename, 'new');
      },
      { device: '1' },
    );
    await rivals;
    t.ok(runs > 1, `${runs} runs`);
    t.equal(undone.length, runs - 1, 'and each of those before was undone');
    t.same(await database.read.get("SELECT name FROM developers WHERE developer_id = 'busy'"), { name: 'new' });
  });

  await t.test('a device that another client has locked delays no other; its own callers get an error', async (t) => {
    await rival.query('BEGIN');
    await rival.query("SELECT * FROM devices WHERE device_id = '1' FOR UPDATE");
    const results = await Promise.allSettled([
      database.transact((unit) => unit.run(insert, 'by 1'), { device: '1' }),
      database.transact((unit) => unit.run(insert, 'by 2'), { device: '2' }),
      database.transact((unit) => unit.run(rename, 'again')),
    ]);
    t.match(results, [{ status: 'rejected', reason: unavailable }, { status: 'fulfilled' }, { status: 'fulfilled' }]);
    await rival.query('COMMIT');
    await database.transact((unit) => unit.run(insert, 'by 1'), { device: '1' });
    t.same(await ids(), ['busy', 'by 1', 'by 2', 'dev']);
  });

  await t.test('a lock that is released in time only costs time', async (t) => {
    await rival.query('BEGIN');
    await rival.query("SELECT * FROM devices WHERE device_id = '3' FOR UPDATE");
    const done = database.transact((unit) => unit.run(insert, 'by 3'), { device: '3' });
    await pause(BOUNDS.lockMs * 1.5);
    await rival.query('COMMIT');
    await done;
    t.ok((await ids()).includes('by 3'));
  });

  await t.test('a unit that continues after a failed statement is refused, and no other unit with it', async (t) => {
    const results = await Promise.allSettled([
      database.transact(
        async (unit) => {
          unit.onCommit(() => t.fail('an effect of a commit that never was'));
          await unit.run(insert, 'swallowed');
          await unit.run(insert, 'dev').catch(() => 0);
        },
        { device: '1' },
      ),
      database.transact((unit) => unit.run(insert, 'beside'), { device: '2' }),
    ]);
    t.match(results, [{ status: 'rejected' }, { status: 'fulfilled' }]);
    t.same(await ids(), ['beside', 'busy', 'by 1', 'by 2', 'by 3', 'dev']);
  });
});

void t.test('a connection that is lost', { ...skip }, async (t) => {
  const url = await createDatabase(t);
  const way = await cuttable(t, url);
  const { database, ids } = await open(t, way.url);
  const rival = await other(t, url);

  await t.test('before COMMIT: the units run again, and are answered as usual', async (t) => {
    let runs = 0;
    const undone: number[] = [];
    const effects: string[] = [];
    const unit = (id: string, key?: string) =>
      database.transact(
        async (unit) => {
          unit.onRollback(() => undone.push(runs));
          unit.onCommit(() => effects.push(id));
          await unit.run(insert, id);
          runs += 1;
          if (runs === 1) {
            const { rows } = await rival.query(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lapel' AND backend_xid IS NOT NULL",
            );
            t.equal(rows.length, 1);
          }
          await unit.get('SELECT 1 AS one');
        },
        { device: key },
      );
    await Promise.all([unit('a', 'a'), unit('b', 'b')]);
    t.same(effects, ['a', 'b']);
    t.ok(undone.length >= 2);
    runs = 0;
    await unit('c');
    t.same(await ids(), ['a', 'b', 'c']);
  });

  await t.test(
    'after COMMIT: the outcome is unknown, so the unit does not run again, and its effects in memory are undone',
    async (t) => {
      for (const [name, key, isLater] of [
        ['keyed', 'd', false],
        ['keyless', undefined, false],
        ['keyed later', 'd', true],
        ['keyless later', undefined, true],
      ] as const) {
        let runs = 0;
        let undone = 0;
        const lost = database.transact(
          async (unit) => {
            runs += 1;
            unit.onCommit(() => t.fail('nobody knows of a commit'));
            unit.onRollback(() => {
              undone += 1;
            });
            if (isLater) await unit.get('SELECT 1 AS one');
            if (isLater) unit.later(insert, [`unknown ${name}`]);
            else await unit.run(insert, `unknown ${name}`);
            way.cutAtNextAnswer();
          },
          { device: key },
        );
        await t.rejects(lost, unavailable);
        t.same([runs, undone], [1, 1]);
        await database.transact((unit) => unit.run(insert, `after ${name}`), { device: key });
      }
      const names = ['keyed', 'keyed later', 'keyless', 'keyless later'];
      const [after, unknown] = ['after', 'unknown'].map((word) => names.map((name) => `${word} ${name}`));
      t.same(await ids(), ['a', ...(after ?? []), 'b', 'c', ...(unknown ?? [])]);
    },
  );

  await t.test('in the middle of a read: the read is repeated', async (t) => {
    const found = database.read.all(
      "SELECT developer_id AS id, pg_sleep(0.2) FROM developers WHERE developer_id = 'a'",
    );
    await pause(50);
    await rival.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lapel' AND state = 'active' AND pid <> pg_backend_pid()",
    );
    t.match(await found, [{ id: 'a' }]);
  });
});

void t.test('a server that fails', { ...skip }, async (t) => {
  const server = await startTestPostgres();
  t.teardown(() => server[Symbol.asyncDispose]());
  const { database, ids } = await open(t, await server.createDatabase('lapel'));

  await t.test('that stands still: callers get an error in time, and the service recovers by itself', async (t) => {
    await server.freeze(true);
    const results = await Promise.allSettled([
      database.transact((unit) => unit.run(insert, 'keyless')),
      database.transact((unit) => unit.run(insert, 'keyed'), { device: 'd' }),
      database.read.get(all),
    ]);
    t.match(results, [{ reason: unavailable }, { reason: unavailable }, { reason: unavailable }]);
    await t.rejects(database.healthy(), unavailable);
    await server.freeze(false);
    for (;;) {
      const back = await database.transact((unit) => unit.run(insert, 'back'), { device: 'd' }).catch(() => undefined);
      if (back === 1) break;
      await pause(10);
    }
    t.equal(await database.healthy(), true);
    t.ok((await ids()).includes('back'));
  });

  for (const how of ['kill -9', 'stop -m immediate', 'stop -m fast'] as const) {
    await t.test(`${how} in the middle of load: everything that was answered is stored`, async (t) => {
      const answered: string[] = [];
      let stopped = false;
      let number = 0;
      async function caller(): Promise<void> {
        while (!stopped) {
          number += 1;
          const id = `${how} ${number}`;
          const isLater = number % 2 === 0;
          await database
            .transact(async (unit) => (isLater ? unit.later(insert, [id]) : unit.run(insert, id)), {
              device: number % 5 === 0 ? undefined : id,
            })
            .then(
              () => answered.push(id),
              async (cause: unknown) => {
                t.match(cause, unavailable);
                await pause(5);
              },
            );
        }
      }
      const callers = Array.from({ length: 8 }, caller);
      const more = async (wanted: number): Promise<void> => {
        const from = answered.length;
        while (answered.length < from + wanted) await pause(1);
      };
      await more(200);
      if (how === 'kill -9') await server.kill();
      else await server.stop(how === 'stop -m fast' ? 'fast' : 'immediate');
      await server.start();
      await more(200);
      stopped = true;
      await Promise.all(callers);
      const there = new Set(await backAgain(ids));
      t.same(
        answered.filter((id) => !there.has(id)),
        [],
      );
    });
  }
});

void t.test('a unit without a key whose connection ends behind a kept statement runs again', { ...skip }, async (t) => {
  const database = await openPostgres({ url: await createDatabase(t), nowMicros: 0 });
  t.teardown(() => database.close());
  let runs = 0;
  await database.transact(async (unit) => {
    runs += 1;
    await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('x', 'x', 0)");
    if (runs === 1) unit.later('SELECT pg_terminate_backend(pg_backend_pid())', []);
    await unit.get('SELECT 1 AS one');
  });
  t.equal(runs, 2);
  t.equal((await database.read.all("SELECT 1 FROM developers WHERE developer_id = 'x'")).length, 1);
});
