import t from 'tap';
import { open } from '../console/feed-client.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const FLUSH = 250;

t.test('the only reader of the feed is shown when a waiting command goes out', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const feed = await open(t, `${world.service.addresses.admin}/admin/v1/feed?topics=transactions`, {
    authorization: `Bearer ${world.service.adminToken}`,
  });
  const [waits] = (await feed.next('snapshot')).filter(({ key }: { key: string }) => key === String(transactionId));
  t.match(waits.value, { status: 'queued', publishedAt: null });
  await world.idle();
  world.clock.advance(FLUSH);
  const link = await world.connect(device);
  await link.command();
  await world.idle();
  world.clock.advance(FLUSH);
  t.match(await feed.next('change'), [{ key: String(transactionId), value: { status: 'queued', publishedAt: /Z$/ } }]);
  feed.stop();
});
