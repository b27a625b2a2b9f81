import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { readMigrations } from '../../src/platform/database/migration-files.ts';
import { createEmptyDatabase, type DatabaseKind } from '../postgres/databases.ts';
import { onBoth } from './kinds.ts';

/** The migration that fills new columns from existing data. */
const FILLS = 19;

async function openBefore(t: Test, kind: DatabaseKind) {
  const texts = readMigrations(kind).map(({ text }) => text);
  if (kind === 'sqlite') {
    const file = new Sqlite(':memory:');
    t.teardown(() => file.close());
    return {
      texts,
      run: async (text: string) => void file.exec(text),
      all: async (text: string) => file.prepare(text).all(),
    };
  }
  const client = new Client({ connectionString: await createEmptyDatabase(t) });
  await client.connect();
  t.teardown(() => client.end());
  return {
    texts,
    run: async (text: string) => void (await client.query(text)),
    all: async (text: string) => (await client.query(text)).rows,
  };
}

const at = (value: unknown) => ({ value, at: 5 });
const software = (...items: unknown[]) => ({ software: at(items) });
const item = (name: string, version: string) => ({ package: name, version, versionCode: 1 });

const REPORTED: Record<string, object> = {
  all: {
    firmwareVersion: at("9'0"),
    battery: at({ level: 100, charging: true }),
    storage: at({ total: 1e20, free: 1e20 }),
    ...software(item('a', '1'), item('b', '2')),
  },
  nothing: {},
  empty: { firmwareVersion: at(''), battery: at({ level: 0, charging: false }), ...software() },
  twice: { ...software(item('a', '1'), item('a', '2')), storage: at({ total: 100, free: 60 }) },
  strange: { firmwareVersion: at(7), battery: at({ level: 1.5 }), ...software('x', { package: 1, version: null }) },
  other: { firmwareVersion: at(null), battery: at('full'), software: at('none'), storage: at(null) },
};

onBoth(t, async (t, kind) => {
  const { texts, run, all } = await openBefore(t, kind);
  for (const text of texts.slice(0, FILLS - 1)) await run(text);
  for (const [id, reported] of Object.entries(REPORTED))
    await run(`INSERT INTO device_status (device_id, reported, reported_at)
      VALUES ('${id}', '${JSON.stringify(reported).replaceAll("'", "''")}', 7)`);
  const transaction = (operation: string, parameters: object | null, due: number) =>
    run(`INSERT INTO transactions (device_id, application_id, operation, parameters, status, due, attempts, created_at, updated_at)
      VALUES ('d', 'a', '${operation}', ${parameters ? `'${JSON.stringify(parameters)}'` : 'NULL'}, 'queued', ${due}, 0, 0, 0)`);
  await transaction('installSoftware', item('a', '1.2'), 1);
  await transaction('setWifi', { networks: [] }, 1);
  await transaction('updateFirmware', null, 1); // cancelled, and its device must still get the cancel
  // One statement at a time, because an index that is made while nodes use its table cannot be made in a transaction.
  for (const text of texts.slice(FILLS - 1))
    for (const statement of kind === 'postgres' ? text.replaceAll(/--.*$/gm, '').split(';') : [text])
      await run(statement);

  t.same(
    await all('SELECT device_id, firmware, CAST(battery AS INTEGER) AS battery FROM device_status ORDER BY device_id'),
    [
      { device_id: 'all', firmware: "9'0", battery: 100 },
      { device_id: 'empty', firmware: '', battery: 0 },
      { device_id: 'nothing', firmware: null, battery: null },
      { device_id: 'other', firmware: null, battery: null },
      { device_id: 'strange', firmware: null, battery: null },
      { device_id: 'twice', firmware: null, battery: null },
    ],
  );
  t.same(
    await all(`SELECT device_id, CAST(charging AS INTEGER) AS charging, CAST(storage_free AS TEXT) AS free
      FROM device_status WHERE charging IS NOT NULL OR storage_free IS NOT NULL ORDER BY device_id`),
    [
      { device_id: 'all', charging: 1, free: '9007199254740991' },
      { device_id: 'empty', charging: 0, free: null },
      { device_id: 'twice', charging: null, free: '60' },
    ],
  );
  t.same(
    await all('SELECT device_id, package, version, CAST(since AS INTEGER) AS since FROM device_software ORDER BY 1, 2'),
    [
      { device_id: 'all', package: 'a', version: '1', since: 7 },
      { device_id: 'all', package: 'b', version: '2', since: 7 },
      { device_id: 'twice', package: 'a', version: '2', since: 7 },
    ],
  );
  t.same(await all('SELECT subject FROM transactions ORDER BY transaction_id'), [
    { subject: 'a@1.2' },
    { subject: null },
    { subject: null },
  ]);
});
