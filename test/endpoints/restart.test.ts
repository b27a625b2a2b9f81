import t from 'tap';
import { missing } from '../installed.ts';
import { send } from '../stream/stream-world.ts';
import { bodyOf, startEndpoints } from './endpoint-world.ts';

t.test('an endpoint goes on after a restart where it was', async (t) => {
  const { world, tenant, device, add, got, deliveries } = await startEndpoints(t);
  const { at, receiver } = await add({ ordered: 'device', types: ['custom.*'] });
  receiver.answer((request) => ({ status: bodyOf(request).type === 'custom.two' ? 500 : 200 }));
  for (const type of ['custom.one', 'custom.two', 'custom.three']) await send(device.link, type);
  await got(receiver);
  await world.restart();
  await tenant.renew();
  receiver.answer({});
  Object.assign(device, { link: await world.connect(device) });
  await send(device.link, 'custom.four');
  world.clock.advance(6 * 60_000);
  const types = (await got(receiver)).map(({ type }) => type);
  t.same([...new Set(types)], ['custom.one', 'custom.two', 'custom.three', 'custom.four']);
  t.match(
    (await deliveries(at)).map(({ status }) => status),
    Array(4).fill('delivered'),
  );
});

t.test('a delivery that waits for a time of a clock that leapt is sent after a restart', async (t) => {
  const { world, tenant, device, add, got, deliveries } = await startEndpoints(t);
  const { at, receiver } = await add({ ordered: 'device', types: ['custom.*'] });
  receiver.answer({ status: 500 });
  for (const type of ['custom.one', 'custom.two']) await send(device.link, type);
  await got(receiver);
  await world.restart(async () => {
    receiver.answer({});
    const raw = await world.raw();
    await raw.exec('UPDATE endpoint_deliveries SET next_attempt_at = next_attempt_at + 86400000000 * 400');
  });
  await tenant.renew();
  await got(receiver);
  t.match(
    (await deliveries(at)).map(({ status }) => status),
    ['delivered', 'delivered'],
  );
});

t.test(
  'one node of several sends to an endpoint, whichever node makes it or its events',
  { skip: missing.postgres() },
  async (t) => {
    const { tenant, device, path, add, got, settled } = await startEndpoints(t, { nodes: 3 });
    const api = await tenant.at(1);
    const { at, receiver } = await add({ types: ['custom.*'], ordered: 'device' });
    const at2 = await tenant.at(2);
    const other = await at2.post(path, { json: { url: receiver.url, types: ['custom.*'] } });
    t.equal(other.status, 201);
    await settled();
    for (let count = 0; count < 10; count += 1) await send(device.link, `custom.n${count}`);
    await settled();
    const seen = await got(receiver);
    const counts = Map.groupBy(seen, ({ type }) => type);
    t.same(
      [...counts.values()].map(({ length }) => length),
      Array(10).fill(2),
      'each endpoint has got each event once',
    );
    t.equal((await api.patch(at, { json: { enabled: false } })).status, 200);
    t.equal((await at2.delete(`${path}/${other.body.endpointId}`)).status, 204);
    await send(device.link, 'custom.last');
    t.equal((await got(receiver)).length, 20, 'nothing comes behind a change at any node');
  },
);
