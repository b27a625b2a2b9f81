import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { twoNodes } from './nodes-world.ts';

interface Entry {
  at: string;
  kind: string;
  connection?: { reason: string | null; node: string };
}

t.test('the story of a device is the same at each node, and tells of a node that is gone', { skip }, async (t) => {
  const { world, device } = await twoNodes(t);
  const storyAt = async (node: number): Promise<Entry[]> => {
    world.clock.advance(5_000);
    await world.idle();
    const { body } = await world.admin({ node }).get(`/admin/v1/devices/${device.deviceId}/story`);
    return (body.entries as Entry[]).filter(({ connection }) => connection);
  };
  const endsAt = async (node: number): Promise<(string | null | undefined)[]> =>
    (await storyAt(node)).filter(({ kind }) => kind === 'ended').map(({ connection }) => connection?.reason);

  const next = await world.connect({ ...device, node: 1 });
  await device.link.closed;
  await until(async () => (await endsAt(0)).length === 1);
  t.same(await endsAt(1), ['elsewhere'], 'a login at another node ended the first connection');
  const story = await storyAt(0);
  t.same(story, await storyAt(1), 'both nodes tell the same');
  t.equal(new Set(story.filter(({ kind }) => kind === 'connected').map(({ connection }) => connection?.node)).size, 2);

  await t.test('a node that was killed wrote no ends: they are known when its lease has run out', async (t) => {
    const file = await world.raw();
    await file.all(`INSERT INTO node_lives (node_id, begun_at) VALUES ('node_killed', 0)`);
    await file.all(`UPDATE connection_log SET node_id = 'node_killed' WHERE is_open = 1`);
    await until(async () => (await endsAt(0)).length === 2);
    t.same(await endsAt(1), ['node_lost', 'elsewhere']);
    await next.drop();
    await until(async () => !(await endsAt(0)).includes('node_lost'));
    t.same(await endsAt(1), ['lost', 'elsewhere'], 'an end of its own counts more');
  });
});
