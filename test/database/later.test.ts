import t from 'tap';
import { insertTransactionLater } from '../../src/core/transactions/transaction-repository.ts';
import type { Database, UnitOfWork } from '../../src/platform/database/sql.ts';
import { onBoth, openDatabaseOf } from './kinds.ts';

const insert = "INSERT INTO developers (developer_id, name, created_at) VALUES (?, 'x', 0)";
const rename = 'UPDATE developers SET name = ? WHERE developer_id = ?';
const all = 'SELECT developer_id AS "id", name FROM developers ORDER BY developer_id';
const find = 'SELECT name FROM developers WHERE developer_id = ?';

const transaction = {
  deviceId: '490154203237518',
  applicationId: 'app-1',
  operation: 'deactivate',
  attempts: 0,
  createdAt: 1,
  publishedAt: null,
  subject: null,
  traceparent: null,
} as const;

/** Runs units at the same time; returns their results, or the messages of their errors. */
async function together(database: Database, ...works: [key: string | undefined, (unit: UnitOfWork) => unknown][]) {
  const units = works.map(([key, work]) => database.transact(async (unit) => work(unit), { device: key }));
  const ended = await Promise.allSettled(units);
  return ended.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'));
}

onBoth(t, async (t, kind) => {
  await t.test('the statements of a unit stay in order, whether it waits for their answers or not', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const work = async (unit: UnitOfWork): Promise<unknown> => {
      unit.later(insert, ['a']);
      unit.later(rename, ['first', 'a']);
      unit.later(insert, ['b']);
      unit.later(rename, ['second', 'a']);
      const seen = await unit.all(all);
      await unit.run(rename, 'third', 'a');
      unit.later(rename, ['fourth', 'b']);
      unit.later(rename, ['fifth', 'b']);
      return seen;
    };
    t.same(await database.transact(work, { device: 'device' }), [
      { id: 'a', name: 'second' },
      { id: 'b', name: 'x' },
    ]);
    t.same(await database.read.all(all), [
      { id: 'a', name: 'third' },
      { id: 'b', name: 'fifth' },
    ]);
  });

  await t.test(
    'units of one device see what those before have written, and units without a device come last',
    async (t) => {
      const database = await openDatabaseOf(kind, t);
      const results = await together(
        database,
        ['device', (unit) => unit.later(insert, ['a'])],
        ['device', (unit) => unit.later(rename, ['new', 'a'])],
        ['device', (unit) => unit.get(find, 'a')],
        ['other', (unit) => unit.later(insert, ['b'])],
      );
      t.same(results, [undefined, undefined, { name: 'new' }, undefined]);
      const third = database.transact(async (unit) => unit.later(insert, ['c']), { device: 'third' });
      await database.transact(async (unit) => unit.later(rename, ['last', 'c']), { pace: 'along' });
      await third;
      t.same(await database.read.get(find, 'c'), { name: 'last' });
    },
  );

  await t.test(
    'numbers are told before the next unit of the device begins, and before the effects of a commit',
    async (t) => {
      const database = await openDatabaseOf(kind, t);
      const told: string[] = [];
      const store = (name: string) => (unit: UnitOfWork) => {
        told.push(`${name} begins`);
        unit.onCommit(() => told.push(`${name} is committed`));
        insertTransactionLater(unit, transaction, '{}', (id) => told.push(`${name} is ${id}`));
        unit.later('DELETE FROM transactions WHERE transaction_id > ?', [1], (count) => told.push(`${count} removed`));
      };
      await together(database, ['device', store('one')], ['device', store('two')]);
      t.same(told, [
        'one begins',
        'one is 1',
        '0 removed',
        'two begins',
        'two is 2',
        '1 removed',
        'one is committed',
        'two is committed',
      ]);
    },
  );

  await t.test('a statement that fails later fails its unit with all that it wrote, and no other', async (t) => {
    const database = await openDatabaseOf(kind, t);
    await database.transact((unit) => unit.run(insert, 'a'));
    const undone: string[] = [];
    const failing = (key: string) => (unit: UnitOfWork) => {
      unit.onRollback(() => undone.push(key));
      unit.onCommit(() => t.fail('an effect of a commit that never was'));
      unit.later(insert, [`with ${key}`]);
      unit.later(insert, ['a']);
    };
    const beside = (id: string) => (unit: UnitOfWork) => unit.later(insert, [id]);
    t.same(
      await together(
        database,
        ['1', beside('b')],
        ['2', failing('2')],
        ['3', beside('c')],
        [undefined, failing('none')],
        ['2', beside('d')],
      ),
      [undefined, 'failed', undefined, 'failed', undefined],
    );
    t.ok(undone.includes('2') && undone.includes('none'));
    t.same(
      (await database.read.all<{ id: string }>(all)).map(({ id }) => id),
      ['a', 'b', 'c', 'd'],
    );
  });

  await t.test('a unit that throws leaves nothing, and one that has ended writes nothing', async (t) => {
    const database = await openDatabaseOf(kind, t);
    let kept: UnitOfWork | undefined;
    const thrown = database.transact(
      async (unit) => {
        kept = unit;
        unit.later(insert, ['a']);
        throw new Error('no');
      },
      { device: 'device' },
    );
    await t.rejects(thrown, /no/);
    t.throws(() => kept?.later(insert, ['b']), /the unit of work has ended/);
    t.throws(() => kept?.insertLater(insert, ['b'], () => undefined), /the unit of work has ended|no table/);
    await database.transact(async () => undefined, { device: 'device' });
    t.same(await database.read.all(all), []);
    const runs: string[] = [];
    const beside = (id: string) => (unit: UnitOfWork) => {
      runs.push(id);
      unit.later(insert, [id]);
    };
    const refused = async (unit: UnitOfWork): Promise<void> => {
      unit.later(rename, ['new', 'nobody']);
      await unit.all(all);
      if (kind === 'postgres') unit.later(insert, ['refused']); // it is not sent
      throw new Error('no');
    };
    t.same(await together(database, ['1', beside('c')], ['2', refused], ['3', beside('d')]), [
      undefined,
      'failed',
      undefined,
    ]);
    t.same(runs, ['c', 'd'], 'a unit that has changed nothing fails alone');
    t.same(
      (await database.read.all<{ id: string }>(all)).map(({ id }) => id),
      ['c', 'd'],
    );
  });
});
