import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { readMigrations } from '../../src/platform/database/migration-files.ts';
import { openConnection, SHORT } from '../../src/platform/database/postgres/connection.ts';
import { migrate as migratePostgres } from '../../src/platform/database/postgres/migrations.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createDatabase, createEmptyDatabase, NO_POSTGRES } from '../postgres/databases.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld } from '../world.ts';
import { fixtureNumbers, readFixture } from './schemas/schemas.ts';

/** The first schema of PostgreSQL: until then the service knew SQLite only. */
const FIRST_ON_POSTGRES = 16;
const HOUR = 3_600_000_000;

const numbers = fixtureNumbers();
/** Written by each start, so they are not compared: the migrations, and the numbers that a start raises. */
const OF_STARTS = new Set(['migrations', 'lives', 'sqlite_sequence']);

type Row = Record<string, unknown>;
interface Kept {
  table: string;
  columns: string[];
  rows: Row[];
}

/** The rows of a SQLite database, with the columns that it has now. */
function rowsOf(file: Sqlite.Database): Kept[] {
  const tables = file.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[];
  return tables
    .filter((table) => !OF_STARTS.has(table))
    .map((table) => {
      const columns = (file.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
      return { table, columns, rows: file.prepare(`SELECT ${columns.join(', ')} FROM ${table}`).all() as Row[] };
    });
}

const inOrder = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row)).sort();

/** Compares the rows of a fixture with those that `read` finds, in the columns that are left. */
async function sameRows(t: Test, before: readonly Kept[], read: (text: string) => Promise<Row[]>, left: Set<string>) {
  for (const { table, columns, rows } of before) {
    const still = columns.filter((column) => left.has(`${table}.${column}`));
    t.ok(still.length > 0 || rows.length === 0, `${table} is still there`);
    if (still.length === 0) continue;
    const picked = rows.map((row) => Object.fromEntries(still.map((column) => [column, row[column]])));
    t.same(inOrder(await read(`SELECT ${still.join(', ')} FROM ${table}`)), inOrder(picked), table);
  }
}

const schemaOf = (file: Sqlite.Database): unknown[] =>
  file
    .prepare(`SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2`)
    .all();

t.test('every schema has a fixture; npm run fixture:schema makes that of the newest', async (t) => {
  t.same(
    numbers,
    readMigrations('sqlite').map(({ number }) => number),
  );
});

t.test('a SQLite database of every schema opens, is whole, and goes on where it was', async (t) => {
  const fresh = t.testdir();
  await openSqlite({ folder: fresh, nowMicros: 0 }).close();
  const newest = new Sqlite(join(fresh, 'lapel.db'));
  const wanted = schemaOf(newest);
  newest.close();
  for (const number of numbers) {
    await t.test(`schema ${number}`, async (t) => {
      const receiver = await createTestReceiver(t);
      const { known, text } = readFixture(number, receiver.url);
      const folder = t.testdir();
      const file = new Sqlite(join(folder, 'lapel.db'));
      file.pragma('synchronous = OFF');
      file.pragma('foreign_keys = OFF');
      file.transaction(() => file.exec(text))();
      const before = rowsOf(file);
      const nowMicros = (file.prepare('SELECT max(applied_at) FROM migrations').pluck().get() as number) + HOUR;
      t.equal(file.prepare('SELECT max(number) FROM migrations').pluck().get(), number);

      await openSqlite({ folder, nowMicros }).close();
      const left = new Set(rowsOf(file).flatMap(({ table, columns }) => columns.map((name) => `${table}.${name}`)));
      t.same(file.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
      t.same(file.pragma('foreign_key_check'), []);
      t.same(schemaOf(file), wanted, 'it has the schema of a new database');
      await sameRows(t, before, async (query) => file.prepare(query).all() as Row[], left);
      file.close();

      const world = await startWorld(t, { dataDir: folder, database: 'sqlite', clock: createFakeClock(nowMicros) });
      const link = await world.connect(known);
      for (const transactionId of known.waiting) {
        const command = await link.command();
        t.equal(command.transactionId, transactionId, 'its commands come in order');
        link.puback(command.packet);
        await link.ack({ transactionId, status: 'succeeded' });
      }
      await world.idle();
      const told = receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.transaction?.transactionId);
      for (const transactionId of known.waiting) t.ok(told.includes(transactionId), 'the application is told');
      t.ok(told.length > known.waiting.length, 'and what waited for its receiver is delivered');
    });
  }
});

/** Columns, indexes and constraints of a PostgreSQL database. */
const CATALOG = `SELECT c.relname || '.' || a.attname AS what, format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '
    || a.attidentity::text || a.attgenerated::text || coalesce(pg_get_expr(d.adbin, d.adrelid), '') AS how
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  ORDER BY 1, 2`;

t.test('a PostgreSQL database of every schema opens, and is whole', { skip: NO_POSTGRES }, async (t) => {
  const clientOf = async (t: Test, url: string): Promise<Client> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    t.teardown(() => client.end());
    return client;
  };
  const wanted = (await (await clientOf(t, await createDatabase(t))).query(CATALOG)).rows;
  const migrations = readMigrations('postgres');
  for (const number of numbers.filter((one) => one >= FIRST_ON_POSTGRES)) {
    await t.test(`schema ${number}`, async (t) => {
      const url = await createEmptyDatabase(t);
      const file = new Sqlite(':memory:');
      t.teardown(() => file.close());
      file.pragma('foreign_keys = OFF');
      file.exec(readFixture(number).text);
      const before = rowsOf(file);
      const connection = await openConnection(url, SHORT, () => undefined);
      t.teardown(() => connection.end());
      await migratePostgres(connection, 0, migrations.slice(0, number));
      const client = await clientOf(t, url);
      for (const { table, columns, rows } of before)
        for (const row of rows)
          await client.query(
            `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
            columns.map((column) => row[column]),
          );
      await migratePostgres(connection, 0);
      const catalog = (await client.query(CATALOG)).rows as { what: string }[];
      t.same(catalog, wanted, 'it has the schema of a new database');
      const left = new Set(catalog.map(({ what }) => what));
      await sameRows(t, before, async (query) => (await connection.query(query)).rows as Row[], left);
    });
  }
});
