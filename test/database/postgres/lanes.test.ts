import { Client } from 'pg';
import t, { type Test } from 'tap';
import { openPostgres } from '../../../src/platform/database/postgres/open-postgres.ts';
import type { UnitOfWork } from '../../../src/platform/database/sql.ts';
import { createDatabase, NO_POSTGRES } from '../../postgres/databases.ts';
import { createSlowWay } from '../../postgres/slow-way.ts';

const insert = "INSERT INTO developers (developer_id, name, created_at) VALUES (?, 'x', 0)";

async function open(t: Test, { milliseconds = 0 } = {}) {
  const url = await createDatabase(t);
  const way = await createSlowWay(t, url, { milliseconds });
  const database = await openPostgres({ url: way.url, nowMicros: 0 });
  t.teardown(() => database.close());
  await database.transact((unit) => unit.run(insert, 'first'), { device: 'first' }); // the way is known after this
  return { url, database };
}

/** A unit of work that stops half way, after it has written, until it is told to go on. */
function stopping(name: string) {
  const half = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  return {
    half: half.promise,
    goOn: goOn.resolve,
    async work(unit: UnitOfWork): Promise<string> {
      await unit.run(insert, name);
      half.resolve();
      await goOn.promise;
      await unit.run(insert, `${name}, second half`);
      return name;
    },
  };
}

const write = (name: string) => async (unit: UnitOfWork) => {
  await unit.run(insert, name);
  return name;
};

void t.test('units of work side by side', { skip: NO_POSTGRES }, async (t) => {
  await t.test('nobody waits for a unit without a key that is half done', async (t) => {
    const { database } = await open(t);
    const long = stopping('long');
    const done = database.transact(long.work);
    await long.half;
    t.equal(await database.transact(write('of a device'), { device: 'a' }), 'of a device');
    t.equal(await database.transact(write('without a key')), 'without a key');
    t.equal(await database.transact(write('soon'), { pace: 'soon' }), 'soon');
    long.goOn();
    t.equal(await done, 'long');
  });

  await t.test('units of the device that it is about wait for it, without holding up a commit', async (t) => {
    const { database } = await open(t);
    const long = stopping('long');
    const ended: string[] = [];
    const noted = (name: string): void => void ended.push(name);
    const done = database.transact(long.work, { about: 'a' }).then(noted);
    await long.half;
    const own = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((name) =>
      database.transact(write(name), { device: 'a' }).then(noted),
    );
    await database.transact(write('b'), { device: 'b' }).then(noted);
    await database.transact(write('c'), { about: 'c' }).then(noted);
    long.goOn();
    await Promise.all([done, ...own]);
    t.same(ended, ['b', 'c', 'long', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6']);
  });

  await t.test('a unit about a device waits for the units of the device that run', async (t) => {
    const { database } = await open(t);
    const long = stopping('long');
    const done = database.transact(long.work, { device: 'a' });
    await long.half;
    let begun = false;
    const both = ['batch', 'a'];
    const about = database.transact(
      async (unit) => {
        begun = true;
        return write('about')(unit);
      },
      { about: both },
    );
    await database.transact(write('another'), { about: 'b' });
    t.notOk(begun, 'also when it is about something else as well');
    long.goOn();
    await Promise.all([done, about]);
    t.ok(begun);
  });

  await t.test('units of a device wait for the one that nobody waits for, without holding up a commit', async (t) => {
    const { database } = await open(t);
    const long = stopping('long');
    const done = database.transact(long.work, { device: 'a', pace: 'soon' });
    await long.half;
    let begun = false;
    const own = database.transact(
      async (unit) => {
        begun = true;
        return write('own')(unit);
      },
      { device: 'a' },
    );
    t.equal(await database.transact(write('of another'), { device: 'b' }), 'of another');
    t.notOk(begun);
    long.goOn();
    t.same(await Promise.all([done, own]), ['long', 'own']);
  });

  await t.test('commits begin side by side only while the database is far away', async (t) => {
    const far = await open(t, { milliseconds: 2 });
    const long = stopping('long');
    const done = far.database.transact(long.work, { device: 'a' });
    await long.half;
    const own = far.database.transact(write('of the same device'), { device: 'a' });
    t.equal(
      await far.database.transact(write('of another'), { device: 'b' }),
      'of another',
      'a second commit does not wait',
    );
    const all = far.database.read.all<{ id: string }>(
      'SELECT developer_id AS id FROM developers ORDER BY developer_id',
    );
    t.same(
      (await all).map(({ id }) => id),
      ['first', 'of another'],
    );
    long.goOn();
    t.same(await Promise.all([done, own]), ['long', 'of the same device']);
  });

  await t.test('units without a key and without a caller are never in two commits at once', async (t) => {
    const { database } = await open(t, { milliseconds: 2 });
    const long = stopping('long');
    const done = database.transact(long.work, { pace: 'along' });
    await long.half;
    let begun = false;
    const next = database.transact(
      async (unit) => {
        begun = true;
        return write('next')(unit);
      },
      { pace: 'along' },
    );
    await database.transact(write('of a device'), { device: 'a' });
    t.notOk(begun);
    long.goOn();
    await Promise.all([done, next]);
  });

  await t.test('a unit that asks for nothing leaves no transaction open', async (t) => {
    const { url, database } = await open(t);
    await database.transact(async () => undefined, { device: 'first' });
    await t.rejects(
      database.transact(async () => Promise.reject(new Error('refused'))),
      /refused/,
    );
    const client = new Client({ connectionString: url });
    await client.connect();
    t.teardown(() => client.end());
    const { rows } = await client.query(
      `SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND xact_start IS NOT NULL AND state <> 'active'`,
    );
    t.same(rows, [{ open: 0 }]);
    t.equal(await database.transact(write('later'), { device: 'first' }), 'later');
  });
});
