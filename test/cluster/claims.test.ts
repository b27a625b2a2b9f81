import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import type { World } from '../world.ts';
import { put, twoNodes } from './nodes-world.ts';

/** The attempts of a transaction that are counted in the database. */
async function attemptsOf(world: World, transactionId: number): Promise<number | undefined> {
  const raw = await world.raw();
  const rows = await raw.all<{ attempts: number }>(
    'SELECT attempts FROM transactions WHERE transaction_id = ?',
    transactionId,
  );
  return rows[0]?.attempts;
}

t.test('the node of the device claims a command in the commit that stores it', { skip }, async (t) => {
  const { world, tenant, device, elsewhere } = await twoNodes(t, { loses: ({ kind }) => kind === 'wake' });
  const here = await put(tenant.api, device.path);
  t.equal(await attemptsOf(world, here), 1, 'its attempt is counted when the call is answered');
  t.match(await device.link.command(), { transactionId: here, attempt: 1 });
  const there = await put(elsewhere, device.path);
  await world.idle();
  t.equal(await attemptsOf(world, there), 0, 'another node leaves the claim to it, by a hint that is lost here');
  const next = await put(tenant.api, device.path);
  t.same(
    [await device.link.command(), await device.link.command()].map(({ transactionId }) => transactionId),
    [there, next],
    'and with its own next command it claims that one first',
  );
});

t.test('a node that has lost the device claims nothing for it', { skip }, async (t) => {
  const { world, tenant, device, elsewhere } = await twoNodes(t, {
    loses: ({ kind }) => kind === 'close' || kind === 'wake',
  });
  const link = await world.connect({ ...device, node: 1 });
  await world.idle(); // it has looked for commands
  const stale = await put(tenant.api, device.path);
  await world.idle();
  t.equal(await attemptsOf(world, stale), 0, 'though it did not hear that the device has left');
  await device.link.closed;
  t.same(device.link.pending('publish'), []);
  const next = await put(elsewhere, device.path);
  for (const transactionId of [stale, next]) t.match(await link.command(), { transactionId, attempt: 1 });
});
