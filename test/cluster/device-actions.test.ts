import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { twoNodes } from './nodes-world.ts';

t.test('a device action on two nodes', { skip }, async (t) => {
  const { world, tenant, device } = await twoNodes(t);
  const other = await world.activatedDevice(tenant, { node: 1 });
  const admin = world.admin({ node: 1 });
  const path = '/admin/v1/device-actions';
  async function run(json: object) {
    const begun = await admin.post(path, { json });
    t.equal(begun.status, 201, JSON.stringify(begun.body));
    const read = async () => (await admin.get(`${path}/${begun.body.actionId}`)).body;
    await until(async () => {
      world.clock.advance(1_000);
      return (await read()).endedAt !== null;
    });
    return read();
  }
  const all = { applicationId: tenant.applicationId };

  await t.test('the node that leads carries it out, also for devices of the other node', async (t) => {
    t.match(await run({ action: 'block', filter: { ...all, connected: true } }), { counts: { done: 2 } });
    await Promise.all([device.link.closed, other.link.closed]);
    t.match(await run({ action: 'unblock', filter: { blocked: true } }), { counts: { done: 2 } });
  });

  await t.test('what it ends is told once', async (t) => {
    await tenant.api.put(`${other.path}/settings/lang`, { json: { lang: 'ja' } });
    t.match(await run({ action: 'cancel', filter: all, confirm: 2 }), { counts: { done: 1, unchanged: 1 } });
    t.match(await tenant.event(), { type: 'transaction.cancelled' });
    t.match(await run({ action: 'delete', filter: all, force: true, confirm: 2 }), { counts: { done: 2 } });
    const ended = [await tenant.event(), await tenant.event()];
    t.match(ended, [{ type: 'transaction.succeeded' }, { type: 'transaction.succeeded' }]);
    t.equal(tenant.receiver.requests.length, 5, 'two activations, a cancel and two deactivations');
  });
});
