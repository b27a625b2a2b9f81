import { DomainError } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { createConnectionLog, KEPT_PER_HOUR } from '../../src/core/sessions/connection-log.ts';
import { listFacts } from '../../src/core/sessions/connection-log-repository.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Transact } from '../../src/platform/database/sql.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import { createFakeClock } from '../fake-clock.ts';

const FROM = { address: '192.0.2.1', transport: 'mqtts' };

onBoth(t, async (t, kind) => {
  await t.test('facts about connections whose commit lost its answer are stored once, as they are now', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const clock = createFakeClock();
    let loses = true;
    const transact: Transact = async (work, options) => {
      const result = await database.transact(work, options);
      if (loses && options?.pace === 'soon') throw new DomainError('DATABASE_UNAVAILABLE');
      return result;
    };
    const facts = createConnectionLog({
      clock,
      ids: randomIds,
      log: createLog({ level: 'silent' }),
      metrics: createMetrics(),
      nodeId: () => '',
      database: { ...database, transact },
    });
    await database.transact(async (unit) => {
      await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('x', 'x', 0)");
      await unit.run(
        `INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at)
         VALUES ('d', 'x', '', 'deactivated', 0)`,
      );
    });
    const stored = async (): Promise<string[]> => {
      clock.advance(15_000);
      await facts.idle();
      const rows = await listFacts(database.read, 'd', { since: 0, until: 1e17, from: '', before: 'z', limit: 99 });
      return rows.map(({ kind, isOpen, count }) => `${kind} ${isOpen} ${count}`);
    };
    const first = facts.connected('d', FROM);
    t.same(await stored(), ['connected 1 1']);
    facts.ended('d', first, 'lost');
    t.same((await stored()).toSorted(), ['connected 0 1', 'ended 0 1']);
    loses = false;
    t.same((await stored()).toSorted(), ['connected 0 1', 'ended 0 1']);

    loses = true;
    for (let times = 0; times < KEPT_PER_HOUR; times += 1) facts.refused('d', 'credentials', FROM);
    await stored();
    loses = false;
    t.equal((await stored()).filter((row) => row === 'refused 0 1').length, KEPT_PER_HOUR, 'each counts once');
    await facts[Symbol.asyncDispose]();
  });
});
