import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send } from '../stream/stream-world.ts';
import { until } from '../until.ts';
import { bodyOf, startEndpoints } from './endpoint-world.ts';

onBoth(t, async (t, database) => {
  const { world, tenant, device, add, another, got, page, deliveries, settled, later } = await startEndpoints(t, {
    database,
  });
  const ordered = (json: object = {}) => add({ ordered: 'device', types: ['custom.*'], ...json });

  await t.test('repeated events stay behind a newer one of their device that is refused', async (t) => {
    const { at, receiver } = await ordered();
    for (const type of ['custom.one', 'custom.two']) await send(device.link, type);
    await got(receiver);
    const { events } = await page('?types=custom.one');
    receiver.answer((request) => ({ status: bodyOf(request).type === 'custom.bad' ? 500 : 200 }));
    await send(device.link, 'custom.bad');
    await settled();
    const after = Number(events.at(-1)?.sequence) - 1;
    t.equal((await tenant.api.post(`${at}/replay`, { json: { after } })).status, 202);
    await settled();
    for (let step = 0; step < 10; step += 1) {
      world.clock.advance(13_000); // long enough for a look at what waits, too short for the next attempt
      await settled();
    }
    t.match(
      (await deliveries(at)).map(({ status }) => status),
      ['blocked', 'blocked', 'pending'],
    );
    await tenant.api.patch(at, { json: { description: 'changed' } });
    t.same(
      (await got(receiver)).map(({ type }) => type).filter((type) => type !== 'custom.bad'),
      ['custom.one', 'custom.two'],
      'none is sent beside the refused one',
    );
    receiver.requests.length = 0;
    receiver.answer({});
    await later(3600_000);
    const types = (await got(receiver)).map(({ type }) => type);
    t.same(types, ['custom.bad', 'custom.one', 'custom.two']);
    await tenant.api.delete(at);
  });

  await t.test('a replay does not overtake the place of its endpoint', async (t) => {
    const other = await another();
    const { at, receiver } = await add({ types: ['custom.*'] });
    receiver.answer({ status: 500 });
    for (let count = 0; count < 5; count += 1) await send(device.link, 'custom.down');
    await settled();
    await tenant.api.patch(at, { json: { ordered: 'device' } });
    for (let count = 0; count < 105; count += 1) await send(device.link, 'custom.first');
    for (let count = 0; count < 20; count += 1) await send(other.link, 'custom.then');
    await settled();
    const { events } = await page('?types=custom.then');
    const begun = await tenant.api.post(`${at}/replay`, { json: { after: Number(events[9]?.sequence) } });
    t.equal(begun.status, 202);
    receiver.requests.length = 0;
    receiver.answer({});
    await later(3600_000);
    await later(1_000); // a replay rests between its pieces, and so does its endpoint
    const seen = (await got(receiver)).filter(({ type }) => type === 'custom.then').map(({ sequence }) => sequence);
    t.same(
      seen,
      events.map(({ sequence }) => sequence),
    );
    await tenant.api.delete(at);
  });

  await t.test('a replay rests while its endpoint is down', async (t) => {
    const { at, receiver } = await add({ types: ['custom.*'] });
    receiver.answer({ status: 500 });
    for (let count = 0; count < 5; count += 1) await send(device.link, 'custom.down');
    await settled();
    t.equal((await tenant.api.post(`${at}/replay`, { json: {} })).status, 202);
    await later(6 * 60_000);
    t.match((await tenant.api.get(at)).body.replay, { events: 0 });
    receiver.answer({});
    for (let times = 0; times < 3; times += 1) await later(1800_000);
    t.equal((await tenant.api.get(at)).body.replay, null, 'it has gone on');
    await tenant.api.delete(at);
  });

  await t.test('events that wait are sent one after another when their endpoint becomes ordered', async (t) => {
    const { at, receiver } = await add({ types: ['custom.*'] });
    receiver.answer({ status: 500 });
    for (const type of ['custom.one', 'custom.two', 'custom.three']) await send(device.link, type);
    await settled();
    await tenant.api.patch(at, { json: { ordered: 'device' } });
    await settled();
    t.match(
      (await deliveries(at)).map(({ status }) => status),
      ['pending', 'blocked', 'blocked'],
    );
    receiver.requests.length = 0;
    receiver.answer({});
    await later(3600_000);
    t.same(
      (await got(receiver)).map(({ type }) => type),
      ['custom.one', 'custom.two', 'custom.three'],
    );
    await tenant.api.delete(at);
  });

  await t.test('an event that is skipped while it waits for its turn is not sent', async (t) => {
    const { at, receiver } = await add({ types: ['custom.*'] });
    receiver.answer({ hang: true });
    for (let count = 0; count < 4; count += 1) await send(device.link, 'custom.hangs');
    await until(() => receiver.requests.length === 4);
    await send(device.link, 'custom.skipped');
    await send(device.link, 'custom.kept');
    await until(async () => (await deliveries(at)).length === 6);
    const skipped = (await deliveries(at))[4];
    t.match(skipped, { status: 'pending', type: 'custom.skipped' });
    t.equal((await tenant.api.post(`${at}/deliveries/${skipped?.['sequence']}/skip`)).status, 204);
    receiver.answer({});
    world.clock.advance(20_000);
    await settled();
    await later(3600_000);
    const types = (await got(receiver)).map(({ type }) => type);
    t.ok(types.includes('custom.kept'));
    t.notOk(types.includes('custom.skipped'));
    await tenant.api.delete(at);
  });
});
