import t from 'tap';
import { type NewestPage, newestFirst } from '../../src/platform/database/newest-first.ts';
import { openTestDatabase } from '../applications/tenant.ts';

interface Row {
  id: number;
  kind: string;
}

const ROWS = 25_000;
/** Every thousandth row is rare; the first twelve are of another kind. */
const kindOf = (id: number): string => (id <= 12 ? 'first' : id % 1000 === 0 ? 'rare' : 'common');

void t.test('pages of a list', async (t) => {
  const { database } = openTestDatabase(t);
  await database.transact(async (unit) => {
    for (let id = 1; id <= ROWS; id += 1) {
      await unit.run(
        `INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts, created_at,
           updated_at) VALUES (?, 'd', 'a', ?, 'succeeded', 0, 0, 0, 0)`,
        id,
        kindOf(id),
      );
    }
  });
  let size: number | undefined;
  const list = (
    kind: string | null,
    page: { after?: number; offset: number; limit: number },
  ): Promise<NewestPage<Row>> =>
    newestFirst<Row, number>(database.read, {
      table: 'transactions',
      key: 'transaction_id',
      keyOf: ({ id }) => id,
      columns: 'transaction_id AS id, operation AS kind',
      ranges: [{ where: 'device_id = ? AND application_id = ?', values: ['d', 'a'] }],
      filter: kind === null ? null : 'operation = ?',
      filterValues: kind === null ? [] : [kind],
      page,
      ...(size !== undefined && { sizeOf: () => size as number }),
    });
  /** Follows the links from a first page. */
  async function follow(kind: string | null, first: { offset: number; limit: number }) {
    const found: Row[] = [];
    let pages = 0;
    let next: { after?: number; offset: number } | undefined = { offset: first.offset };
    while (next) {
      const page: NewestPage<Row> = await list(kind, { ...next, limit: first.limit });
      found.push(...page.rows);
      pages += 1;
      t.ok(page.rows.length <= first.limit);
      next = page.next && { after: Number(page.next.after), offset: page.next.offset };
    }
    return { ids: found.map(({ id }) => id), pages };
  }
  const all = Array.from({ length: ROWS }, (_, index) => ROWS - index);
  const wanted = (kind: string | null, offset: number): number[] =>
    all.filter((id) => kind === null || kindOf(id) === kind).slice(offset);

  await t.test('following the links gives every matching row once, the newest first', async (t) => {
    for (const kind of [null, 'common', 'rare', 'first', 'none']) {
      for (const [offset, limit] of [
        [0, 1000],
        [0, 7000],
        [3, 999],
        [10, 3],
        [12_345, 1000],
        [30_000, 1000],
      ] as const) {
        if (limit < 100 && kind !== 'rare' && kind !== 'first') continue;
        const { ids } = await follow(kind, { offset, limit });
        t.same(ids, wanted(kind, offset), `${kind}, offset ${offset}, limit ${limit}`);
      }
    }
  });

  await t.test('a page reads a bounded number of rows, so rare rows come in short pages', async (t) => {
    t.same((await list('first', { offset: 0, limit: 100 })).rows, [], 'nothing among the newest 2,000');
    t.equal((await follow('first', { offset: 0, limit: 100 })).pages, 13);
    t.equal((await follow(null, { offset: 0, limit: 1000 })).pages, 25, 'without a filter every page is full');
  });

  await t.test('a page of large rows is shorter, and the next one continues after it', async (t) => {
    size = 500_000;
    const page = await list(null, { offset: 7, limit: 1000 });
    t.equal(page.rows.length, 50, '4 MiB are full within one step');
    t.same(page.next, { after: ROWS - 7 - 49, offset: 0 });
    const { ids, pages } = await follow('rare', { offset: 2, limit: 1000 });
    t.same(ids, wanted('rare', 2));
    t.equal(pages, 13);
    size = 90_000;
    t.same((await follow(null, { offset: 20_000, limit: 70 })).ids, wanted(null, 20_000));
    size = undefined;
  });

  await t.test('the total is shown if it can be known cheaply', async (t) => {
    t.equal((await list(null, { offset: 0, limit: 1 })).total, null);
    t.equal((await list('rare', { offset: 0, limit: 1 })).total, null);
    await database.transact((unit) => unit.run('DELETE FROM transactions WHERE transaction_id > 9000'));
    t.equal((await list(null, { offset: 0, limit: 1 })).total, 9000);
    await database.transact((unit) => unit.run('DELETE FROM transactions WHERE transaction_id > 1500'));
    t.equal((await list('first', { offset: 0, limit: 1 })).total, 12);
    t.match(await list('first', { after: 5, offset: 0, limit: 9 }), {
      total: 12,
      rows: [{ id: 4 }, { id: 3 }, { id: 2 }, { id: 1 }],
    });
    t.match(await list('first', { offset: 0, limit: 12 }), { total: 12, next: undefined }, 'a last page that is full');
  });
});
