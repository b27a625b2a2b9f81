import t from 'tap';
import { startWorld } from '../world.ts';

t.test('a device that has never connected has no time at which it was last heard of', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const { deviceId } = await world.registerDevice();
  const read = async (what: string) => (await world.admin().get(`/admin/v1/devices/${deviceId}/${what}`)).body;
  t.match(await read('connection'), { connected: false, lastSeenAt: null });
});
