import { DomainError } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { createReceiverHours, listHours } from '../../src/core/webhooks/log/receiver-hours.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Database, Transact } from '../../src/platform/database/sql.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFleetHistory } from '../../src/views/history.ts';
import { createServiceHistory } from '../../src/views/service-history.ts';
import { createFakeClock } from '../fake-clock.ts';
import { onBoth, openDatabaseOf } from './kinds.ts';

/** A database whose commits happen, while their answers are lost as long as `loses` is set. */
function losing(database: Database): Database & { loses: boolean } {
  const transact: Transact = async (work, options) => {
    const result = await database.transact(work, options);
    if (made.loses && options?.pace === 'soon') throw new DomainError('DATABASE_UNAVAILABLE');
    return result;
  };
  const made = { ...database, transact, loses: false };
  return made;
}

onBoth(t, async (t, kind) => {
  const common = { clock: createFakeClock(), ids: randomIds, log: createLog({ level: 'silent' }) };
  const { clock } = common;

  await t.test('attempts whose commit lost its answer count once in the hours of their receiver', async (t) => {
    const database = losing(await openDatabaseOf(kind, t));
    await database.transact(async (unit) => {
      await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('d', 'd', 0)");
      await unit.run(
        `INSERT INTO applications (application_id, developer_id, name, secret_hash, created_at)
         VALUES ('a', 'd', 'a', '', 0)`,
      );
    });
    const hours = createReceiverHours({ ...common, database });
    const stored = async (): Promise<(number | undefined)[]> => {
      clock.advance(10_000);
      await hours.idle();
      const [row] = await listHours(database.read, 0);
      return [row?.delivered, row?.failed];
    };
    const name = { applicationId: 'a', setting: 'deviceEvent' } as const;
    database.loses = true;
    for (const isDelivered of [true, true, false]) hours.count(name, isDelivered);
    t.same(await stored(), [2, 1]);
    hours.count(name, true);
    await stored();
    database.loses = false;
    t.same(await stored(), [3, 1], 'each counts once');
    await hours.close();
  });

  await t.test('figures whose commit lost its answer count once', async (t) => {
    const database = losing(await openDatabaseOf(kind, t));
    const metrics = createMetrics();
    const remembered = <Result>(_: string, look: () => Promise<Result>): Promise<Result> => look();
    const parts = { ...common, database, metrics, remembered, nodeId: () => '', isOn: true };
    const fleet = createFleetHistory({ ...parts, leads: () => false, connectedHere: () => 0 });
    const disk = { databaseCheck: null, version: '', late: [], certificates: [], disk: null, signs: [], parts: [] };
    const service = createServiceHistory({ ...parts, state: async () => disk });
    await fleet.start();
    await service.start();
    const pass = async (milliseconds: number): Promise<void> => {
      clock.advance(milliseconds);
      await Promise.all([fleet.idle(), service.idle()]);
    };
    const made = (count: number): void => metrics.transactionsCreated.inc({ operation: 'setWifi' }, count);
    const created = async (): Promise<number> => {
      const rows = await database.read.all<{ created: number }>('SELECT created FROM fleet_history');
      return rows.reduce((sum, row) => sum + row.created, 0);
    };
    const accepted = async (): Promise<number> => {
      const rows = await database.read.all<{ figures: string }>('SELECT figures FROM service_history');
      return rows.reduce((sum, { figures }) => sum + JSON.parse(figures).accepted, 0);
    };
    database.loses = true;
    made(3);
    await pass(60_000);
    made(2);
    await pass(60_000);
    database.loses = false;
    made(1);
    await pass(60_000);
    await pass(60_000);
    t.equal(await created(), 6);
    t.equal(await accepted(), 6);
    await fleet[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });
});
