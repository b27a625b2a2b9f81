import { join } from 'node:path';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { readMigrations } from '../../src/platform/database/migration-files.ts';
import { openConnection } from '../../src/platform/database/postgres/connection.ts';
import { migrate as migratePostgres } from '../../src/platform/database/postgres/migrations.ts';
import { MIGRATING } from '../../src/platform/database/postgres/open-postgres.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createDatabase, createEmptyDatabase, NO_POSTGRES } from '../postgres/databases.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld } from '../world.ts';
import {
  CATALOG,
  fillPostgres,
  fillSqlite,
  fixtureNumbers,
  type Kept,
  newestSchema,
  type Row,
  readFixture,
  rowsOf,
  schemaOf,
} from './schemas/schemas.ts';

/** The first schema of PostgreSQL: until then the service knew SQLite only. */
const FIRST_ON_POSTGRES = 16;
const HOUR = 3_600_000_000;

const numbers = fixtureNumbers();
/**
 * Of the tests that take long: every fifth schema, and the newest. Each migration is applied to all that is older, so what
 * they leave out is only the rows that a fixture between two of them has more than these.
 */
const some = numbers.filter((number, at) => number % 5 === 1 || at >= numbers.length - 5);
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

t.test('every schema has a fixture; npm run generate -- fixture makes that of the newest', async (t) => {
  t.same(
    numbers,
    readMigrations('sqlite').map(({ number }) => number),
  );
});

t.test('a SQLite database of every schema opens and is whole; those of some go on where they were', async (t) => {
  const wanted = newestSchema();
  for (const number of numbers) {
    await t.test(`schema ${number}`, async (t) => {
      const receiver = await createTestReceiver(t);
      const { known, text } = readFixture(number, receiver.url);
      const folder = t.testdir();
      const file = fillSqlite(join(folder, 'lapel.db'), text);
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
      if (!some.includes(number)) return;

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

t.test('PostgreSQL databases of older schemas open, and are whole', { skip: NO_POSTGRES }, async (t) => {
  const clientOf = async (t: Test, url: string): Promise<Client> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    t.teardown(() => client.end());
    return client;
  };
  const wanted = (await (await clientOf(t, await createDatabase(t))).query(CATALOG)).rows;
  for (const number of some.filter((one) => one >= FIRST_ON_POSTGRES)) {
    await t.test(`schema ${number}`, async (t) => {
      const url = await createEmptyDatabase(t);
      const before = await fillPostgres(url, number);
      const connection = await openConnection(url, MIGRATING, () => undefined);
      t.teardown(() => connection.end());
      const client = await clientOf(t, url);
      await migratePostgres(connection, 0);
      const catalog = (await client.query(CATALOG)).rows as { what: string }[];
      t.same(catalog, wanted, 'it has the schema of a new database');
      const left = new Set(catalog.map(({ what }) => what));
      await sameRows(t, before, async (query) => (await connection.query(query)).rows as Row[], left);
    });
  }
});
