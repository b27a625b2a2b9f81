import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@lapel/tools/harness/free-port';
import { startPostgres } from '@lapel/tools/harness/postgres-server';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { readConfig } from '../../../src/config.ts';
import { openConnection, SHORT } from '../../../src/platform/database/postgres/connection.ts';
import { migrate } from '../../../src/platform/database/postgres/migrations.ts';
import { openPostgres } from '../../../src/platform/database/postgres/open-postgres.ts';
import { rawConnections } from '../../../src/platform/database/postgres/raw-connection.ts';
import { missing, POOLER } from '../../installed.ts';
import { createDatabase, NO_POSTGRES, startTestPostgres } from '../../postgres/databases.ts';
import { createSlowWay } from '../../postgres/slow-way.ts';
import { until } from '../../until.ts';

const skip = NO_POSTGRES && { skip: NO_POSTGRES };

async function ask<Row extends object>(url: string, ...texts: string[]): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const text of texts) rows = (await client.query(text)).rows as Row[];
    return rows;
  } finally {
    await client.end();
  }
}

/** A pooler in front of a database; returns the URL that leads through it. */
async function startPooler(t: Test, url: string, mode: string, ...others: string[]): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const name = pathname.slice(1);
  const own = await freePort();
  // Not in a folder of the tests, because another user must be able to read it.
  const folder = mkdtempSync('/tmp/lapel-pooler-');
  chmodSync(folder, 0o755);
  t.teardown(() => rmSync(folder, { recursive: true }));
  const lines = [
    '[databases]',
    `${name} = host=${hostname} port=${port} dbname=${name}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    'default_pool_size = 40',
    ...others,
  ];
  writeFileSync(join(folder, 'pooler.ini'), lines.join('\n').replace('dbname=', 'user=lapel dbname='), { mode: 0o644 });
  const asRoot = process.getuid?.() === 0;
  const command = asRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', POOLER] : [POOLER];
  const pooler = spawn(command[0] as string, [...command.slice(1), '-q', join(folder, 'pooler.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  pooler.stderr.setEncoding('utf8').on('data', (part: string) => (said += part));
  t.teardown(() => pooler.kill('SIGKILL'));
  const through = `postgres://lapel@127.0.0.1:${own}/${name}`;
  const isThere = (): Promise<boolean> =>
    ask(through, 'SELECT 1').then(
      () => true,
      () => false,
    );
  await until(async () => {
    if (pooler.exitCode !== null) throw new Error(`the pooler does not start: ${said}`);
    return isThere();
  });
  return through;
}

