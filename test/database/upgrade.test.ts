import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { digestOf } from '../../src/platform/backup/files.ts';
import { makeBackup } from '../../src/platform/backup/make-backup.ts';
import { restoreBackup } from '../../src/platform/backup/restore-backup.ts';
import { readMigrations } from '../../src/platform/database/migration-files.ts';
import { openConnection, SHORT } from '../../src/platform/database/postgres/connection.ts';
import { migrate } from '../../src/platform/database/postgres/migrations.ts';
import { planServer, upgradeServer } from '../../src/platform/database/postgres/upgrade-server.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { planFolder, upgradeFolder } from '../../src/platform/database/sqlite/upgrade.ts';
import { isTooLarge, noRoom, summaryOf, tablesTouchedBy } from '../../src/platform/database/upgrade-plan.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runMain } from '../flow/service-process.ts';
import { createDatabase, createEmptyDatabase, NO_POSTGRES } from '../postgres/databases.ts';
import { CATALOG, fillPostgres, fillSqlite, newestSchema, readFixture, schemaOf } from './schemas/schemas.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const OLD = 18;
const NEWEST = readMigrations('sqlite').length;
/** More than a measurement copies. */
const MANY = 40_000;
const NEWER = /^the database was migrated by a newer Lapel \(9999-future\.sql\); start that release, or .*[^.]$/;
const MORE_ROWS = `INSERT INTO transactions (device_id, application_id, operation, parameters, status, due, attempts,
  created_at, updated_at)`;

