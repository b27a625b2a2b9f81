import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send } from '../stream/stream-world.ts';
import { startEndpoints } from './endpoint-world.ts';

onBoth(t, async (t, database) => {
  const { tenant, device, add, got, deliveries, later } = await startEndpoints(t, { database, keptDays: 1 });
  await t.test('an endpoint says that an event was removed which it had taken, and never got', async (t) => {
    const { at, receiver } = await add({ types: ['custom.*'] });
    receiver.answer({ status: 500 });
    await send(device.link, 'custom.lost');
    await got(receiver);
    await tenant.api.patch(at, { json: { enabled: false } });
    const [lost] = await deliveries(at);
    t.match(lost, { status: 'blocked' });
    for (let days = 0; days < 4; days += 1) await later(86_400_000);
    t.same(await deliveries(at), []);
    t.equal((await tenant.api.get(at)).body.passedOver, lost?.['sequence']);
    await tenant.api.delete(at);
  });
});
