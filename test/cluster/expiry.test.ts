import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { transactionIdOf, WIFI } from '../world.ts';
import { twoNodes } from './nodes-world.ts';

t.test('commands that expire, on two nodes', { skip }, async (t) => {
  const { world, tenant, device, elsewhere } = await twoNodes(t);
  const put = async (query: string): Promise<number> =>
    transactionIdOf(await elsewhere.put(`${device.path}/settings/wifi${query}`, { json: WIFI }));
  const read = async (id: number) => (await elsewhere.get(`${device.path}/transactions/${id}`)).body;

  await t.test('the node that leads ends what another node stored, once', async (t) => {
    const id = await put('?expireIn=60');
    await device.link.command();
    world.clock.advance(60_000);
    t.match((await tenant.event()).data.transaction, { transactionId: id, error: { code: 'EXPIRED' } });
    t.match(await device.link.command(), { transactionId: id, operation: 'cancel' });
    await world.idle();
    t.equal(tenant.receiver.requests.length, 2, 'one webhook, beside that of the activation');
  });

  await t.test('a command supersedes one that was stored and sent by another node', async (t) => {
    const older = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    t.match(await device.link.command(), { transactionId: older });
    const newer = await put('?supersede=true');
    t.match(await device.link.command(), { transactionId: older, operation: 'cancel' });
    t.match(await device.link.command(), { transactionId: newer, operation: 'setWifi' });
    t.match((await tenant.event()).data.transaction, { transactionId: older, supersededBy: newer });
  });

  await t.test('when the node that leads has gone, the other one ends the rest', async (t) => {
    await device.link.drop();
    const id = await put('?expireIn=60');
    await world.nodes[0]?.[Symbol.asyncDispose]();
    await until(async () => {
      world.clock.advance(5_000);
      return (await read(id)).status === 'failed';
    });
    t.match(await read(id), { error: { code: 'EXPIRED' } });
  });
});
