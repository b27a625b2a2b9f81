import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { insertDevice } from '../../src/core/devices/device-repository.ts';
import { createPresence } from '../../src/core/sessions/presence.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createDatabase, NO_POSTGRES as skip } from '../postgres/databases.ts';
import { brokenEachTime } from '../postgres/meetings.ts';
import { until } from '../until.ts';

const DEVICES = 600;
const DEVICE = { developerId: 'dev', hardwareProperties: null, createdAt: 0 };
const idOf = (number: number): string => `device ${number}`;

async function setUp(t: Test) {
  const folder = t.testdir();
  const clock = createFakeClock();
  let commits = 0;
  const onCommit = () => {
    commits += 1;
  };
  const database = openSqlite({ folder, nowMicros: clock.now(), onCommit });
  t.teardown(() => database.close());
  const file = new Sqlite(join(folder, 'lapel.db'));
  t.teardown(() => file.close());
  file.exec("INSERT INTO developers (developer_id, name, device_limit, created_at) VALUES ('dev', 'dev', 1, 0)");
  const insert = file.prepare(
    "INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at) VALUES (?, 'dev', x'00', '', 0)",
  );
  for (let number = 0; number < DEVICES; number += 1) insert.run(idOf(number));
  const presence = createPresence({ database, clock, log: createLog({ level: 'silent' }) });
  return {
    clock,
    database,
    file,
    presence,
    commits: () => commits,
    stored: (number = 0) =>
      file.prepare('SELECT last_seen_at FROM device_presence WHERE device_id = ?').pluck().get(idOf(number)),
    count: () => file.prepare('SELECT count(*) FROM device_presence').pluck().get(),
    /** Resolves when nothing more is written. */
    async settled(): Promise<void> {
      let before: number;
      do {
        before = commits;
        await new Promise(setImmediate);
        await database.idle();
      } while (commits !== before);
    },
  };
}

t.test('the presence of a whole fleet is written once, in short units', async (t) => {
  const { clock, presence, commits, count, settled } = await setUp(t);
  for (let number = 0; number < DEVICES; number += 1) presence.heard(idOf(number));
  t.equal(clock.timers(), 1, 'one timer for all');
  clock.advance(59_999);
  await settled();
  t.equal(commits(), 0);
  clock.advance(1);
  await settled();
  t.equal(commits(), 3);
  t.equal(count(), DEVICES);
  t.equal(presence.newerThanStored(idOf(7)), undefined, 'what is stored takes no memory');
  t.equal(clock.timers(), 0, 'a silent fleet is no work');
  for (let number = 0; number < DEVICES; number += 1) presence.left(idOf(number));
  t.equal(clock.timers(), 0, 'there is nothing to write of those that leave');
});

t.test('a time that changes while the former one is written is written later', async (t) => {
  const { clock, database, presence, stored, settled } = await setUp(t);
  presence.heard(idOf(0));
  const first = clock.now();
  clock.advance(60_000);
  await database.transact(async () => presence.heard(idOf(0))); // in the same commit, after it
  await settled();
  t.equal(stored(), first);
  t.equal(presence.newerThanStored(idOf(0)), clock.now());
  const second = clock.now();
  clock.advance(60_000);
  await settled();
  t.equal(stored(), second);
});

t.test('a failed write loses nothing: it is repeated', async (t) => {
  const { clock, file, presence, stored, settled } = await setUp(t);
  file.exec("CREATE TRIGGER broken BEFORE INSERT ON device_presence BEGIN SELECT RAISE(ABORT, 'full'); END");
  presence.heard(idOf(0));
  const at = clock.now();
  clock.advance(60_000);
  await settled();
  t.equal(stored(), undefined);
  t.equal(presence.newerThanStored(idOf(0)), at);
  file.exec('DROP TRIGGER broken');
  clock.advance(60_000);
  await settled();
  t.equal(stored(), at);
});

