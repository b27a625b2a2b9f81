import { closeSync, copyFileSync, openSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { readMigrations } from '../../../src/platform/database/migration-files.ts';
import { migrate } from '../../../src/platform/database/sqlite/migrations.ts';
import { openSqlite } from '../../../src/platform/database/sqlite/open-sqlite.ts';
import { runProgram } from '../../run-program.ts';
import { until } from '../../until.ts';

const open = (folder: string) => openSqlite({ folder, nowMicros: 1 });

t.test('a second process on the same data folder is refused with the folder in the message', async (t) => {
  const folder = t.testdir();
  const first = open(folder);
  t.throws(() => open(folder), { code: 'DATA_FOLDER_IN_USE', message: new RegExp(folder) });
  await first.close();
  await open(folder).close();
});

t.test('a database of a newer service is refused', async (t) => {
  const folder = t.testdir();
  await open(folder).close();
  const raw = new Sqlite(join(folder, 'lapel.db'));
  raw.prepare("INSERT INTO migrations VALUES (9999, '9999-future.sql', 'x', 0)").run();
  raw.close();
  t.throws(() => open(folder), /newer Lapel \(9999-future\.sql\)/);
});

t.test('a migration that was edited after it was applied is refused by name', async (t) => {
  const folder = t.testdir();
  await open(folder).close();
  const raw = new Sqlite(join(folder, 'lapel.db'));
  raw.prepare("UPDATE migrations SET sha256 = 'other' WHERE number = 1").run();
  raw.close();
  t.throws(() => open(folder), /0001-initial\.sql was edited/);
  t.throws(() => open(folder), /0001-initial\.sql was edited/, 'the refusal gives the folder back');
});

t.test('a migration that fails leaves nothing behind', async (t) => {
  const connection = new Sqlite(':memory:');
  t.teardown(() => connection.close());
  const bad = { number: 1, name: '0001-bad.sql', sha256: 'x', text: 'CREATE TABLE half (a); CREATE TABLE half (a);' };
  t.throws(() => migrate(connection, 0, [bad]), /already exists/);
  t.same(connection.prepare("SELECT name FROM sqlite_master WHERE name = 'half'").all(), []);
});

t.test('migrations are numbered without gaps', async (t) => {
  const folder = t.testdir({
    sqlite: { migrations: { '0001-one.sql': '' } },
    migrations: { '0003-three.sql': '' },
  });
  t.throws(() => readMigrations('sqlite', folder), /0003-three\.sql does not continue the numbering at 2/);
});

t.test('a database that is damaged at its beginning, or cut short, is refused', async (t) => {
  const made = async (name: string) => {
    const folder = t.testdir({ [name]: {} });
    const database = open(join(folder, name));
    await database.transact((unit) => unit.run(`INSERT INTO sessions (client_id, created_at) VALUES ('1', 0)`));
    await database.close();
    return { folder: join(folder, name), file: join(folder, name, 'lapel.db') };
  };
  const overwrite = (file: string, at: number, length: number): void => {
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(length, 0xff), 0, length, at);
    closeSync(handle);
  };
  const damaged = /^the database is damaged \(.+\); restore a backup$/;
  const head = await made('head');
  overwrite(head.file, 0, 100);
  t.throws(() => open(head.folder), { message: damaged }, 'its head');
  const schema = await made('schema');
  overwrite(schema.file, 100, 2000);
  t.throws(() => open(schema.folder), { message: damaged }, 'its schema');
  t.throws(() => open(schema.folder), { message: damaged }, 'the refusal gives the folder back');
  const short = await made('short');
  truncateSync(short.file, statSync(short.file).size - 4096);
  t.throws(() => open(short.folder), { message: damaged }, 'its end is missing');
  const page = await made('page');
  const raw = new Sqlite(page.file);
  const { root } = raw.prepare(`SELECT rootpage AS root FROM sqlite_schema WHERE name = 'sessions'`).get() as {
    root: number;
  };
  raw.close();
  overwrite(page.file, (root - 1) * 4096, 4096);
  t.throws(
    () => open(page.folder),
    { message: /damaged \(table sessions: .+\); restore/ },
    'the first page of a table',
  );
});

