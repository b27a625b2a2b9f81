import { join } from 'node:path';
import t from 'tap';
import { readMigrations } from '../../src/platform/database/migration-files.ts';

const FOLDER = join(import.meta.dirname, '../../src/platform/database');
/** The last of those before there were nodes beside which it could run. */
const LAST_ALONE = 17;
const REMOVES = /^-- Removes what releases since \S+ do not read\.\n/;

const postgres = readMigrations(join(FOLDER, 'postgres/migrations'));

t.test('the migrations of both databases are of one name and number', async (t) => {
  const sqlite = readMigrations(join(FOLDER, 'sqlite/migrations'));
  t.same(
    postgres.map(({ name }) => name),
    sqlite.map(({ name }) => name),
  );
});

/** What a statement takes away from nodes of the release before; undefined when it only adds. */
function takesAway(statement: string): string | undefined {
  const [taken] = /\b(DROP|RENAME|SET NOT NULL|ALTER COLUMN|TRUNCATE)\b|\bADD CONSTRAINT\b/i.exec(statement) ?? [];
  if (taken !== undefined && !/^\s*DROP INDEX\b/i.test(statement)) return taken;
  const [, column] = /\bADD (?:COLUMN )?([^,;]*)/i.exec(statement) ?? [];
  if (column !== undefined && /\bNOT NULL\b/i.test(column) && !/\bDEFAULT\b/i.test(column)) return `ADD ${column}`;
  return undefined;
}

const statementsOf = (text: string): string[] => text.replaceAll(/--.*$/gm, '').split(';');

t.test('what a migration of PostgreSQL does leaves nodes of the release before as they are', async (t) => {
  for (const { number, name, text } of postgres) {
    if (number <= LAST_ALONE || REMOVES.test(text)) continue;
    for (const statement of statementsOf(text))
      t.equal(takesAway(statement), undefined, `${name}: ${statement.trim()}`);
  }
});

t.test('what would stop them is found', async (t) => {
  t.equal(takesAway('ALTER TABLE devices DROP COLUMN blocked'), 'DROP');
  t.equal(takesAway('ALTER TABLE devices RENAME TO cameras'), 'RENAME');
  t.equal(takesAway('ALTER TABLE devices ALTER COLUMN blocked SET NOT NULL'), 'ALTER COLUMN');
  t.match(takesAway('ALTER TABLE devices ADD COLUMN battery BIGINT NOT NULL'), /^ADD battery/);
  t.equal(takesAway('ALTER TABLE devices ADD COLUMN battery BIGINT NOT NULL DEFAULT 0'), undefined);
  t.equal(takesAway('CREATE TABLE audit (audit_id BIGINT NOT NULL)'), undefined);
  t.equal(takesAway('DROP INDEX devices_by_developer'), undefined);
});
