import t from 'tap';
import { listTransactions, type TransactionFilter } from '../../src/core/transactions/transaction-repository.ts';
import type { Sql, SqlValue } from '../../src/platform/database/sql.ts';
import { openTestDatabase } from '../applications/tenant.ts';

const ROWS = 600;
const STATUSES = ['queued', 'succeeded', 'delivered', 'failed', 'cancelled'] as const;
// A cancel that the device has not received yet is due, although its transaction is finished.
const statusOf = (id: number) => STATUSES[id % 5] ?? 'queued';
const isDue = (id: number): boolean => ['queued', 'delivered'].includes(statusOf(id)) || id % 10 === 4;

void t.test('the transactions of a device, due and not due, are one list', async (t) => {
  const { database } = openTestDatabase(t);
  const placeOf = (id: number): [deviceId: string, applicationId: string] => [
    id % 3 === 0 ? 'other' : 'd',
    id % 7 === 0 ? 'former' : 'a',
  ];
  await database.transact(async (unit) => {
    for (let id = 1; id <= ROWS; id += 1) {
      await unit.run(
        `INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts, created_at,
           updated_at) VALUES (?, ?, ?, 'setWifi', ?, ?, 0, 0, 0)`,
        id,
        ...placeOf(id),
        statusOf(id),
        isDue(id) ? 1 : 0,
      );
    }
  });
  const own = Array.from({ length: ROWS }, (_, index) => ROWS - index).filter((id) => placeOf(id).join() === 'd,a');
  const list = (filter: Partial<TransactionFilter>, sql: Sql = database.read) =>
    listTransactions(sql, 'd', 'a', { offset: 0, limit: 1000, ...filter });
  const idsOf = async (filter: Partial<TransactionFilter>): Promise<number[]> =>
    (await list(filter)).rows.map(({ transactionId }) => transactionId);

  await t.test('newest first, each once, whatever its state', async (t) => {
    t.same(await idsOf({}), own);
    t.equal((await list({})).total, own.length);
    for (const status of STATUSES) {
      const wanted = own.filter((id) => statusOf(id) === status);
      t.same(await idsOf({ status }), wanted, status);
      t.equal((await list({ status })).total, wanted.length);
    }
    t.ok(
      own.some((id) => statusOf(id) === 'cancelled' && isDue(id)),
      'some cancels are still due',
    );
  });

  await t.test('in pages too', async (t) => {
    const found: number[] = [];
    for (let after: number | undefined; ; ) {
      const { rows, next } = await list({ limit: 7, ...(after !== undefined && { after }) });
      found.push(...rows.map(({ transactionId }) => transactionId));
      if (!next) break;
      after = Number(next.after);
    }
    t.same(found, own);
  });

  await t.test(
    'the rows come from the indexes in their order: no row is sorted (only counted numbers), and no foreign row is read',
    async (t) => {
      const plans: string[] = [];
      const explained = async (text: string, values: readonly SqlValue[]): Promise<void> => {
        const steps = await database.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values);
        plans.push(...steps.map(({ detail }) => `${text.startsWith('SELECT count') ? 'count ' : ''}${detail}`));
      };
      const watched: Sql = {
        ...database.read,
        all: (text, ...values) => explained(text, values).then(() => database.read.all(text, ...values)),
        get: (text, ...values) => explained(text, values).then(() => database.read.get(text, ...values)),
      };
      for (const status of [undefined, 'queued', 'cancelled'] as const) {
        await list({ limit: 5, after: 300, ...(status && { status }) }, watched);
      }
      const reads = plans.filter((detail) => /transactions/.test(detail));
      t.ok(reads.length >= 9, `${reads.length} ranges were read`);
      for (const detail of reads)
        t.match(detail, /^(count )?SEARCH transactions USING .*INDEX transactions_(due|done) \(device_id=\?/);
      t.same(
        plans.filter((detail) => detail.startsWith('USE TEMP B-TREE')),
        [],
      );
    },
  );
});
