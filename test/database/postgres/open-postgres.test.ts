import { Client } from 'pg';
import t, { type Test } from 'tap';
import { readMigrations } from '../../../src/platform/database/migration-files.ts';
import { changeOf } from '../../../src/platform/database/postgres/database-identity.ts';
import { examinePostgres } from '../../../src/platform/database/postgres/examine.ts';
import { openPostgres } from '../../../src/platform/database/postgres/open-postgres.ts';
import { createDatabase, createEmptyDatabase, NO_POSTGRES } from '../../postgres/databases.ts';

const skip = NO_POSTGRES && { skip: NO_POSTGRES };
async function ask(t: Test, url: string, ...texts: string[]): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  let rows: unknown[] = [];
  for (const text of texts) ({ rows } = await client.query(text));
  return rows;
}

t.test('every migration is there for both databases, under one number and name', async (t) => {
  const [sqlite = [], postgres = []] = (['sqlite', 'postgres'] as const).map((kind) =>
    readMigrations(kind).map(({ name }) => name),
  );
  t.same(postgres, sqlite);
});

t.test('a database counts as another one if its address differs, or if its log has gone back', async (t) => {
  const before = { place: '7/00000001/5', since: '1', log: 100 };
  t.equal(changeOf(before, { ...before, log: 200 }), undefined);
  t.equal(changeOf(before, { ...before, since: '2' }), 'server_start');
  t.equal(changeOf(before, { ...before, since: '2', log: 99 }), 'other_database', 'a snapshot of its disk');
  t.equal(changeOf(before, { ...before, log: 99 }), 'other_database', 'a snapshot of its machine');
  t.equal(
    changeOf(before, { ...before, place: '7/00000002/5', log: 200 }),
    'other_database',
    'a standby that was promoted',
  );
});

void t.test('opening a database', { ...skip }, async (t) => {
  await t.test('of several processes that start at once on an empty database each finds it complete', async (t) => {
    const url = await createEmptyDatabase(t);
    t.match(await examinePostgres(url), { bytes: 0, faults: [] }, 'lapel doctor says that there is none yet');
    const opened = await Promise.all([1, 2, 3].map((nowMicros) => openPostgres({ url, nowMicros })));
    for (const database of opened) await database.close();
    const rows = await ask(t, url, 'SELECT name, applied_at AS at FROM migrations ORDER BY number');
    const applied = rows as { name: string; at: string }[];
    t.same(
      applied.map(({ name }) => name),
      readMigrations('postgres').map(({ name }) => name),
    );
    t.equal(new Set(applied.map(({ at }) => at)).size, 1, 'one of them has made all');
    t.match(await examinePostgres(url), {
      missing: 0,
      faults: [],
      name: /^PostgreSQL \d+[.\d]* .*at 127\.0\.0\.1:\d+\/\w+$/,
    });
  });

  await t.test('is refused if it is of a newer service, or a migration was edited', async (t) => {
    const url = await createDatabase(t);
    const refused = async (message: RegExp): Promise<void> => {
      await t.rejects(openPostgres({ url, nowMicros: 0 }), { message });
      t.match((await examinePostgres(url)).faults, [message]);
    };
    await ask(t, url, "INSERT INTO migrations VALUES (9999, '9999-future.sql', 'x', 0)");
    await refused(/newer Lapel \(9999-future\.sql\)/);
    await ask(
      t,
      url,
      'DELETE FROM migrations WHERE number = 9999',
      "UPDATE migrations SET sha256 = 'other' WHERE number = 1",
    );
    await refused(/0001-initial\.sql was edited/);
  });

  await t.test('is refused if it answers before a commit is on the disk', async (t) => {
    const url = await createDatabase(t);
    await ask(t, url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = 'off'`);
    await t.rejects(openPostgres({ url, nowMicros: 0 }), { message: /synchronous_commit = off/ });
    t.match((await examinePostgres(url)).faults, [/synchronous_commit = off/]);
  });

  await t.test(
    'is reported with its address and the reason, and never with the password, if it does not exist',
    async (t) => {
      const url = new URL(await createDatabase(t));
      url.password = 'correct-horse';
      url.pathname = '/nowhere';
      const message = /the database 127\.0\.0\.1:\d+\/nowhere cannot be used: .*"nowhere" does not exist/;
      await t.rejects(openPostgres({ url: url.href, nowMicros: 0 }), { message });
      url.port = '1';
      const { faults, name } = await examinePostgres(url.href);
      t.match(faults, [/ECONNREFUSED/]);
      t.notMatch(JSON.stringify([faults, name]), /horse/);
    },
  );
});
