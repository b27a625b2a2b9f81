import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t, { type Test } from 'tap';
import { ADMIN_TOKEN, startProcess } from '../flow/service-process.ts';
import { until } from '../until.ts';
import { deviceIdOf } from '../world.ts';

/** A table, and the row whose removal is prevented, so that the removal stands still there; some rows before it are gone. */
// biome-ignore format: a table is read by its rows
const STEPS: [step: string, table: string, row: string][] = [
  ['devices', 'devices', `OLD.device_id = '${deviceIdOf(3)}'`],
  ['deliveries', 'deliveries', "OLD.delivery_id LIKE 'msg_%3'"],
  ['packages', 'packages', "OLD.package = 'com.example.b'"],
  ['applications', 'developers', "OLD.developer_id = 'leaver'"],
];

const MICROS = 1_700_000_000_000_000;

/** Stores finished transactions and deliveries, as of devices that were removed before. */
function storeHistory(file: Sqlite.Database): void {
  for (let number = 1; number <= 5; number += 1) {
    file.exec(`INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts,
        created_at, updated_at, completed_at)
      VALUES (${number}, '${deviceIdOf(90)}', 'leaver-app', 'setWifi', 'succeeded', 0, 1, ${MICROS}, ${MICROS}, ${MICROS})`);
    file.exec(`INSERT INTO deliveries (application_id, delivery_id, setting, type, body, status, attempts, created_at, updated_at)
      VALUES ('leaver-app', 'msg_${'0'.repeat(31)}${number}', 'deviceEvent', 'test', '{}', 'delivered', 1, ${MICROS}, ${MICROS})`);
  }
}

async function start(t: Test, dataDir: string) {
  const service = await startProcess(t, { LAPEL_DATA_DIR: dataDir, LAPEL_LOG_LEVEL: 'fatal' });
  const call = async (method: string, path: string, json?: unknown) => {
    const answer = await fetch(`${service.addresses.admin}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { ...service, call };
}

t.test('a removal whose process is killed, at any step, goes on after the start and ends', async (t) => {
  const dataDir = t.testdir();
  let service = await start(t, dataDir);
  const file = new Sqlite(join(dataDir, 'lapel.db'), { timeout: 5000 });
  t.teardown(() => file.close());
  for (const developerId of ['leaver', 'other']) {
    await service.call('POST', '/developers', { developerId, name: developerId });
    await service.call('POST', `/developers/${developerId}/applications`, {
      applicationId: `${developerId}-app`,
      name: 'app',
    });
  }
  for (let number = 1; number <= 5; number += 1)
    await service.call('POST', '/developers/leaver/devices', { deviceId: deviceIdOf(number) });
  await service.call('POST', '/developers/other/devices', { deviceId: deviceIdOf(6) });
  storeHistory(file);
  for (const name of ['a', 'b', 'c'])
    file.exec(`INSERT INTO packages (line, package, developer_id, for_all, created_at, updated_at)
      VALUES ('software', 'com.example.${name}', 'leaver', 1, ${MICROS}, ${MICROS})`);
  const [first] = STEPS;
  const stopAt = ([, table, row]: (typeof STEPS)[number]): void =>
    void file.exec(
      `CREATE TRIGGER stopped BEFORE DELETE ON ${table} WHEN ${row} BEGIN SELECT RAISE(ABORT, 'stopped here'); END`,
    );
  stopAt(first as (typeof STEPS)[number]);
  const { status, body: asked } = await service.call('POST', '/developers/leaver/removal', { confirmation: 'leaver' });
  t.equal(status, 202);
  const path = `/removals/${asked['removalId'] as string}`;
  for (const [index, [step, table]] of STEPS.entries()) {
    await until(async () => (await service.call('GET', path)).body['step'] === step);
    const counted = (): number =>
      (file.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
    t.ok(counted() > 0, `${table} still has rows`);
    service.signal('SIGKILL');
    await service.closed;
    file.exec('DROP TRIGGER stopped');
    const next = STEPS[index + 1];
    if (next) stopAt(next);
    service = await start(t, dataDir);
  }
  await until(async () => (await service.call('GET', path)).body['state'] === 'ended');
  const { body } = await service.call('GET', path);
  t.match(
    body['removed'],
    { devices: 5, transactions: 5, deliveries: 5, packages: 3, applications: 1 },
    'each is counted once',
  );
  for (const table of ['transactions', 'deliveries', 'packages'])
    t.match(file.prepare(`SELECT count(*) AS count FROM ${table}`).get(), { count: 0 }, table);
  t.match(await service.call('GET', '/developers/leaver'), { status: 404 });
  t.match((await service.call('GET', '/developers/other/devices')).body, { total: 1 });
  service.signal('SIGTERM');
  await service.closed;
});
