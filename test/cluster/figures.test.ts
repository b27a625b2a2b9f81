import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { QUICK } from './members.ts';
import { nodesSeen, twoNodes } from './nodes-world.ts';

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
  for (const node of [0, 1]) {
    const { nodes } = (await world.admin({ node }).get('/admin/v1/nodes')).body;
    t.match(nodes, [{ state: 'alive' }, { state: 'alive' }]);
    t.equal(
      nodes.findIndex(({ isSelf }: { isSelf: boolean }) => isSelf),
      node,
    );
    t.ok(nodes.every(({ leaseSeconds }: { leaseSeconds: number }) => leaseSeconds > 0));
    const { alarms } = (await world.admin({ node }).get('/admin/v1/fleet/alarms')).body;
    t.same(
      alarms.filter(({ kind }: { kind: string }) => kind === 'node'),
      [],
    );
  }
  const rows = await (await world.raw()).all<{ node_id: string; shared: number }>(
    'SELECT node_id, CAST(SUM(CASE WHEN devices IS NULL THEN 0 ELSE 1 END) AS INTEGER) AS shared FROM fleet_history GROUP BY node_id',
  );
  t.equal(rows.length, 2);
  t.equal(rows.filter(({ shared }) => shared > 0).length, 1, 'one of them counts for all');
});

t.test('a node that ends without a word is missing, and the others say so', { skip }, async (t) => {
  const { world, wires } = await twoNodes(t, { lease: QUICK });
  const admin = world.admin();
  const missing = async () => {
    world.clock.advance(11_000);
    return (await admin.get('/admin/v1/nodes')).body.nodes.filter(
      ({ state }: { state: string }) => state === 'missing',
    );
  };
  t.same(await missing(), []);
  wires[1]?.cut('lapel lease', true);
  await nodesSeen(world, 0, 1);
  t.match(await missing(), [{ isSelf: false, devices: null }]);
  const { alarms } = (await admin.get('/admin/v1/fleet/alarms')).body;
  t.match(
    alarms.find(({ kind }: { kind: string }) => kind === 'node'),
    { level: 'critical', text: /missing/ },
  );
});
