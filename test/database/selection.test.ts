import t from 'tap';
import { createSelection } from '../../src/core/selection/selection.ts';
import { isInShare } from '../../src/core/selection/share.ts';
import type { Database } from '../../src/platform/database/sql.ts';
import { onBoth, openDatabaseOf } from './kinds.ts';

const FLEET = 30_000;
/** The devices that one statement stores: all at once take a slow machine longer than a statement may. */
const STORED_AT_ONCE = 3_000;
const NUMBERS = `WITH RECURSIVE numbers (n) AS
  (SELECT CAST(? AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(? AS BIGINT))`;
const ID = 'CAST(350000000000000 + n AS TEXT)';

/** A fleet of one application, and a device of another. Every third device has the package, every tenth is in Osaka. */
async function fill(database: Database, blob: string): Promise<void> {
  await database.transact(async (unit) => {
    await unit.run(
      `INSERT INTO developers (developer_id, name, device_limit, created_at) VALUES ('dev', 'dev', 99999, 0)`,
    );
    for (const id of ['app', 'other'])
      await unit.run(
        `INSERT INTO applications (application_id, developer_id, name, secret_hash, created_at)
         VALUES (?, 'dev', 'app', ${blob}, 0)`,
        id,
      );
  });
  for (let from = 0; from < FLEET; from += STORED_AT_ONCE)
    await database.transact(async (unit) => {
      const ends = [from, from + STORED_AT_ONCE - 1];
      await unit.run(
        `INSERT INTO devices (device_id, developer_id, credential_hash, activation, application_id, created_at, lot)
         ${NUMBERS} SELECT ${ID}, 'dev', ${blob}, 'activated', CASE n WHEN 7 THEN 'other' ELSE 'app' END, 0,
           (CAST(n AS BIGINT) * 1103515245 + 12345) % 2147483648 FROM numbers`,
        ...ends,
      );
      await unit.run(
        `INSERT INTO device_software (device_id, package, version, since)
         ${NUMBERS} SELECT ${ID}, 'com.a.x', CASE WHEN n % 2 = 0 THEN '1.0.0' ELSE '2.0.0-rc.1' END, 1
         FROM numbers WHERE n % 3 = 0`,
        ...ends,
      );
      await unit.run(
        `INSERT INTO device_tags (device_id, tag_key, tag_value, application_id)
         ${NUMBERS} SELECT ${ID}, 'site', 'osaka', 'app' FROM numbers WHERE n % 10 = 0`,
        ...ends,
      );
    });
  await database.transact(async (unit) => {
    await unit.run(`INSERT INTO activated_counts SELECT application_id, count(*) FROM devices GROUP BY application_id`);
  });
}

