import t from 'tap';
import { insertRemoval } from '../../src/core/removals/removal-repository.ts';
import { createWorker } from '../../src/core/removals/worker.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { UnitOfWork } from '../../src/platform/database/sql.ts';
import { createLog } from '../../src/runtime/log.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { until } from '../until.ts';

const REMOVAL = {
  removalId: `rem_${'0'.repeat(32)}`,
  developerId: 'dev',
  applicationId: null,
  name: 'Dev',
  contents: {},
  step: null,
  requestedAt: 0,
  progressedAt: 0,
  endedAt: null,
};
const ROWS = 40;

t.test('the worker of removals', async (t) => {
  const { database, clock } = openTestDatabase(t);
  const alive = setInterval(() => undefined, 1_000); // the pauses of the worker do not keep a process alive
  t.teardown(() => clearInterval(alive));
  const metrics = createMetrics();
  const log = createLog({ level: 'silent' });
  await database.transact((unit) => insertRemoval(unit, REMOVAL));
  const read = (): Promise<{ ended: number | null; removed: number } | undefined> =>
    database.read.get(
      `SELECT ended_at AS ended, COALESCE((SELECT removed FROM removal_counts), 0) AS removed FROM removals`,
    );
  const metric = async (name: 'removalsRunning' | 'removalProgress'): Promise<number | undefined> =>
    (await metrics[name].get()).values[0]?.value;

  await t.test('a unit of work removes few rows, however many there are, and others come between', async (t) => {
    let left = ROWS;
    let others = 0;
    const inUnit = new Map<UnitOfWork, number>();
    const worker = createWorker({
      database,
      clock,
      log,
      metrics,
      leads: () => true,
      pauseFactor: 0,
      clearings: [
        {
          kind: 'devices',
          async *find() {
            yield Array.from({ length: left }, (_, row) => row);
          },
          async remove(unit) {
            const until = performance.now() + 1;
            while (performance.now() < until) Math.random(); // a row that takes a millisecond
            inUnit.set(unit, (inUnit.get(unit) ?? 0) + 1);
            left -= 1;
            void database.transact(async () => (others += 1));
            return { devices: 1 };
          },
        },
      ],
      endIn: async (unit) => {
        await unit.run('UPDATE removals SET ended_at = 1');
      },
    });
    worker.start();
    await worker.idle();
    await worker.stop();
    t.equal(left, 0);
    t.ok(Math.max(...inUnit.values()) <= 2, 'two milliseconds of rows in a unit');
    t.equal(
      [...inUnit.values()].reduce((sum, rows) => sum + rows, 0),
      ROWS,
    );
    await database.idle();
    t.equal(others, ROWS);
    t.match(await read(), { ended: 1, removed: ROWS });
  });

  await t.test('what fails is tried again, and its age is seen meanwhile', async (t) => {
    await database.transact((unit) => unit.run('UPDATE removals SET ended_at = NULL'));
    let fails = true;
    const worker = createWorker({
      database,
      clock,
      log,
      metrics,
      leads: () => true,
      pauseFactor: 0,
      clearings: [
        {
          kind: 'connections',
          async *find() {
            yield [];
          },
          remove: async () => ({}),
        },
        {
          kind: 'devices',
          async *find() {
            if (fails) yield [1];
          },
          async remove() {
            throw new Error('a row still refers to it');
          },
        },
      ],
      endIn: async (unit) => {
        await unit.run('UPDATE removals SET ended_at = 2');
      },
    });
    worker.start();
    await worker.idle();
    const since = await metric('removalProgress');
    t.equal(await metric('removalsRunning'), 1);
    clock.advance(60_000);
    await worker.idle();
    t.equal(await metric('removalProgress'), since, 'there was no progress');
    fails = false;
    await until(async () => {
      clock.advance(10_000);
      await worker.idle();
      return (await read())?.ended === 2;
    });
    t.equal(await metric('removalsRunning'), 0);
    await worker.stop();
  });

  await t.test('a removal that is stored while another one is carried out follows it', async (t) => {
    const second = { ...REMOVAL, removalId: `rem_${'1'.repeat(32)}` };
    await database.transact((unit) => unit.run('UPDATE removals SET ended_at = NULL'));
    const ended: string[] = [];
    const worker = createWorker({
      database,
      clock,
      log,
      metrics,
      leads: () => true,
      pauseFactor: 0,
      clearings: [],
      async endIn(unit, { removalId }) {
        await unit.run('UPDATE removals SET ended_at = 3 WHERE removal_id = ?', removalId);
        // As another node does, which wakes no worker but its own.
        if (ended.length === 0) await insertRemoval(unit, second);
        ended.push(removalId);
      },
    });
    worker.start();
    await worker.idle();
    t.same(ended, [REMOVAL.removalId, second.removalId]);
    await worker.stop();
  });
});
