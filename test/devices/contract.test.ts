import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { startWorld } from '../world.ts';

const HOUR = 3_600_000;

onBoth(t, async (t, database) => {
  const world = await startWorld(t, { database });
  const tenant = await world.createTenant('few', { deviceLimit: 3 });

  let { api } = tenant;

  async function activate(): Promise<number> {
    const { deviceId } = await world.registerDevice('few');
    const { status } = await api.post(`${tenant.path}/devices/${deviceId}`, { json: {} });
    return status;
  }
  const release = (deviceId: string) => world.admin().delete(`/admin/v1/devices/${deviceId}?force=true`);
  const statuses = async (count: number): Promise<number[]> =>
    (await Promise.all(Array.from({ length: count }, activate))).sort((one, other) => one - other);

  await t.test('a contract holds for activations at the same time', async (t) => {
    t.same(await statuses(7), [201, 201, 201, 403, 403, 403, 403]);
  });

  await t.test('a place that comes free is given again, once', async (t) => {
    const { body } = await world.admin().get('/admin/v1/devices?developerId=few&limit=100');
    const held = (body.devices as { deviceId: string; activation: string }[]).filter(
      ({ activation }) => activation !== 'deactivated',
    );
    t.equal(held.length, 3);
    for (let round = 0; round < 3; round += 1) {
      t.equal((await release(held[round]!.deviceId)).status, 204);
      t.same(await statuses(2), [201, 403]);
    }
  });

  await t.test('a contract that is changed holds at once', async (t) => {
    const change = (deviceLimit: number) => world.admin().patch('/admin/v1/developers/few', { json: { deviceLimit } });
    t.equal((await change(5)).status, 200);
    t.same(await statuses(3), [201, 201, 403]);
    t.equal((await change(4)).status, 200);
    t.same(await statuses(1), [403]);
    t.equal((await change(100)).status, 200);
  });

  await t.test('devices that a node of a former release has activated are counted after an hour', async (t) => {
    await (await world.raw()).exec(
      `INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at)
       SELECT 'former' || n, 'few', credential_hash, 'activating', 0 FROM devices
       JOIN (${Array.from({ length: 94 }, (_, n) => `SELECT ${n} AS n`).join(' UNION ALL ')}) AS numbers ON TRUE
       WHERE device_id = (SELECT MIN(device_id) FROM devices)`,
    );
    t.same(await statuses(1), [201], 'the hundredth');
    t.same(await statuses(1), [201], 'nobody has counted');
    world.clock.advance(HOUR);
    await world.idle();
    api = await world.clientOf(tenant.applicationId, tenant.secret); // the first token has expired
    t.same(await statuses(1), [403]);
  });
});