onBoth(t, async (t, kind) => {
  const database = await openDatabaseOf(kind, t);
  await fill(database, kind === 'sqlite' ? "x'00'" : "'\\x00'::bytea");
  /** The devices that one query has read, at most. */
  let most = 0;
  const aside: Database['aside'] = {
    ...database.aside,
    async all<Row>(text: string, ...values: never[]) {
      const rows = await database.aside.all<Row>(text, ...values);
      most = Math.max(most, rows.length);
      return rows;
    },
    get: (text, ...values) => database.aside.get(text, ...values),
  };
  const isConnected = (deviceId: string): boolean => Number(deviceId) % 2 === 0;
  const selection = createSelection({
    database: { aside },
    presence: { newerThanStored: () => undefined },
    connected: (deviceIds) => new Set(deviceIds.filter(isConnected)),
  });

  await t.test('pages hold each matching device once, in their order', async (t) => {
    const found: string[] = [];
    const terms = { tags: [{ key: 'site', values: ['osaka'] }], connected: true, share: { percent: 50, salt: 's' } };
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Awaited<ReturnType<typeof selection.page>> = await selection.page(
        'app',
        { terms },
        { after, limit: 500 },
      );
      found.push(...page.deviceIds);
      after = page.next;
    }
    const expected = Array.from({ length: FLEET }, (_, n) => n)
      .filter((n) => n % 10 === 0)
      .map((n) => String(350_000_000_000_000 + n))
      .filter((id) => isConnected(id) && isInShare(id, terms.share));
    t.same(found, expected);
    t.ok(found.length > 1000);
    const named = [String(350_000_000_000_007), ...expected.slice(0, 3), '999999999999999'];
    t.same(
      await selection.page('app', { devices: named }, { limit: 100 }),
      { deviceIds: expected.slice(0, 3), next: undefined },
      'devices of other applications are not found by their names',
    );
  });

  await t.test('the devices of a rollout in a state are found, however few they are', async (t) => {
    await database.transact(async (unit) => {
      await unit.run(
        `INSERT INTO rollouts (rollout_id, application_id, operation, selector, plan, state, at_work, publishes, drained,
           stage, approved, devices, entries, created_at)
         VALUES ('r', 'app', 'setLanguage', '{}', '{}', 'running', 1, 1, 1, 0, -1, 9, 0, 0)`,
      );
      await unit.run(
        `INSERT INTO rollout_members (rollout_id, device_id, stage, place, state, attempts, not_before, updated_at)
         SELECT 'r', device_id, 0, 0, CASE WHEN device_id LIKE '%3000' THEN 'failed' ELSE 'succeeded' END, 1, 0, 0
         FROM devices WHERE device_id LIKE '%000'`,
      );
    });
    const page = async (applicationId: string, state: string | undefined) => {
      const terms = { member: { rolloutId: 'r', state } };
      return (await selection.page(applicationId, { terms }, { limit: 500 })).deviceIds;
    };
    const all = await page('app', undefined);
    t.ok(all.length > 10);
    t.same(
      await page('app', 'failed'),
      all.filter((deviceId) => deviceId.endsWith('3000')),
    );
    t.same(await page('other', undefined), [], 'only those of its application');
  });

  await t.test('the devices of one tag are counted exactly', async (t) => {
    const count = await selection.count('app', { terms: { tags: [{ key: 'site', values: ['osaka'] }] } }, 'com.a.x');
    t.match(count, { matching: FLEET / 10, connected: FLEET / 10, isEstimate: false });
    t.same(Object.fromEntries(count.versions), { null: 2000, '1.0.0': 1000 });
  });

  await t.test('of more devices a sample is counted, which is close and says so', async (t) => {
    const near = (actual: number, expected: number, what: string) =>
      t.ok(Math.abs(actual - expected) < FLEET * 0.03, `${what}: ${actual} instead of ${expected}`);
    const all = await selection.count('app', { terms: {} }, 'com.a.x');
    t.equal(all.isEstimate, true);
    near(all.matching, FLEET - 1, 'matching');
    near(all.connected, FLEET / 2, 'connected');
    near(all.versions.get('1.0.0') ?? 0, FLEET / 6, '1.0.0');
    near(all.versions.get(null) ?? 0, (FLEET * 2) / 3, 'without the package');
    const newer = { has: (version: string) => version.startsWith('2') };
    const ranged = await selection.count(
      'app',
      { terms: { package: 'com.a.x', version: { range: newer } } },
      'com.a.x',
    );
    near(ranged.matching, FLEET / 6, 'in the range');
    t.same([...ranged.versions.keys()], ['2.0.0-rc.1']);
    const some = await selection.count('app', { terms: { share: { percent: 20, salt: '' } } });
    near(some.matching, FLEET / 5, 'a share');
    t.ok(most <= 1000, 'no query reads many devices');
  });
});

t.test('shares of one salt are nested, and shares of two salts are independent', async (t) => {
  const ids = Array.from({ length: 20_000 }, (_, n) => String(350_000_000_000_000 + n));
  const inShare = (percent: number, salt: string) => new Set(ids.filter((id) => isInShare(id, { percent, salt })));
  const [ten, twenty, others] = [inShare(10, 'a'), inShare(20, 'a'), inShare(20, 'b')];
  t.ok([...ten].every((id) => twenty.has(id)));
  t.ok(Math.abs(ten.size - 2000) < 200, `${ten.size} of 20,000 are 10 percent`);
  const both = [...twenty].filter((id) => others.has(id)).length;
  t.ok(Math.abs(both - 800) < 150, `${both} of 20,000 are in both shares of 20 percent`);
  t.equal(inShare(0, 'a').size, 0);
  t.equal(inShare(100, 'a').size, ids.length);
});
