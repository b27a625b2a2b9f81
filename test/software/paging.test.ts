import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import semver from 'semver';
import t, { type Test } from 'tap';
import { listDistributable, listServiceSoftware } from '../../src/core/software/available-repository.ts';
import { insertPackage } from '../../src/core/software/package-repository.ts';
import { insertVersion, listVersions } from '../../src/core/software/version-repository.ts';
import { newVersion } from '../../src/core/software/versions.ts';
import type { Sql } from '../../src/platform/database/sql.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createVault } from '../../src/platform/encryption/vault.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createFakeClock } from '../fake-clock.ts';

const NAME = 'com.example.camera';
const COUNT = 10_000;

/** Ten thousand different SemVer versions, every fourth a pre-release, in random order. */
function manyVersions(): string[] {
  const versions = Array.from({ length: COUNT }, (_, index) => {
    const core = `${Math.floor(index / 1000)}.${Math.floor(index / 20) % 50}.${index % 20}`;
    return index % 4 === 0 ? `${core}-rc.${index % 12}` : core;
  });
  // 7919 is prime, so this visits each once.
  return versions.map((_, index) => versions[(index * 7919) % COUNT]!);
}

/** Records the query plans of the statements that a function runs, with their values. */
function recordPlans(file: string): { sql: Sql; plans: string[] } {
  const connection = new Sqlite(file, { readonly: true });
  t.teardown(() => connection.close());
  const plans: string[] = [];
  const prepare = (text: string, values: readonly unknown[]) => {
    const rows = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
    if (text.includes('ORDER BY')) plans.push(rows.map(({ detail }) => detail).join('\n'));
    return connection.prepare(text);
  };
  const sql: Sql = {
    all: async <Row>(text: string, ...values: unknown[]) => prepare(text, values).all(...values) as Row[],
    get: async <Row>(text: string, ...values: unknown[]) => prepare(text, values).get(...values) as Row | undefined,
    run: () => Promise.reject(new Error('only reads')),
    vault: createVault(),
  };
  return { sql, plans };
}

t.test('lists of ten thousand versions', async (t) => {
  const folder = t.testdir();
  const clock = createFakeClock();
  const database = openSqlite({ folder, nowMicros: clock.now() });
  t.teardown(() => database.close());
  const versions = manyVersions();
  await database.transact(async (unit) => {
    await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('dev', 'dev', 0)");
    const row = { displayName: null, createdAt: 0, updatedAt: 0, forAll: true };
    for (const name of [NAME, 'com.example.a', 'com.example.z']) {
      await insertPackage(unit, 'software', { ...row, package: name, developerId: 'dev' });
    }
    await insertPackage(unit, 'firmware', { ...row, package: NAME, developerId: null });
    for (const version of versions) {
      const made = newVersion({ package: NAME, version }, { clock, ids: randomIds });
      await insertVersion(unit, 'software', made);
      await insertVersion(unit, 'firmware', made);
    }
    for (const name of ['com.example.a', 'com.example.z']) {
      await insertVersion(unit, 'software', newVersion({ package: name, version: '1.0.0' }, { clock, ids: randomIds }));
    }
  });
  const expected = versions.toSorted((a, b) => semver.compare(b, a));
  const { sql, plans } = recordPlans(join(folder, 'lapel.db'));
  /** Asserts that only rows of the owner are read, in the order of the list. */
  const isIndexScan = (t: Test, plan: string, owned?: string): void => {
    t.match(plan, /versions_newest_first/, plan);
    if (owned !== undefined)
      t.ok(
        plan.includes(`SEARCH p USING INDEX ${owned} (`) || plan.includes(`SEARCH p USING COVERING INDEX ${owned} (`),
        owned,
      );
    t.notMatch(plan, /TEMP B-TREE/, 'nothing is sorted');
  };

  t.test('pages of a package’s versions are ranges of the index, in the order of SemVer', async (t) => {
    const seen: string[] = [];
    for (let offset = 0; offset < COUNT + 500; offset += 500) {
      const { versions, total } = await listVersions(sql, 'software', NAME, { offset, limit: 500 });
      t.equal(total, COUNT);
      seen.push(...versions.map(({ version }) => version));
    }
    t.same(seen, expected);
    isIndexScan(t, plans.at(-1)!);
  });

  t.test('pages of available software are ranges of the index, with every filter', async (t) => {
    const caller = { developerId: 'dev', applicationId: 'app' };
    const seen: string[] = [];
    for (let offset = 0; offset < COUNT + 1000; offset += 1000) {
      const { rows, total } = await listDistributable(sql, caller, { latest: false }, { offset, limit: 1000 });
      t.equal(total, COUNT + 2);
      seen.push(...rows.map((row) => `${row.package} ${row.version}`));
    }
    const ofCamera = expected.map((version) => `${NAME} ${version}`);
    t.same(seen, ['com.example.a 1.0.0', ...ofCamera, 'com.example.z 1.0.0']);
    isIndexScan(t, plans.at(-1)!, 'packages_by_owner');
    for (const filter of [{ latest: true }, { latest: false, package: NAME }, { latest: true, package: NAME }]) {
      const { rows } = await listDistributable(sql, caller, filter, { offset: 0, limit: 1000 });
      if (filter.latest) t.equal(rows.find((row) => row.package === NAME)?.version, expected[0]);
      isIndexScan(t, plans.at(-1)!);
    }
  });

  t.test('pages of firmware are ranges of the index', async (t) => {
    const { rows, total } = await listServiceSoftware(sql, 'firmware', { offset: 5000, limit: 3 });
    t.equal(total, COUNT);
    t.same(
      rows.map(({ version }) => version),
      expected.slice(5000, 5003),
    );
    isIndexScan(t, plans.at(-1)!, 'packages_own');
  });

  t.test('the database itself refuses a version without its package', async (t) => {
    const orphan = newVersion({ package: 'com.example.none', version: '1.0.0' }, { clock, ids: randomIds });
    await t.rejects(
      database.transact((unit) => insertVersion(unit, 'software', orphan)),
      /FOREIGN KEY/,
    );
    await t.rejects(
      database.transact((unit) => unit.run('DELETE FROM packages WHERE package = ?', NAME)),
      /FOREIGN KEY/,
    );
  });
});
