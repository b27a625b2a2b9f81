import t from 'tap';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';

/** Lets the slow look pass over everything twice. */
async function pass(world: World): Promise<void> {
  for (let second = 0; second < 4; second += 1) {
    world.clock.advance(1_000);
    await world.idle();
    await world.admin().get('/admin/v1/overview'); // a round trip, in which the reads of the look end
  }
}

const countOf = async (world: World, what: string): Promise<number> =>
  (await world.service.metrics.overlooked.get()).values.find(({ labels }) => labels.what === what)?.value ?? 0;

t.test('a command whose wake-up was lost is told, and sent', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await device.link.drop();
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const raw = await world.raw();
  await raw.exec(`UPDATE transactions SET due = 0 WHERE transaction_id = ${transactionId}`);
  const link = await world.connect(device);
  await pass(world);
  t.equal(await countOf(world, 'commands'), 0);
  await raw.exec(`UPDATE transactions SET due = 1 WHERE transaction_id = ${transactionId}`);
  await pass(world);
  t.match(await link.command(), { transactionId });
  t.equal(await countOf(world, 'commands'), 1);
});

t.test('a request and an answer whose wake-up was lost are told, and go on', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const raw = await world.raw();
  const answer = async (): Promise<void> => {
    const packet = await link.next('publish');
    t.match(JSON.parse(packet.payload.toString()), { requestId: 'r' });
    link.puback(packet);
    link.send({ cmd: 'pingreq' });
    await link.next('pingresp');
    await world.idle();
  };
  link.publish('requests', { requestId: 'r', type: 'weather', data: {} });
  await answer();
  await pass(world);
  for (const [what, column] of [
    ['responses', ''],
    ['requests', 'answer = NULL, '],
  ] as const) {
    t.equal(await countOf(world, what), 0);
    await raw.exec(`UPDATE device_requests SET ${column}done_at = NULL`);
    await pass(world);
    await answer();
    t.equal(await countOf(world, what), 1);
  }
});
