import t from 'tap';
import { type Item, open } from '../console/feed-client.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const FLUSH = 250;

t.test('a reader of the feed is shown a delivery that is stored only when the time of its command ends', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const feed = await open(t, `${world.service.addresses.admin}/admin/v1/feed?topics=transactions`, {
    authorization: `Bearer ${world.service.adminToken}`,
  });
  await feed.next('snapshot');
  const transactionId = transactionIdOf(
    await tenant.api.put(`${device.path}/settings/wifi?expireIn=60`, { json: WIFI }),
  );
  const { packet } = await device.link.command();
  await world.idle();
  world.clock.advance(FLUSH);
  t.match(await feed.next('change'), [{ key: String(transactionId), value: { status: 'queued' } }]);
  await world.idle();
  world.clock.advance(60_000 - FLUSH - 1);
  device.link.puback(packet);
  device.link.publish('status', {});
  await device.link.next('puback');
  world.clock.advance(1); // before the delivery is stored by itself
  await world.idle();
  world.clock.advance(FLUSH);
  const change: Item[] = await feed.next('change');
  t.match(change, [{ key: String(transactionId), value: { status: 'delivered', completedAt: null } }]);
  feed.stop();
});
