import t from 'tap';
import { dueOfSettings } from '../../src/core/webhooks/delivery-repository.ts';
import { openTestDatabase } from '../applications/tenant.ts';

const SECOND = 1_000_000;

t.test('deliveries of a later time keep their waits, and are moved in pieces', async (t) => {
  const { database } = openTestDatabase(t);
  const now = 1_000 * SECOND;
  const changedAt = now + 600 * SECOND;
  const waits = [0, 1, 2, 3, -5].map((seconds) => seconds * SECOND);
  await database.transact(async (unit) => {
    for (const [place, wait] of waits.entries())
      await unit.run(
        `INSERT INTO deliveries (application_id, delivery_id, setting, type, body, status, attempts, next_attempt_at, created_at,
           updated_at, round) VALUES ('app', ?, 'deviceEvent', 'x', '', 'pending', 0, ?, 0, ?, 0)`,
        `evt_${place}`,
        changedAt + wait,
        changedAt,
      );
    await unit.run(
      `INSERT INTO deliveries (application_id, delivery_id, setting, type, body, status, attempts, next_attempt_at, created_at,
         updated_at, round) VALUES ('app', 'evt_own', 'deviceEvent', 'x', '', 'pending', 1, ?, 0, ?, 0)`,
      now + 3_600 * SECOND,
      now,
    );
  });
  const which = { now, ahead: now + 30 * SECOND, mostAttempts: 9 };
  const pull = (after?: (string | number | Buffer | null)[]) =>
    database.transact((unit) => dueOfSettings.pullBack(unit, which, after, 3));
  const first = await pull();
  t.same(first, { pulled: 3, last: ['app', 'evt_2'] });
  t.same(await pull(first.last), { pulled: 2, last: undefined });
  t.same(await pull(), { pulled: 0, last: undefined });
  const rows = await database.read.all<{ at: number }>(
    'SELECT next_attempt_at AS at FROM deliveries ORDER BY delivery_id',
  );
  t.same(
    rows.map(({ at }) => (at - now) / SECOND),
    [0, 1, 2, 3, 0, 3_600],
  );
});
