import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { twoNodes } from './nodes-world.ts';

t.test('figures of the fleet are those of all nodes', { skip }, async (t) => {
  const { world } = await twoNodes(t, { keepsHistory: true });
  await world.connect({ ...(await world.registerDevice()), node: 1 });
  for (let slot = 0; slot < 2; slot += 1) {
    world.clock.advance(10_000);
    await world.idle();
  }
  for (const node of [0, 1]) {
    const admin = world.admin({ node });
    t.match((await admin.get('/admin/v1/fleet/summary')).body, {
      nodes: 2,
      devices: { total: 2, activated: 1, connected: 2 },
    });
    const { points } = (await admin.get('/admin/v1/fleet/history?since=2026-11-20T09:00:00Z')).body;
    t.match(points.at(-1), { devices: 2, activated: 1, connected: 2 });
    const created = points.reduce((sum: number, point: { created: number }) => sum + point.created, 0);
    t.equal(created, 1, 'what one of them has done counts once');
  }
  const rows = await (await world.raw()).all<{ node_id: string; shared: number }>(
    'SELECT node_id, CAST(SUM(CASE WHEN devices IS NULL THEN 0 ELSE 1 END) AS INTEGER) AS shared FROM fleet_history GROUP BY node_id',
  );
  t.equal(rows.length, 2);
  t.equal(rows.filter(({ shared }) => shared > 0).length, 1, 'one of them counts for all');
});