t.test('a commit is in the write-ahead log, and SQLite leaves the waiting for the disk to the service', async (t) => {
  const folder = t.testdir();
  const database = open(folder);
  t.teardown(() => database.close());
  const modes = await database.transact(async (unit) => [
    await unit.get('PRAGMA journal_mode'),
    await unit.get('PRAGMA synchronous'),
    await unit.get('PRAGMA foreign_keys'),
  ]);
  t.same(modes, [{ journal_mode: 'wal' }, { synchronous: 1 }, { foreign_keys: 1 }]);
});

t.test('overwritten data is in no file of the database any more', async (t) => {
  const folder = t.testdir();
  const database = openSqlite({ folder, nowMicros: 0, quietMs: 20 });
  t.teardown(() => database.close());
  const secret = 'correct horse battery staple';
  const files = ['lapel.db', 'lapel.db-wal'].map((name) => join(folder, name));
  const holds = (): boolean => files.some((file) => readFileSync(file).includes(secret));
  const insert = `INSERT INTO transactions (device_id, application_id, operation, parameters, status, due, attempts,
    created_at, updated_at) VALUES ('1', 'a', 'setWifi', ?, 'queued', 1, 0, 0, 0)`;
  // A value that fits into a page, and one that needs pages of its own.
  await database.transact((unit) => unit.run(insert, secret));
  await database.transact((unit) => unit.run(insert, secret.repeat(500)));
  t.ok(holds(), 'it is there while it is needed');
  await database.transact((unit) => unit.run('UPDATE transactions SET parameters = NULL'));
  await until(() => !holds());
  t.equal(statSync(files[1]!).size, 0, 'the log is empty');
});

t.test('the write-ahead log of a killed process is emptied, although nothing is committed any more', async (t) => {
  const folder = t.testdir({ after: {} });
  const killed = open(folder);
  t.teardown(() => killed.close());
  await killed.transact((unit) => unit.run(`INSERT INTO sessions (client_id, created_at) VALUES ('1', 0)`));
  for (const name of ['lapel.db', 'lapel.db-wal']) copyFileSync(join(folder, name), join(folder, 'after', name));

  const database = openSqlite({ folder: join(folder, 'after'), nowMicros: 0, quietMs: 20 });
  t.teardown(() => database.close());
  t.ok((await database.size()).log > 0);
  await until(async () => (await database.size()).log === 0);
  t.same(await database.read.get('SELECT client_id FROM sessions'), { client_id: '1' });
});

t.test('a write-ahead log with a reader is emptied later, and delays no caller', async (t) => {
  const folder = t.testdir();
  const database = openSqlite({ folder, nowMicros: 0, quietMs: 1 });
  t.teardown(() => database.close());
  const other = new Sqlite(join(folder, 'lapel.db'), { readonly: true });
  t.teardown(() => other.close());
  other.exec('BEGIN');
  other.prepare('SELECT * FROM sessions').all();
  await database.transact((unit) => unit.run(`INSERT INTO sessions (client_id, created_at) VALUES ('1', 0)`));

  await new Promise((resolve) => setTimeout(resolve, 20)); // a timer that fires after that of the log
  t.ok((await database.size()).log > 0, 'it is needed');
  other.exec('COMMIT');
  await until(async () => (await database.size()).log === 0);
});