void t.test('a PostgreSQL that cannot keep the promises', { ...skip }, async (t) => {
  const url = await createDatabase(t);
  const name = new URL(url).pathname.slice(1);
  const refused = (wrong: string, message: RegExp) =>
    t.rejects(openPostgres({ url: wrong, nowMicros: 0 }), { code: 'SETTING_INVALID', message });

  await t.test('settings of a database or a role are overridden', async (t) => {
    const others = [
      'default_transaction_isolation TO "repeatable read"',
      "idle_session_timeout TO '1s'",
      'bytea_output TO escape',
    ];
    await ask(url, ...others.map((other) => `ALTER DATABASE ${name} SET ${other}`));
    const database = await openPostgres({ url, nowMicros: 0 });
    for (const sql of [database.read, database.aside, database.prompt])
      t.match(
        await sql.get(
          `SELECT current_setting('transaction_isolation') AS isolation, current_setting('idle_session_timeout') AS idle`,
        ),
        {
          isolation: 'read committed',
          idle: '0',
        },
      );
    const text = `SELECT current_setting('transaction_isolation') AS isolation`;
    for (const pace of ['now', 'soon'] as const)
      t.same(await database.transact((unit) => unit.get(text), { pace }), { isolation: 'read committed' });
    await database.close();
  });

  await t.test('settings that cannot be overridden are refused with a sentence', async () => {
    await ask(url, `ALTER DATABASE ${name} SET synchronous_commit = 'off'`);
    await refused(url, /^LAPEL_DATABASE_URL: PostgreSQL has synchronous_commit = off: a commit must be on the disk/);
    await ask(url, `ALTER DATABASE ${name} RESET synchronous_commit`);
    for (const [setting, said] of [
      ['fsync', /fsync = off/],
      ['full_page_writes', /full_page_writes = off/],
    ] as const) {
      await ask(url, `ALTER SYSTEM SET ${setting} = off`, 'SELECT pg_reload_conf()', 'SELECT pg_sleep(0.1)');
      await refused(url, said);
      await ask(url, `ALTER SYSTEM RESET ${setting}`, 'SELECT pg_reload_conf()', 'SELECT pg_sleep(0.1)');
    }
  });

  await t.test('settings that change while the service runs are pinned, or named by readiness', async () => {
    const told: string[] = [];
    const database = await openPostgres({ url, nowMicros: 0, onDoubt: (sentence) => void told.push(sentence) });
    const changed = async (setting: string, value: string): Promise<void> =>
      void (await ask(url, `ALTER SYSTEM ${value}`.replace('?', setting), 'SELECT pg_reload_conf()'));
    const ofCommits = (unit: { get(text: string): Promise<unknown> }) =>
      unit.get(`SELECT current_setting('synchronous_commit') AS commits`);
    await changed('synchronous_commit', 'SET ? = off');
    await until(
      async () =>
        (await ask<{ synchronous_commit: string }>(url, 'SHOW synchronous_commit'))[0]?.synchronous_commit === 'off',
    );
    // Some of these connections are opened only now.
    for (const pace of ['now', 'soon', 'along'] as const)
      t.same(await database.transact(ofCommits, { pace }), { commits: 'on' });
    const doubt = 'PostgreSQL has synchronous_commit = off now; this service keeps on until its next start';
    await until(async () => (await database.healthy()) && database.doubt?.() === doubt);
    await database.healthy();
    t.same(told, [doubt], 'told once');
    await changed('synchronous_commit', 'RESET ?');
    await until(async () => (await database.healthy()) && database.doubt?.() === undefined);
    for (const setting of ['fsync', 'full_page_writes']) {
      t.equal(await database.healthy(), true);
      await changed(setting, 'SET ? = off');
      await until(async () =>
        database.healthy().then(
          () => false,
          (error: Error) => error.message.includes(`${setting} = off`),
        ),
      );
      await changed(setting, 'RESET ?');
      await until(async () => database.healthy().catch(() => false));
    }
    await database.close();
  });

  await t.test('a role without rights, and a server without TLS, are refused with a sentence', async (t) => {
    await ask(url, 'DROP ROLE IF EXISTS only_data', 'CREATE ROLE only_data LOGIN');
    t.teardown(() => ask(url, 'DROP ROLE only_data'));
    const other = new URL(url);
    other.username = 'only_data';
    await refused(
      other.href,
      /PostgreSQL refuses the role: permission denied for .*; the service creates .* its tables/,
    );
    const waiting = openPostgres({ url: `${url}?sslmode=verify-full`, nowMicros: 0, waitMs: 60_000 });
    await t.rejects(waiting, { code: 'SETTING_INVALID', message: /does not offer TLS, which sslmode asks for/ });
  });

  await t.test('a connection for the lease writes also where a database is read-only by default', async () => {
    await ask(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const raw = await rawConnections(url)({ name: 'x', boundMs: 5_000, onEnd: () => undefined });
    await raw.query("INSERT INTO developers (developer_id, name, created_at) VALUES ('raw', 'x', 0)");
    raw.close();
    await ask(
      url,
      'SET default_transaction_read_only = off',
      `ALTER DATABASE ${name} RESET default_transaction_read_only`,
    );
  });

  await t.test('a server without room for a write is not ready', async () => {
    const database = await openPostgres({ url, nowMicros: 0 });
    const full = `DO $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`;
    await t.rejects(
      database.transact((unit) => unit.run(full)),
      { code: 'DATABASE_UNAVAILABLE' },
    );
    await t.rejects(database.healthy(), /cannot be written: .*No space left/);
    await database.close();
  });

  await t.test('a pooler must keep sessions', { skip: missing.pooler() }, async (t) => {
    await refused(
      await startPooler(t, url, 'transaction'),
      /the pooler before PostgreSQL shares its connections: it needs pool_mode = session/,
    );
    const inTurns = await startPooler(t, url, 'transaction', 'server_round_robin = 1');
    await Promise.all(Array.from({ length: 5 }, () => ask(inTurns, 'BEGIN', 'SELECT pg_sleep(0.2)', 'COMMIT')));
    for (let times = 0; times < 10; times += 1) await refused(inTurns, /the pooler before PostgreSQL shares/);
    const database = await openPostgres({ url: await startPooler(t, url, 'session'), nowMicros: 0 });
    t.same(await database.transact((unit) => unit.get('SELECT 1 AS one')), { one: 1 });
    await database.close();
  });
});

void t.test('of several hosts the one that accepts writes is used', { ...skip }, async (t) => {
  const url = await createDatabase(t);
  const { host, pathname } = new URL(url);
  const database = await openPostgres({
    url: `postgres://lapel@127.0.0.1:1,${host}${pathname}?target_session_attrs=read-write`,
    nowMicros: 0,
  });
  t.same(await database.read.get('SELECT 1 AS one'), { one: 1 });
  await database.close();
  const both = { message: /the database 127\.0\.0\.1:1\/\w+, 127\.0\.0\.1:2\/\w+ cannot be used: .*ECONNREFUSED/ };
  await t.rejects(
    openPostgres({ url: `postgres://lapel:horse@127.0.0.1:1,127.0.0.1:2${pathname}`, nowMicros: 0 }),
    both,
  );
  const config = (value: string) => () => readConfig({ env: { LAPEL_DATABASE_URL: value } });
  t.doesNotThrow(config('postgres://u:p@one:5432,two,three:1/name?sslmode=verify-full'));
  t.throws(config('postgres://u:p@one,two/name?target_session_attrs=standby'), { code: 'SETTING_INVALID' });
  t.throws(config('postgres://u:p@one,two'), { code: 'SETTING_INVALID' });
});

void t.test('a start waits for its database', { ...skip }, async (t) => {
  const server = await startTestPostgres();
  t.teardown(() => server[Symbol.asyncDispose]());
  const url = await server.createDatabase();
  await server.stop('fast');
  await t.rejects(openPostgres({ url, nowMicros: 0 }), /cannot be used/);
  const told: string[] = [];
  const away = Promise.withResolvers<void>();
  const opening = openPostgres({
    url,
    nowMicros: 0,
    waitMs: 60_000,
    onAway() {
      told.push('away');
      away.resolve();
    },
    onBack: () => told.push('back'),
  });
  await away.promise;
  await server.start();
  const database = await opening;
  t.same(told, ['away', 'back'], 'and says so, once');
  await database.close();
  const nowhere = server.url('nowhere');
  await t.rejects(
    openPostgres({ url: nowhere, nowMicros: 0, waitMs: 60_000 }),
    /does not exist/,
    'it does not wait for what will not come',
  );
});

void t.test('the search for lost hints gives up a machine that stopped answering', { ...skip }, async (t) => {
  const way = await createSlowWay(t, await createDatabase(t));
  const bounds = { ...SHORT, silenceMs: 300 };
  const database = await openPostgres({ url: way.url, nowMicros: 0, bounds });
  t.same(await database.prompt.get('SELECT 1 AS one'), { one: 1 });
  way.goSilent();
  await t.rejects(database.prompt.get('SELECT 2 AS two'), { code: 'DATABASE_UNAVAILABLE' });
  await database.close();
});

void t.test(
  'a migration of a large table lets others continue, and is completed after a crash',
  { ...skip },
  async (t) => {
    const url = await createDatabase(t);
    const connection = await openConnection(url, SHORT, () => undefined);
    t.teardown(() => connection.end());
    const [{ n }] = (await ask<{ n: number }>(url, 'SELECT count(*)::int AS n FROM migrations')) as [{ n: number }];
    const known = await ask<{ number: number; name: string; sha256: string }>(
      url,
      'SELECT number, name, sha256 FROM migrations ORDER BY number',
    );
    const text = `-- Each statement is a commit of its own.
    ALTER TABLE developers ADD COLUMN IF NOT EXISTS colour TEXT;
    CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS developers_by_colour ON developers (colour);`;
    const wanted = [
      ...known.map((one) => ({ ...one, text: '' })),
      { number: n + 1, name: 'large.sql', sha256: 'x', text },
    ];

    // A crash of the migration leaves this behind: the column exists, and the index is invalid.
    const insert = (id: string) =>
      `INSERT INTO developers (developer_id, name, created_at, colour) VALUES ('${id}', 'x', 0, 'red')`;
    await ask(url, 'ALTER TABLE developers ADD COLUMN colour TEXT', insert('a'), insert('b'));
    await t.rejects(ask(url, 'CREATE UNIQUE INDEX CONCURRENTLY developers_by_colour ON developers (colour)'));
    await ask(url, `UPDATE developers SET colour = 'blue' WHERE developer_id = 'b'`);

    // A node of another release writes all the time.
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query('BEGIN');
    await other.query(insert('c').replace('red', 'green'));
    const both = [migrate(connection, 1, wanted)];
    const second = await openConnection(url, SHORT, () => undefined);
    t.teardown(() => second.end());
    both.push(migrate(second, 1, wanted)); // another node that starts
    await ask(url, insert('d').replace('red', 'white'));
    await other.query('COMMIT');
    await other.end();
    await Promise.all(both);
    t.match(
      await ask(url, `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'developers_by_colour'::regclass`),
      [{ valid: true }],
    );
    t.match(await ask(url, 'SELECT count(*)::int AS n FROM migrations'), [{ n: n + 1 }]);

    // The reason why the server ended the connection, and not only that it is lost.
    const fatal = {
      number: n + 2,
      name: 'fatal.sql',
      sha256: 'x',
      text: 'SELECT pg_terminate_backend(pg_backend_pid())',
    };
    const error = await migrate(second, 1, [...wanted, fatal]).catch((cause: Error) => cause);
    t.match(error, { name: 'ConnectionLost', cause: { message: /administrator command/ } });
  },
);

t.test('a server of a test starts, wherever temporary folders are', { ...skip }, async (t) => {
  const folder = t.testdir({});
  chmodSync(folder, 0o700);
  const { TMPDIR } = process.env;
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  process.env['TMPDIR'] = folder;
  const server = await startPostgres({ onDisk: true });
  t.match(await ask(server.url('postgres'), 'SELECT 1 AS one'), [{ one: 1 }]);
  await server[Symbol.asyncDispose]();
});
