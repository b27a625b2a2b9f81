import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('a device can be taken away from a customer who is gone', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant('gone', { deviceLimit: 1 });
  const device = await world.activatedDevice(tenant);
  const path = `/admin/v1/devices/${device.deviceId}`;
  const first = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  device.link.puback((await device.link.command()).packet);
  await device.link.drop();
  const second = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));

  t.equal((await world.admin().delete(path)).status, 409, 'not without force');
  t.equal((await world.admin().delete(`${path}?force=yes`)).status, 400);
  t.equal((await world.admin().delete(`${path}?force=false`)).status, 409);
  t.equal((await world.admin().delete(`${path}?force=true`)).status, 204);
  t.equal((await world.admin().get(path)).status, 404);

  await world.idle();
  const told = [await tenant.event(), await tenant.event(), await tenant.event()].map(({ type, data }) => ({
    type,
    operation: data.transaction['operation'],
    result: data.transaction['result'],
    transactionId: data.transaction['transactionId'],
  }));
  t.match(
    told.toSorted((a, b) => Number(a.transactionId) - Number(b.transactionId)),
    [
      { type: 'transaction.cancelled', operation: 'setWifi', transactionId: first },
      { type: 'transaction.cancelled', operation: 'setWifi', transactionId: second },
      { type: 'transaction.succeeded', operation: 'deactivate', result: { by: 'administration' } },
    ],
    'its application is told of each, once',
  );
  t.equal((await (await world.open(device)).login()).returnCode, 4, 'it cannot log in any more');

  const other = await world.activatedDevice(tenant);
  t.ok(other, 'its place in the contract is free');
  const heir = await world.createTenant('heir');
  const { credential } = (
    await world.admin().post('/admin/v1/developers/heir/devices', { json: { deviceId: device.deviceId } })
  ).body;
  const link = await world.connect({ deviceId: device.deviceId, credential });
  await world.idle();
  t.same(link.pending('publish'), [], 'who has it next hears nothing of what was cancelled');
  t.equal((await heir.api.get(`${heir.path}/devices/${device.deviceId}/transactions`)).body.total, 0);
});

t.test('a device that is about to be activated can be taken away as well', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant('gone', { deviceLimit: 1 });
  const device = await world.registerDevice('gone');
  await tenant.api.post(`${tenant.path}/devices/${device.deviceId}`, { json: {} });
  t.equal((await world.admin().delete(`/admin/v1/devices/${device.deviceId}?force=true`)).status, 204);
  t.match(await tenant.event(), { type: 'transaction.cancelled', data: { transaction: { operation: 'activate' } } });
  t.ok(await world.activatedDevice(tenant), 'its place in the contract is free');
});