t.test('a database that cannot be written is not healthy until it can', async (t) => {
  const folder = t.testdir();
  const database = openSqlite({ folder, nowMicros: 0 });
  t.teardown(() => database.close());
  const other = new Sqlite(join(folder, 'lapel.db'));
  t.teardown(() => other.close());
  t.equal(await database.healthy(), true);
  // Ends the whole transaction, as a full disk does.
  for (const event of ['INSERT ON sessions', 'UPDATE ON migrations']) {
    other.exec(
      `CREATE TRIGGER full_${event.slice(0, 6)} BEFORE ${event} BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END`,
    );
  }
  const insert = `INSERT INTO sessions (client_id, created_at) VALUES ('1', 0)`;
  await t.rejects(database.transact((unit) => unit.run(insert)));
  await t.rejects(database.healthy(), 'reading alone would not tell');
  other.exec('DROP TRIGGER full_INSERT; DROP TRIGGER full_UPDATE');
  t.equal(await database.healthy(), true, 'it finds out by itself');
});

t.test('queries over many rows run on a separate thread', async (t) => {
  const database = openSqlite({ folder: t.testdir(), nowMicros: 0 });
  t.teardown(() => database.close());
  await database.transact((unit) => unit.run(`INSERT INTO sessions (client_id, created_at) VALUES ('1', 7)`));
  const { aside } = database;
  const text = 'SELECT created_at AS at FROM sessions WHERE client_id = ?';
  t.same(await Promise.all([aside.get(text, '1'), aside.get(text, '2'), aside.all(text, '1')]), [
    { at: 7 },
    undefined,
    [{ at: 7 }],
  ]);
  // This query would take a fifth of a second on the main thread.
  const slow = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(*) AS c FROM n`;
  let turns = 0;
  let done = false;
  const asked = aside.get(slow).finally(() => {
    done = true;
  });
  while (!done) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.same(await asked, { c: 1_000_000 });
  t.ok(turns > 100, 'the event loop goes on');
  await t.rejects(aside.get('SELECT nonsense'), { message: /nonsense/ });
  await t.rejects(aside.run('DELETE FROM sessions'), { message: 'this connection only reads' });
  t.same(await aside.get(text, '1'), { at: 7 }, 'after an error it goes on');
});

t.test(
  'a close waits for a reading thread that still loads: to end it in that moment would abort the process',
  async (t) => {
    const said: string[] = [];
    const listen = (worker: Worker): void => {
      worker.once('message', () => said.push('open'));
      worker.once('exit', () => said.push('ended'));
    };
    // The next thread of this process is that of this database, since nothing else runs before it is asked for. Later
    // ones belong to other tests.
    process.once('worker', listen);
    t.teardown(() => process.off('worker', listen));
    const database = openSqlite({ folder: t.testdir(), nowMicros: 0 });
    const asked = t.rejects(database.aside.get('SELECT 1 AS one'), /is closed/);
    await database.close();
    await asked;
    t.same(said, ['open', 'ended']);
  },
);

t.test('a close ends while the thread for the log starts', async (t) => {
  const program = join(import.meta.dirname, 'log-thread-close.ts');
  const { status, stdout } = await runProgram(process.execPath, [program, t.testdir()]);
  t.equal(stdout, 'closed\n');
  t.equal(status, 0);
});

t.test('the write-ahead log stays short under load, before the thread for it runs and afterwards', async (t) => {
  const folder = t.testdir();
  const database = open(folder);
  t.teardown(() => database.close());
  const write = (text: string) =>
    database.transact((unit) => unit.run('UPDATE migrations SET name = ? WHERE number = 1', text));
  for (const load of ['before', 'afterwards']) {
    for (let commit = 0; commit < 250; commit += 1) await write(`${commit}`.repeat(150_000));
    const { log } = await database.size();
    t.ok(log > 10 * 1024 ** 2 && log < 60 * 1024 ** 2, `${load}: ${log} bytes`);
    for (let commit = 0; commit < 400; commit += 1) await write('short');
  }
});

t.test('a close ends even if the last answer of the reading thread arrives meanwhile', async (t) => {
  const program = join(import.meta.dirname, 'aside-close.ts');
  const { status, stdout } = await runProgram(process.execPath, [program, t.testdir()]);
  t.equal(stdout, 'closed\n');
  t.equal(status, 0);
});
