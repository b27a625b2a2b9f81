import Sqlite from 'better-sqlite3';
import t from 'tap';
import { readMigrations } from '../../src/platform/database/migration-files.ts';
import { openConnection, SHORT } from '../../src/platform/database/postgres/connection.ts';
import { migrate as migratePostgres } from '../../src/platform/database/postgres/migrations.ts';
import { migrate as migrateSqlite } from '../../src/platform/database/sqlite/migrations.ts';
import { createEmptyDatabase } from '../postgres/databases.ts';
import { onBoth } from './kinds.ts';

/** The last migration from before there were nodes that run beside it. */
const LAST_ALONE = 17;
const REMOVES = /^-- Removes what releases since \S+ do not read\.\n/;

const postgres = readMigrations('postgres');

t.test('the migrations of both databases have the same names and numbers', async (t) => {
  const sqlite = readMigrations('sqlite');
  t.same(
    postgres.map(({ name }) => name),
    sqlite.map(({ name }) => name),
  );
});

/** The part of a statement that would break nodes of the former release; undefined if it only adds. */
function takesAway(statement: string): string | undefined {
  const [taken] =
    /\b(DROP|RENAME|SET NOT NULL|ALTER COLUMN(?! \w+ SET DEFAULT\b)|TRUNCATE(?! ON))\b|\bADD CONSTRAINT\b/i.exec(
      statement,
    ) ?? [];
  if (taken !== undefined && !/^\s*DROP INDEX\b/i.test(statement)) return taken;
  const [, column] = /\bADD (?:COLUMN )?([^,;]*)/i.exec(statement) ?? [];
  if (column !== undefined && /\bNOT NULL\b/i.test(column) && !/\bDEFAULT\b/i.test(column)) return `ADD ${column}`;
  return undefined;
}

const statementsOf = (text: string): string[] => text.replaceAll(/--.*$/gm, '').split(';');

t.test('a migration on PostgreSQL does not break nodes of the former release', async (t) => {
  for (const { number, name, text } of postgres) {
    if (number <= LAST_ALONE || REMOVES.test(text)) continue;
    for (const statement of statementsOf(text))
      t.equal(takesAway(statement), undefined, `${name}: ${statement.trim()}`);
  }
});

t.test('a statement that would break them is found', async (t) => {
  t.equal(takesAway('ALTER TABLE devices DROP COLUMN blocked'), 'DROP');
  t.equal(takesAway('ALTER TABLE devices RENAME TO cameras'), 'RENAME');
  t.equal(takesAway('ALTER TABLE devices ALTER COLUMN blocked SET NOT NULL'), 'ALTER COLUMN');
  t.match(takesAway('ALTER TABLE devices ADD COLUMN battery BIGINT NOT NULL'), /^ADD battery/);
  t.equal(takesAway('ALTER TABLE devices ADD COLUMN battery BIGINT NOT NULL DEFAULT 0'), undefined);
  t.equal(takesAway('ALTER TABLE devices ALTER COLUMN battery SET DEFAULT 0'), undefined);
  t.equal(takesAway('CREATE TABLE audit (audit_id BIGINT NOT NULL)'), undefined);
  t.equal(takesAway('DROP INDEX devices_by_developer'), undefined);
});

/** A migration of both databases, with all that is translated. */
const SHARED = `-- Each statement is a commit of its own.
CREATE TABLE IF NOT EXISTS doors (
  door_id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  width REAL,
  picture BLOB,
  opened_at INTEGER
);
CREATE TABLE IF NOT EXISTS locks (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS doors_by_name ON doors (name);

-- Only on SQLite.
CREATE TABLE here (place TEXT);

-- Only on PostgreSQL.
CREATE TABLE IF NOT EXISTS there (place TEXT);
`;

onBoth(t, async (t, kind) => {
  // One file serves both databases.
  const folder = t.testdir({
    sqlite: { migrations: {} },
    postgres: { migrations: {} },
    migrations: { '0001-doors.sql': SHARED },
  });
  const [migration] = readMigrations(kind, folder);
  const [other] = readMigrations(kind === 'sqlite' ? 'postgres' : 'sqlite', folder);
  t.equal(migration?.sha256, other?.sha256, 'its hash is that of the file');

  const insert =
    "INSERT INTO doors (name, width, picture, opened_at) VALUES ('Z', 0.5, NULL, 9007199254740991), ('a', 1, NULL, 1)";
  const names = 'SELECT name FROM doors ORDER BY name';
  if (kind === 'sqlite') {
    const file = new Sqlite(':memory:');
    t.teardown(() => file.close());
    migrateSqlite(file, 0, [migration!]);
    file.exec(insert);
    t.same(file.prepare(names).all(), [{ name: 'Z' }, { name: 'a' }]);
    file.exec('SELECT * FROM here');
    t.throws(() => file.exec('SELECT * FROM there'));
    return;
  }
  const connection = await openConnection(await createEmptyDatabase(t), SHORT, () => undefined);
  t.teardown(() => connection.end());
  const ask = async (text: string): Promise<unknown[]> => (await connection.query(text)).rows;
  await migratePostgres(connection, 0, [migration!]);
  await ask(insert);
  t.same(await ask(names), [{ name: 'Z' }, { name: 'a' }], 'text is compared byte by byte');
  await ask('SELECT * FROM there');
  await t.rejects(ask('SELECT * FROM here'));
});
