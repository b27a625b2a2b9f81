import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t, { type Test } from 'tap';
import { checkPieces } from '../../../src/platform/database/sqlite/check-pieces.ts';
import { examineDatabase } from '../../../src/platform/database/sqlite/examine.ts';
import { openSqlite } from '../../../src/platform/database/sqlite/open-sqlite.ts';
import { startWorld } from '../../world.ts';
import { damage } from './damage.ts';

const DEVELOPER = `INSERT INTO developers (developer_id, name, created_at) VALUES (?, ?, 0)`;

t.test('a service with a damaged page starts, finds it, and reports it', async (t) => {
  const dataDir = t.testdir();
  const before = await startWorld(t, { database: 'sqlite', dataDir });
  await before.admin().post('/admin/v1/developers', { json: { developerId: 'dev', name: 'dev' } });
  await before.service[Symbol.asyncDispose]();
  const raw = new Sqlite(join(dataDir, 'lapel.db'));
  for (let row = 0; row < 100; row += 1) raw.prepare(DEVELOPER).run(`z${row}`, 'x'.repeat(200));
  raw.close();
  damage(dataDir, 'developers', 'leaf');
  t.same(examineDatabase(dataDir, { whole: false }).faults, [], 'it is not found at a glance');
  t.match(examineDatabase(dataDir, { whole: true }).faults, [/^table developers: /], 'lapel doctor names the place');

  const world = await startWorld(t, { database: 'sqlite', dataDir, checksDatabase: true });
  const probe = world.anonymousAdmin();
  t.match(await probe.get('/readyz'), { status: 200 }, 'what is not checked yet is ready');
  t.match((await probe.get('/metrics')).body, /^lapel_database_check\{state="checking"\} 1$/m);
  world.clock.advance(5_000);
  await world.idle();
  const { status, body } = await probe.get('/readyz');
  t.equal(status, 503);
  t.match(JSON.stringify(body), /"part":"database","reason":"is damaged \(table developers: .+\); restore a backup"/);
  t.match((await probe.get('/metrics')).body, /^lapel_database_check\{state="damaged"\} 1$/m);
  t.match((await world.admin().get('/admin/v1/developers/dev')).body, { name: 'dev' }, 'the rest goes on');
});

t.test('a service with a sound database stays ready', async (t) => {
  const world = await startWorld(t, { database: 'sqlite', checksDatabase: true });
  world.clock.advance(5_000);
  await world.idle();
  const probe = world.anonymousAdmin();
  t.match(await probe.get('/readyz'), { status: 200 });
  t.match((await probe.get('/metrics')).body, /^lapel_database_check\{state="sound"\} 1$/m);
});

t.test('every page of a large table and of its indexes is read, in pieces', async (t) => {
  const sizes = { wholeUpTo: 10, rowsPerPiece: 100 };

  async function fill(t: Test): Promise<string> {
    const folder = t.testdir();
    const database = openSqlite({ folder, nowMicros: 0 });
    await database.transact(async (unit) => {
      for (let row = 0; row < 1000; row += 1) {
        const deviceId = `d${row % 7}`;
        await unit.run(
          `INSERT INTO transactions (device_id, application_id, operation, parameters, status, due, attempts, created_at,
             updated_at, result) VALUES (?, 'a', 'setWifi', ?, 'queued', ?, 0, ?, 0, ?)`,
          deviceId,
          row % 50 === 49 ? 'p'.repeat(9_000) : null,
          row % 2,
          row,
          row % 3 === 0 ? '{}' : null,
        );
        await unit.run(
          `INSERT INTO deliveries (application_id, delivery_id, setting, type, body, status, attempts, next_attempt_at,
             created_at, updated_at) VALUES (?, ?, 'deviceEvent', 't', 'b', ?, 0, ?, 0, 0)`,
          `a${row % 2}`,
          `msg_${String(row).padStart(6, '0')}`,
          row % 3 === 0 ? 'pending' : 'delivered',
          row % 3 === 0 ? row % 5 : null,
        );
        const hash = Buffer.from(`key ${row}`);
        const keep = `INSERT INTO idempotency_keys (application_id, key_hash, request_hash, answer, created_at) VALUES ('a', ?, ?, '{}', ?)`;
        await unit.run(keep, hash, hash, row);
      }
    });
    await database.close();
    return folder;
  }

  async function look(t: Test, folder: string): Promise<string[]> {
    const database = openSqlite({ folder, nowMicros: 0 });
    const pieces = [];
    try {
      for await (const piece of checkPieces(database.aside, sizes)) pieces.push(piece);
    } finally {
      await database.close();
    }
    t.ok(pieces.length > 0);
    return pieces;
  }

  const pieces = await look(t, await fill(t));
  const count = (what: string): number => pieces.filter((piece) => piece === what).length;
  t.equal(count('table transactions'), 11, 'each piece is bounded');
  t.equal(count('index transactions_done'), 6, 'a partial one by its own rows');
  t.equal(count('index transactions_due'), 6);
  t.equal(count('index sqlite_autoindex_deliveries_1'), 11);
  t.equal(count('table devices'), 1, 'a small one is checked whole');

  for (const [name, kind, found] of [
    ['transactions', 'leaf', 'table transactions'],
    ['transactions', 'overflow', 'table transactions'],
    ['transactions_done', 'leaf', 'index transactions_done'],
    ['deliveries_due', 'leaf', 'index deliveries_due'],
    ['sqlite_autoindex_idempotency_keys_1', 'leaf', 'index sqlite_autoindex_idempotency_keys_1'],
  ] as const) {
    await t.test(`a ${kind} of ${name}`, async (t) => {
      const folder = await fill(t);
      damage(folder, name, kind);
      const database = openSqlite({ folder, nowMicros: 0 });
      t.teardown(() => database.close());
      const all = async (): Promise<void> => {
        for await (const _ of checkPieces(database.aside, sizes));
      };
      await t.rejects(all(), { name: 'Error', message: new RegExp(`^${found}: .*malformed`) });
    });
  }
});
