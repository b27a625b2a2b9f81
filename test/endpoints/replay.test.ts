import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send } from '../stream/stream-world.ts';
import { startEndpoints } from './endpoint-world.ts';

onBoth(t, async (t, database) => {
  const { world, tenant, device, add, got, page, deliveries, settled, later } = await startEndpoints(t, { database });
  for (let count = 0; count < 5; count += 1) await send(device.link, 'custom.old');
  await send(device.link, 'custom.else');
  await settled();
  const since = world.clock.now();
  await later(60_000);

  await t.test('a new endpoint gets events of before by a replay, which can be counted first', async (t) => {
    const { at, receiver } = await add({ types: ['custom.*'] });
    const counted = await tenant.api.post(`${at}/replay`, { json: { dryRun: true } });
    t.match(counted, { status: 202, body: { events: 6, replay: null } });
    t.match((await tenant.api.post(`${at}/replay`, { json: { types: ['custom.old'], dryRun: true } })).body, {
      events: 5,
    });
    t.same(await got(receiver), [], 'counting sends nothing');
    const begun = await tenant.api.post(`${at}/replay`, { json: {} });
    t.match(begun, { status: 202, body: { events: 6, replay: { events: 0 } } });
    await later(2_000);
    const seen = await got(receiver);
    t.equal(seen.length, 6);
    const { events } = await page('?types=custom.*');
    t.same(
      receiver.requests.map(({ headers }) => String(headers['webhook-id'])).sort(),
      events.map(({ eventId }) => eventId).sort(),
      'with the ids that they always had',
    );
    t.equal((await tenant.api.get(at)).body.replay, null, 'it has ended');
    await tenant.api.delete(at);
  });

  await t.test('what an endpoint has got is sent once more, and what comes meanwhile once', async (t) => {
    const { at, receiver } = await add({ types: ['custom.*'], ordered: 'device' });
    for (let count = 0; count < 3; count += 1) await send(device.link, 'custom.new');
    await got(receiver);
    receiver.requests.length = 0;
    const { events } = await page('?types=custom.new');
    const after = Number(events.at(-3)?.sequence) - 1;
    t.equal((await tenant.api.post(`${at}/replay`, { json: { after } })).status, 202);
    await send(device.link, 'custom.meanwhile');
    await later(2_000);
    const types = (await got(receiver)).map(({ type }) => type);
    t.same(types.filter((type) => type === 'custom.new').length, 3);
    t.same(types.filter((type) => type === 'custom.meanwhile').length, 1);
    t.match(
      (await deliveries(at)).map(({ status, type }) => `${status} ${type}`),
      [...Array(3).fill('delivered custom.new'), 'delivered custom.meanwhile'],
    );
    await tenant.api.delete(at);
  });

  await t.test('a replay of a time has the events of that time', async (t) => {
    const { at, receiver } = await add({ types: ['custom.*'] });
    const time = new Date((since + 1_000_000) / 1000).toISOString();
    const { body } = await tenant.api.post(`${at}/replay`, { json: { until: time } });
    t.equal(body.events, 6);
    await later(2_000);
    t.equal((await got(receiver)).length, 6);
    t.equal(
      (await tenant.api.post(`${at}/replay`, { json: { since: time, until: time, dryRun: true } })).body.events,
      0,
    );
    await tenant.api.delete(at);
  });

  await t.test('an application has one replay at a time, which can be cancelled', async (t) => {
    const [one, other] = [await add(), await add()];
    one.receiver.answer({ status: 500 });
    for (let count = 0; count < 5; count += 1) await send(device.link, 'custom.fails');
    await got(one.receiver);
    t.equal(
      (await tenant.api.post(`${one.at}/replay`, { json: {} })).status,
      202,
      'it waits while the endpoint is down',
    );
    const refused = await tenant.api.post(`${other.at}/replay`, { json: {} });
    t.match(refused, { status: 409, headers: { 'lapel-error-code': 'REPLAY_RUNNING' } });
    t.match(refused.body.message, one.endpoint['endpointId']);
    t.match((await tenant.api.get(one.at)).body.replay, { replayId: String, events: Number });
    t.equal((await tenant.api.delete(`${one.at}/replay`)).status, 204);
    t.equal((await tenant.api.delete(`${one.at}/replay`)).status, 404);
    t.equal((await tenant.api.post(`${other.at}/replay`, { json: {} })).status, 202);
    const began = await tenant.api.patch(one.at, { json: { description: 'as before' } });
    t.equal(began.body.replay, null);
    await later(60_000);
    t.equal((await tenant.api.post(`${one.at}/replay`, { json: {} })).status, 202);
    const off = await tenant.api.patch(one.at, { json: { enabled: false } });
    t.equal(off.body.replay, null, 'a replay ends with the work of its endpoint, and keeps no place of others');
    const disabled = await tenant.api.post(`${one.at}/replay`, { json: {} });
    t.match(disabled, { status: 409, headers: { 'lapel-error-code': 'ENDPOINT_DISABLED' } });
    for (const { at } of [one, other]) await tenant.api.delete(at);
  });
});