t.test('a time that a removal takes out, and puts back when it is rolled back late, is written', async (t) => {
  const { clock, database, presence, stored, settled } = await setUp(t);
  presence.heard(idOf(0));
  const at = clock.now();
  const removal = database.transact(async (unit) => {
    await presence.remove(unit, idOf(0));
    await presence.remove(unit, idOf(1)); // which was not heard
    clock.advance(60_000); // the timer finds nothing to write
    throw new Error('rolled back');
  });
  await t.rejects(removal, { message: 'rolled back' });
  t.equal(presence.newerThanStored(idOf(0)), at);
  t.equal(presence.newerThanStored(idOf(1)), undefined);
  await settled();
  clock.advance(60_000);
  await settled();
  t.equal(stored(), at);
});

t.test('the last-seen time never goes back, and nothing is kept for unknown devices', async (t) => {
  const { clock, file, presence, stored, count, settled } = await setUp(t);
  file.exec(`INSERT INTO device_presence VALUES ('${idOf(0)}', ${clock.now() + 5})`);
  presence.heard(idOf(0));
  presence.heard('nobody');
  clock.advance(60_000);
  await settled();
  t.equal(stored(), clock.now() - 60_000_000 + 5);
  t.equal(count(), 1);
  t.equal(presence.newerThanStored('nobody'), undefined);
});

t.test('above its bound of memory presence is written at once', async (t) => {
  const { clock, presence, stored, settled } = await setUp(t);
  presence.heard(idOf(0));
  for (let number = 0; number < 100_000; number += 1) presence.heard(`${number}`);
  clock.advance(0);
  await settled();
  t.ok(stored());
  t.equal(presence.newerThanStored('99999'), undefined);
});

t.test('above its bound presence is written at once, but one write after the other', async (t) => {
  const clock = createFakeClock();
  let units = 0;
  const disk = Promise.withResolvers<never>();
  const transact = (): Promise<never> => {
    units += 1;
    return disk.promise;
  };
  const database = { transact } as unknown as Parameters<typeof createPresence>[0]['database'];
  const presence = createPresence({ database, clock, log: createLog({ level: 'silent' }) });
  for (let number = 0; number <= 100_000; number += 1) presence.heard(idOf(number));
  clock.advance(1);
  t.equal(units, 1);
  for (let count = 0; count < 10; count += 1) {
    presence.heard(idOf(count));
    clock.advance(1);
  }
  t.equal(units, 1, 'while the disk is busy no other begins');
});

t.test('two nodes that write the same devices never wait for each other', { skip }, async (t) => {
  const url = await createDatabase(t);
  const log = createLog({ level: 'silent' });
  const clock = createFakeClock();
  let rolledBack = 0;
  const onCommit = (commit: { rolledBack: number }): void => {
    rolledBack += commit.rolledBack;
  };
  const open = async () => {
    const database = await openPostgres({ url, nowMicros: clock.now(), onCommit });
    t.teardown(() => database.close());
    return database;
  };
  const [one, other] = [await open(), await open()];
  const ids = Array.from({ length: 40 }, (_, number) => idOf(100 + number));
  await one.transact(async (unit) => {
    await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('dev', 'dev', 0)");
    for (const id of ids) await insertDevice(unit, { ...DEVICE, deviceId: id }, Buffer.alloc(32));
  });
  await other.transact((unit) => unit.get('SELECT 1 AS one')); // its connection is open, too: a lock is waited for 500 ms
  const holder = new Client({ connectionString: url });
  await holder.connect();
  t.teardown(() => holder.end());
  const waiting = async () =>
    (await holder.query('SELECT count(DISTINCT pid)::int AS n FROM pg_locks WHERE NOT granted')).rows[0].n;

  /** Resolves to how many units of work were rolled back. */
  async function meet(): Promise<number> {
    rolledBack = 0;
    clock.advance(1); // a later time is written again
    await holder.query('BEGIN; LOCK TABLE device_presence IN SHARE MODE'); // both get as far as their first row
    const written = [
      [one, ids],
      [other, ids.toReversed()],
    ].map(([database, heard]) => {
      const presence = createPresence({ database: database as typeof one, clock, log });
      for (const id of heard as string[]) presence.heard(id);
      return presence[Symbol.asyncDispose]();
    });
    await until(async () => (await waiting()) >= 2);
    await holder.query('COMMIT');
    await Promise.all(written);
    return rolledBack;
  }
  t.equal(await brokenEachTime(meet), 0, 'no deadlock had to be broken');
  const rows = await one.read.all('SELECT 1 FROM device_presence');
  t.equal(rows.length, ids.length);
});
