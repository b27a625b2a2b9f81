import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { twoNodes } from './nodes-world.ts';

t.test('a removal on two nodes', { skip }, async (t) => {
  const { world, tenant, device } = await twoNodes(t);
  const other = await world.activatedDevice(tenant, { node: 1 });
  const raw = await world.raw();
  const admin = world.admin({ node: 1 });
  const undo = await raw.breakWrites('DELETE ON devices');
  const { body: asked } = await admin.post('/admin/v1/developers/dev/removal', { json: { confirmation: 'dev' } });
  const read = async () => (await admin.get(`/admin/v1/removals/${asked.removalId}`)).body;
  const passes = (wanted: () => Promise<boolean>): Promise<void> =>
    until(async () => {
      world.clock.advance(1_000);
      return wanted();
    });
  const removedBy = async (node: number): Promise<number> =>
    ((await world.nodes[node]?.metrics.removalRemoved.get())?.values ?? []).reduce((sum, { value }) => sum + value, 0);

  await t.test('the connections of its devices to both nodes end, and neither node lets one in', async (t) => {
    await passes(async () => (await read()).step === 'devices');
    await Promise.all([device.link.closed, other.link.closed]);
    t.match(await read(), { state: 'running', removed: { connections: 2, devices: 0 } });
    for (const node of [0, 1])
      t.equal((await (await world.open({ ...device, node })).login()).returnCode, 5, `node ${node}`);
  });

  await t.test('one node does the work; when it has gone, the other one goes on and ends it', async (t) => {
    t.equal(await removedBy(1), 0);
    t.equal(await removedBy(0), 2);
    await world.nodes[0]?.[Symbol.asyncDispose]();
    await undo();
    await passes(async () => (await read()).state === 'ended');
    t.match((await read()).removed, { connections: 2, devices: 2, applications: 1 });
    t.ok((await removedBy(1)) > 2);
    t.match(await admin.get('/admin/v1/developers/dev'), { status: 404 });
    const [owners] = await raw.all<{ count: number }>('SELECT count(*) AS count FROM device_owners');
    t.equal(owners?.count, 0);
  });
});