/** A data folder of an older release, with many transactions. */
function olderFolder(t: Test): string {
  const folder = t.testdir();
  const file = fillSqlite(join(folder, 'lapel.db'), readFixture(OLD).text);
  file.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY}) ${MORE_ROWS}
    SELECT 'd' || i, 'dev-app', 'installSoftware', '{"package":"a","version":"1"}', 'queued', 1, 0, 0, 0 FROM n`);
  file.close();
  return folder;
}

/** Runs `lapel migrate`, and kills the process when it says that a step begins; returns what it said. */
async function killedAt(t: Test, step: number, env: Record<string, string>): Promise<string[]> {
  const child = spawn(process.execPath, [MAIN, 'migrate'], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  const closed = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith(`migrating, step ${step} of`)) child.kill('SIGKILL');
  }
  await closed;
  return lines;
}

t.test('a dry run says each step with its rows, its time and its disk, and changes nothing', async (t) => {
  const folder = olderFolder(t);
  const before = await digestOf(join(folder, 'lapel.db'));
  const { stdout, code } = await runMain(t, ['migrate', '--dry-run', '--data-dir', folder]);
  t.equal(code, 0);
  t.match(
    stdout,
    new RegExp(
      `^schema ${OLD} to ${NEWEST}: ${NEWEST - OLD} migrations, .*[\\d.]+ MiB more disk; [\\d.]+ MiB are free`,
    ),
  );
  t.match(stdout, new RegExp(`  0030-expiry: transactions \\(${MANY + 8} rows\\), .*, [\\d.]+ MiB`));
  t.match(stdout, /Take a copy first, there is no way back/);
  t.equal(await digestOf(join(folder, 'lapel.db')), before);
  t.same(readdirSync(folder), ['lapel.db'], 'the measurement leaves nothing behind');
});

t.test('a migration without room is refused with the numbers', async (t) => {
  const plan = await planFolder(olderFolder(t));
  t.notOk(isTooLarge(plan!));
  const full = { ...plan!, free: 1024 };
  t.ok(isTooLarge(full));
  t.match(
    noRoom(full),
    /the disk is too small for the migration: it needs about [1-9][\d.]* MiB, and 0\.0 MiB are free/,
  );
  t.match(summaryOf({ ...full, free: null }), /cannot be seen from here/);
});

t.test('the rows that a statement touches are known by its tables', async (t) => {
  const existing = new Set(['devices', 'transactions']);
  const touched = (text: string): string[] => tablesTouchedBy(text, existing);
  t.same(touched('CREATE TABLE tags (device_id TEXT); CREATE INDEX tags_by ON tags (device_id)'), []);
  t.same(touched('ALTER TABLE devices ADD COLUMN lot INTEGER NOT NULL DEFAULT 0'), []);
  t.same(touched('ALTER TABLE devices ADD COLUMN length INTEGER GENERATED ALWAYS AS (1) STORED'), ['devices']);
  t.same(touched('ALTER TABLE devices DROP COLUMN lot'), ['devices']);
  t.same(touched('CREATE INDEX CONCURRENTLY IF NOT EXISTS by_lot ON devices (lot)'), ['devices']);
  t.same(touched('-- devices\nINSERT INTO counts SELECT count(*) FROM transactions'), ['transactions']);
});

t.test('a migration that is killed goes on with the step that it was in', { buffered: true }, async (t) => {
  const folder = olderFolder(t);
  const env = { LAPEL_DATA_DIR: folder };
  const first = await killedAt(t, 1, env);
  t.match(first[0], /^Take a copy first, there is no way back/, 'first of all');
  t.match(first[1], new RegExp(`^schema ${OLD} to`));
  await killedAt(t, 1, env);
  const left = new Sqlite(join(folder, 'lapel.db'));
  const from = left.prepare('SELECT max(number) FROM migrations').pluck().get() as number;
  left.close();
  t.ok(from < NEWEST, 'it was killed before its end');
  const told: string[] = [];
  await upgradeFolder(folder, 0, (line) => told.push(line));
  t.match(told[1], new RegExp(`^schema ${from} to`), 'what was committed is not done again');
  t.equal(told.at(-1), `migrated to schema ${NEWEST}`);
  t.equal(await upgradeFolder(folder, 0, () => t.fail('nothing is left')), 0);
  const file = new Sqlite(join(folder, 'lapel.db'));
  t.teardown(() => file.close());
  t.same(schemaOf(file), newestSchema());
  t.same(file.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
  t.equal(file.prepare(`SELECT count(*) FROM transactions WHERE subject = 'a@1'`).pluck().get(), MANY);
});

t.test('an older release refuses a newer database in a sentence, and so does each of its commands', async (t) => {
  const folders = t.testdir({ data: {}, restored: {} });
  const data = join(folders, 'data');
  await openSqlite({ folder: data, nowMicros: 0 }).close();
  const backup = join(folders, 'backup');
  const parts = { clock: systemClock, version: '1', dataDir: data, withObjects: false };
  await makeBackup({ ...parts, folder: backup });
  const future = (file: string): void => {
    const raw = new Sqlite(file);
    raw.prepare("INSERT INTO migrations VALUES (9999, '9999-future.sql', 'x', 0)").run();
    raw.close();
  };
  future(join(data, 'lapel.db'));
  future(join(backup, 'lapel.db'));
  const manifest = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'));
  manifest.files[0].sha256 = await digestOf(join(backup, 'lapel.db'));
  writeFileSync(join(backup, 'backup.json'), JSON.stringify(manifest));

  const { stderr, code } = await runMain(t, ['serve', '--data-dir', data]);
  t.equal(code, 78);
  t.match(stderr.replace(/^lapel: /, '').trimEnd(), NEWER);
  await t.rejects(planFolder(data), { message: NEWER });
  await t.rejects(
    upgradeFolder(data, 0, () => undefined),
    { message: NEWER },
  );
  await t.rejects(makeBackup({ ...parts, folder: join(folders, 'other') }), { message: NEWER });
  await t.rejects(restoreBackup({ folder: backup, dataDir: join(folders, 'restored') }), { message: NEWER });
  t.notOk(readdirSync(join(folders, 'restored')).includes('lapel.db'), 'nothing was restored');
  const doctor = await runMain(t, ['doctor', '--data-dir', data]);
  t.equal(doctor.code, 1);
  t.match(doctor.stderr, /newer Lapel/);
  t.notMatch(doctor.stdout + doctor.stderr, /damaged/);
});

t.test('PostgreSQL', { skip: NO_POSTGRES, buffered: true }, async (t) => {
  const url = await createEmptyDatabase(t);
  await fillPostgres(url, OLD);
  const client = new Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query(
    `${MORE_ROWS}
    SELECT 'd' || i, 'dev-app', 'installSoftware', '{"package":"a","version":"1"}', 'queued', 1, 0, 0, 0
    FROM generate_series(1, ${MANY}) AS n (i)`,
  );
  await client.query('ANALYZE transactions');
  const catalog = async (): Promise<unknown> => (await client.query(CATALOG)).rows;

  await t.test('the plan is measured on tables of its own, beside nodes that work', async (t) => {
    const before = await catalog();
    await client.query('BEGIN');
    await client.query('UPDATE devices SET device_id = device_id'); // a node that works
    const plan = await planServer(url);
    await client.query('COMMIT');
    t.match(summaryOf(plan!), new RegExp(`^schema ${OLD} to ${NEWEST}: .*[1-9][\\d.]* MiB more disk`));
    for (const { name, seconds } of plan!.steps) t.type(seconds, 'number', name);
    const expiry = plan!.steps.find(({ name }) => name === '0030-expiry.sql');
    t.match(expiry?.tables, [{ table: 'transactions', rows: MANY + 8 }]);
    t.same(await catalog(), before);
  });

  await t.test('a migration that is killed goes on, and a second node waits for the first', async (t) => {
    await killedAt(t, 1, { LAPEL_DATABASE_URL: url });
    // A step whose statements are commits of their own.
    await killedAt(t, 12 - (await applied()) + OLD, { LAPEL_DATABASE_URL: url });
    const told: string[][] = [[], []];
    const both = told.map((lines) => upgradeServer(url, 0, (line) => lines.push(line)));
    await Promise.all(both);
    const all = told.flat();
    t.ok(all.includes('another node migrates the database; this one waits for its end'));
    t.equal(all.filter((line) => line === `migrated to schema ${NEWEST}`).length, 1, 'one of them has done it');
    const fresh = new Client({ connectionString: await createDatabase(t) });
    await fresh.connect();
    t.teardown(() => fresh.end());
    t.same(await catalog(), (await fresh.query(CATALOG)).rows);
    const { rows } = await client.query(`SELECT count(*) AS n FROM transactions WHERE subject = 'a@1'`);
    t.equal(Number(rows[0].n), MANY);
  });

  async function applied(): Promise<number> {
    return Number((await client.query('SELECT max(number) AS n FROM migrations')).rows[0].n);
  }

  await t.test('a migration that needs the lock of a busy table holds nobody up meanwhile', async (t) => {
    const connection = await openConnection(url, { ...SHORT, statementMs: 0 }, () => undefined);
    t.teardown(() => connection.end());
    const other = new Client({ connectionString: url });
    await other.connect();
    t.teardown(() => other.end());
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM devices'); // a long read
    const text = 'ALTER TABLE devices ADD COLUMN tried BIGINT';
    const migrations = [
      ...readMigrations('postgres'),
      { number: NEWEST + 1, name: '9000-tried.sql', sha256: 'x', text },
    ];
    let isDone = false;
    const migrated = migrate(connection, 0, migrations).then(() => {
      isDone = true;
    });
    for (let tries = 0; tries < 5; tries += 1) {
      await other.query(`SET lock_timeout = '400ms'`);
      await other.query('UPDATE devices SET device_id = device_id'); // as callers do
      await other.query('SELECT pg_sleep(0.1)');
    }
    t.notOk(isDone);
    await client.query('COMMIT');
    await migrated;
    await client.query('SELECT tried FROM devices');
    await client.query('ALTER TABLE devices DROP COLUMN tried');
    await client.query(`DELETE FROM migrations WHERE number = ${NEWEST + 1}`);
  });

  await t.test('a newer database is refused in a sentence', async (t) => {
    await client.query(`INSERT INTO migrations VALUES (9999, '9999-future.sql', 'x', 0)`);
    const { stderr, code } = await runMain(t, ['serve'], {
      LAPEL_DATABASE_URL: url,
      LAPEL_DATA_DIR: t.testdir(),
      LAPEL_PUBLIC_URL: 'https://lapel.test',
      LAPEL_S3_ENDPOINT: 'http://127.0.0.1:9',
    });
    t.equal(code, 78, stderr);
    t.match(
      stderr,
      /^lapel: the database 127\.0\.0\.1:\d+\/\w+ cannot be used: the database was migrated by a newer Lapel/,
    );
    await t.rejects(planServer(url), { message: /newer Lapel/ });
  });
});
