import t from 'tap';
import type { UnitOfWork } from '../../../src/platform/database/sql.ts';
import { openSqlite } from '../../../src/platform/database/sqlite/open-sqlite.ts';

// Only the behaviour of SQLite; test/database/units-of-work.test.ts tests both databases.
const open = (folder: string) => openSqlite({ folder, nowMicros: 1_000_000 });

const insert = "INSERT INTO developers (developer_id, name, created_at) VALUES (?, 'x', 0)";
const count = 'SELECT count(*) AS "n" FROM developers';

t.test('no caller is answered before the commit', async (t) => {
  const database = open(t.testdir());
  t.teardown(() => database.close());
  const seen: string[] = [];
  const unit = (id: string) =>
    database
      .transact(async (unit) => {
        unit.onCommit(() => seen.push(`effect ${id}`));
        await unit.run(insert, id);
        // The second connection sees only committed rows.
        seen.push(`inside ${id}: ${(await database.read.get<{ n: number }>(count))?.n}`);
      })
      .then(async () => seen.push(`answered ${id}: ${(await database.read.get<{ n: number }>(count))?.n}`));
  await Promise.all([unit('a'), unit('b')]);
  t.same(seen, ['inside a: 0', 'inside b: 0', 'effect a', 'effect b', 'answered a: 2', 'answered b: 2']);
});

t.test('a commit that fails rejects every unit in it and undoes their effects, latest first', async (t) => {
  const database = open(t.testdir());
  t.teardown(() => database.close());
  const undone: string[] = [];
  const results = await Promise.allSettled([
    database.transact(async (unit) => {
      unit.onRollback(() => undone.push('first'));
      unit.onCommit(() => t.fail('an effect of a commit that never was'));
      await unit.run(insert, 'a');
    }),
    database.transact(async (unit) => {
      unit.onRollback(() => undone.push('second'));
      await unit.run('ROLLBACK'); // SQLite does this by itself when the disk is full
      throw new Error('disk full');
    }),
    database.transact(async (unit) => {
      await unit.run(insert, 'c');
    }),
  ]);
  t.same(
    results.map((r) => r.status),
    ['rejected', 'rejected', 'rejected'],
  );
  t.same(undone, ['second', 'first']);
  t.same(await database.read.get(count), { n: 0 });
  await database.transact((unit) => unit.run(insert, 'after'));
  t.same(await database.read.get(count), { n: 1 }, 'the next commit works');
});

t.test('when the database ends the transaction, later statements of the same unit store nothing', async (t) => {
  const database = open(t.testdir());
  t.teardown(() => database.close());
  await database.transact((unit) => unit.run(insert, 'known'));
  // Like a full disk, this ends the whole transaction.
  const end = insert.replace('INSERT', 'INSERT OR ROLLBACK');
  const results = await Promise.allSettled([
    database.transact((unit) => unit.run(insert, 'before')),
    database.transact((unit) => Promise.all([unit.run(end, 'known'), unit.run(insert, 'beside')])),
    database.transact(async (unit) => {
      const ending = unit.run(end, 'known');
      ending.catch(() => undefined);
      unit.later(insert, ['later']);
      await ending;
    }),
  ]);
  t.same(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  t.same(await database.read.get(count), { n: 1 });
  await database.transact((unit) => unit.run(insert, 'after'));
  t.same(await database.read.get(count), { n: 2 }, 'the next commit works');
});

t.test('the changes of a failed unit in memory are undone before the next unit runs', async (t) => {
  const database = open(t.testdir());
  t.teardown(() => database.close());
  let slots = 0;
  const failing = database.transact(async (unit) => {
    slots += 1;
    unit.onRollback(() => {
      slots -= 1;
    });
    throw new Error('no');
  });
  const next = database.transact(async () => slots);
  await t.rejects(failing, /no/);
  t.equal(await next, 0);
});

t.test('a unit after close is refused; one before is finished', async (t) => {
  const folder = t.testdir();
  const database = open(folder);
  const last = database.transact((unit) => unit.run(insert, 'last'));
  await database.close();
  t.equal(await last, 1);
  await t.rejects(
    database.transact((unit) => unit.run(insert, 'late')),
    /closed/,
  );
  const again = open(folder);
  t.teardown(() => again.close());
  t.same(await again.read.get(count), { n: 1 });
});

t.test(
  'a unit that fails after a change affects no other: the others run again, and their effects happen once',
  async (t) => {
    const commits: { committed: number; rolledBack: number }[] = [];
    const database = openSqlite({ folder: t.testdir(), nowMicros: 0, onCommit: (commit) => commits.push(commit) });
    t.teardown(() => database.close());
    let slots = 0;
    const effects: string[] = [];
    const takeSlot = (id: string) => async (unit: UnitOfWork) => {
      slots += 1;
      unit.onRollback(() => {
        slots -= 1;
      });
      unit.onCommit(() => effects.push(id));
      await unit.run(insert, id);
      return slots;
    };
    const results = await Promise.allSettled([
      database.transact(takeSlot('a')),
      database.transact(async (unit) => {
        await takeSlot('b')(unit);
        throw new Error('late');
      }),
      database.transact(takeSlot('c')),
      database.transact(async (unit) => {
        await unit.get(count);
        throw new Error('early');
      }),
    ]);
    t.match(results, [{ value: 1 }, { reason: { message: 'late' } }, { value: 2 }, { reason: { message: 'early' } }]);
    t.strictSame(effects, ['a', 'c']);
    t.equal(slots, 2);
    t.match(commits, [{ committed: 2, rolledBack: 2 }], 'in one commit');
    const rows = await database.read.all<{ id: string }>('SELECT developer_id AS "id" FROM developers ORDER BY 1');
    t.same(rows, [{ id: 'a' }, { id: 'c' }]);
  },
);
