import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { QUICK } from './members.ts';
import { carryOut, nodesSeen, put, twoNodes } from './nodes-world.ts';

t.test('of many logins of a device at once, at all nodes, exactly one stays', { skip }, async (t) => {
  const { world, tenant, device, elsewhere } = await twoNodes(t);
  const links = await Promise.all(Array.from({ length: 8 }, (_, index) => world.open({ ...device, node: index % 2 })));
  const open = new Set(links);
  for (const link of links) void link.closed.then(() => open.delete(link));
  await Promise.allSettled(links.map((link) => link.login()));
  await device.link.closed;
  while (open.size > 1) await Promise.race([...open].map((link) => link.closed));
  const [last] = open;
  t.ok(last);
  if (last) await carryOut(t, last, tenant, [await put(elsewhere, device.path), await put(tenant.api, device.path)]);
  t.equal(open.size, 1);
  t.match((await elsewhere.get(`${device.path}/status`)).body, { connected: true });
});

t.test('a login with a credential that is being replaced is refused', { skip }, async (t) => {
  const { world, device } = await twoNodes(t);
  for (let time = 0; time < 5; time += 1) {
    const link = await world.open({ ...device, node: 1 });
    const [, login] = await Promise.allSettled([
      world.admin().post(`/admin/v1/devices/${device.deviceId}/credential`, { json: {} }),
      link.login(),
    ]);
    if (login?.status === 'fulfilled' && login.value.returnCode === 0) await link.closed;
    else t.pass('it was refused');
    const { body } = await world.admin().post(`/admin/v1/devices/${device.deviceId}/credential`, { json: {} });
    device.credential = body.credential;
  }
});

t.test(
  'the will of a device whose node died is published if the device does not come back in time',
  { skip },
  async (t) => {
    const { world, tenant, device, wires } = await twoNodes(t, { lease: QUICK });
    const back = await world.activatedDevice(tenant);
    const will = (of: typeof device, transactionId: number) => ({
      topic: `devices/${of.deviceId}/acks`,
      payload: Buffer.from(JSON.stringify({ transactionId, status: 'failed' })),
      qos: 1,
    });
    const [gone, kept] = [await put(tenant.api, device.path), await put(tenant.api, back.path)];
    const links = [
      await world.connect({ ...device, connect: { will: will(device, gone) } }),
      await world.connect({ ...back, connect: { will: will(back, kept) } }),
    ];
    wires[0]?.cut('lapel lease', true);
    await Promise.all(links.map((link) => link.closed));
    await nodesSeen(world, 1, 1);
    const again = await world.connect({ ...back, node: 1 });
    const look = async (): Promise<void> => {
      world.clock.advance(60_000);
      await world.nodes[1]?.idle();
    };
    await look();
    t.equal(tenant.receiver.requests.length, 2, 'not at once: it can still come back');
    await look();
    t.match((await tenant.event()).data.transaction, { transactionId: gone, status: 'failed' });
    await carryOut(t, again, tenant, [kept]);
  },
);
