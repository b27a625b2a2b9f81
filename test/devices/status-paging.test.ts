import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { completeActivation, releaseActivation } from '../../src/core/devices/activation.ts';
import { findDevice, setActivation } from '../../src/core/devices/device-repository.ts';
import { listActivatedStates, PAGE_CHARACTERS } from '../../src/core/devices/status-repository.ts';
import type { Sql } from '../../src/platform/database/sql.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createVault } from '../../src/platform/encryption/vault.ts';
import { deviceIdOf } from '../world.ts';

const COUNT = 100_000;

t.test('the list of a hundred thousand devices', async (t) => {
  const folder = t.testdir();
  const database = openSqlite({ folder, nowMicros: 0 });
  t.teardown(() => database.close());
  const connection = new Sqlite(join(folder, 'lapel.db'));
  t.teardown(() => connection.close());
  connection.exec(`INSERT INTO developers (developer_id, name, device_limit, created_at) VALUES ('dev', 'dev', 200000, 0);
    INSERT INTO applications (application_id, developer_id, name, secret_hash, created_at)
      VALUES ('app', 'dev', 'app', x'00', 0), ('other', 'dev', 'other', x'00', 0);
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${COUNT + 999})
    INSERT INTO devices (device_id, developer_id, credential_hash, activation, application_id, created_at)
      SELECT printf('35%012d0', n), 'dev', x'00', CASE WHEN n % 101 = 100 THEN 'activating' ELSE 'activated' END,
        CASE WHEN n % 505 = 0 THEN 'other' ELSE 'app' END, 0 FROM numbers;
    INSERT INTO activated_counts
      SELECT application_id, count(*) FROM devices WHERE activation = 'activated' GROUP BY application_id;
    INSERT INTO device_status (device_id, reported, reported_at) SELECT device_id, '{"lang":{"value":"ja","at":1}}', 1 FROM devices LIMIT 1000`);
  const plans: string[] = [];
  const explained = (text: string, values: readonly unknown[]) => {
    const rows = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
    plans.push(rows.map(({ detail }) => detail).join('\n'));
    return connection.prepare(text);
  };
  const sql: Sql = {
    all: async <Row>(text: string, ...values: unknown[]) => explained(text, values).all(...values) as Row[],
    get: async <Row>(text: string, ...values: unknown[]) => explained(text, values).get(...values) as Row | undefined,
    run: () => Promise.reject(new Error('only reads')),
    vault: createVault(),
  };
  const expected = connection
    .prepare("SELECT device_id FROM devices WHERE application_id = 'app' AND activation = 'activated' ORDER BY 1")
    .pluck()
    .all() as string[];

  t.test('pages hold the activated devices of the application, each once, by deviceId', async (t) => {
    const seen: string[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const { states, more, total } = await listActivatedStates(sql, 'app', { after, offset: 0, limit: 1000 });
      t.equal(total, expected.length);
      seen.push(...states.map(({ deviceId }) => deviceId));
      after = more ? states.at(-1)?.deviceId : undefined;
    }
    t.same(seen, expected);
    for (const offset of [
      1,
      1000,
      expected.length - 3,
      expected.length - 2,
      expected.length - 1,
      expected.length,
      expected.length + 1,
    ]) {
      const { states, more } = await listActivatedStates(sql, 'app', { offset, limit: 2 });
      t.same(
        states.map(({ deviceId }) => deviceId),
        expected.slice(offset, offset + 2),
      );
      t.equal(more, offset + 2 < expected.length);
    }
  });

  t.test('a page of devices that report much is shorter, and the next one begins where it ends', async (t) => {
    const large = JSON.stringify({ software: { value: 'x'.repeat(PAGE_CHARACTERS / 3), at: 1 } });
    const most = JSON.stringify({ software: { value: 'x'.repeat(PAGE_CHARACTERS + 1), at: 1 } });
    const report = connection.prepare(
      'INSERT OR REPLACE INTO device_status (device_id, reported, reported_at) VALUES (?, ?, 1)',
    );
    for (const deviceId of expected.slice(5000, 5004)) report.run(deviceId, large);
    report.run(expected[5004], most);
    const sizes: number[] = [];
    const seen: string[] = [];
    for (let after = expected[4998]; seen.length < 101; after = seen.at(-1)) {
      const { states, more } = await listActivatedStates(sql, 'app', { after: after ?? '', offset: 0, limit: 101 });
      t.ok(more);
      sizes.push(states.length);
      seen.push(...states.map(({ deviceId }) => deviceId));
    }
    t.same(seen.slice(0, 101), expected.slice(4999, 5100));
    t.same(sizes, [3, 2, 1, 101], 'what does not fit into a page of any size has one to itself');
    connection.prepare('DELETE FROM device_status WHERE reported_at = 1 AND length(reported) > 1000').run();
  });

  t.test('a page reads a range of the index and the data of its own rows; nothing is sorted or counted', async (t) => {
    plans.length = 0;
    await listActivatedStates(sql, 'app', { after: expected[98_000]!, offset: 0, limit: 10 });
    t.equal(plans.length, 2, 'nothing is left out, so nothing is counted');
    await listActivatedStates(sql, 'app', { offset: 98_000, limit: 10 });
    const range = 'USING COVERING INDEX devices_activated (application_id=? AND device_id>?)';
    const [total = '', page = '', , leftOut = ''] = plans;
    t.match(total, /^SEARCH activated_counts USING INDEX/);
    t.match(page.split('\n'), [`SEARCH d ${range}`, /^SEARCH s USING INDEX/, /^SEARCH p USING INDEX/]);
    t.equal(leftOut, `SEARCH devices ${range}`);
    for (const plan of plans) t.notMatch(plan, /SCAN|TEMP B-TREE/);
  });

  t.test('the count is updated with every activation and deactivation', async (t) => {
    const deviceId = deviceIdOf(COUNT + 5000);
    const totals = async (): Promise<number[]> =>
      Promise.all(
        ['app', 'other'].map(async (id) => (await listActivatedStates(sql, id, { offset: 0, limit: 1 })).total),
      );
    const [app = 0, other = 0] = await totals();
    const move = (activation: 'deactivated' | 'activating' | 'activated', applicationId: string | null) =>
      database.transact(async (unit) => {
        const device = await findDevice(unit, deviceId);
        if (device) setActivation(unit, device, { activation, applicationId, clientId: null });
      });
    for (const change of [completeActivation, releaseActivation])
      await database.transact((unit) => change(unit, deviceId));
    t.same(await totals(), [app, other], 'a device that is not there');
    connection.exec(`INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at)
      VALUES ('${deviceId}', 'dev', x'00', 'deactivated', 0)`);
    await move('activating', 'app');
    t.same(await totals(), [app, other]);
    await move('activated', 'app');
    t.same(await totals(), [app + 1, other]);
    await move('activated', 'other');
    t.same(await totals(), [app, other + 1]);
    await move('deactivated', null);
    t.same(await totals(), [app, other]);
  });
});
