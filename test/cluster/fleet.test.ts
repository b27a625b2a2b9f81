import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { put, twoNodes } from './nodes-world.ts';

t.test('administration at any node sees and ends the connections of all', { skip }, async (t) => {
  const { world, device, elsewhere } = await twoNodes(t);
  const { deviceId, link, path } = device;
  const { deviceId: silent } = await world.registerDevice();
  const [here, there] = [world.admin(), world.admin({ node: 1 })];
  const waiting = await put(elsewhere, path);
  await link.command();
  for (const admin of [here, there]) {
    const idsOf = async (query: string): Promise<string[]> =>
      (await admin.get(`/admin/v1/devices?${query}`)).body.devices.map((row: { deviceId: string }) => row.deviceId);
    t.same(await idsOf('connected=true'), [deviceId]);
    t.same(await idsOf('connected=false'), [silent]);
    t.match((await admin.get('/admin/v1/devices?limit=1')).body.devices, [{ connected: true, unfinished: 1 }]);
  }
  const connection = `/admin/v1/devices/${deviceId}/connection`;
  const known = (await here.get(connection)).body;
  t.match(known, { connected: true, transport: 'mqtt', node: /^node_/, session: { subscriptions: { length: 3 } } });
  t.same((await there.get(connection)).body, {
    ...known,
    since: null,
    address: null,
    transport: null,
    keepAliveSeconds: null,
    protocol: null,
    // This node reads the time in the database, and the node of the device stores it there within seconds.
    lastSeenAt: (await there.get(connection)).body.lastSeenAt,
  });

  t.equal((await there.delete(connection)).status, 204);
  await link.closed;
  await world.idle();
  for (const admin of [here, there]) t.match((await admin.get(connection)).body, { connected: false, node: null });
  const again = await world.connect({ ...device, node: 1 });
  t.match(await again.command(), { transactionId: waiting, attempt: 2 }, 'it may come back at once');
  t.equal((await here.delete(`/admin/v1/transactions/${waiting}`)).status, 204);
  t.match(await again.command(), { operation: 'cancel', transactionId: waiting });
});
