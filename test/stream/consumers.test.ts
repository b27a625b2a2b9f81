import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send, startStream } from './stream-world.ts';

onBoth(t, async (t, database) => {
  const { world, tenant, device, events, page } = await startStream(t, { database });
  const { api } = tenant;
  for (let count = 0; count < 3; count += 1) await send(device.link);
  await world.idle();
  const [first, second, third] = (await page('?types=custom.sos')).events.map(({ sequence }) => sequence);
  const at = (name: string): string => `${events}/consumers/${name}`;

  await t.test('a consumer keeps its place, and tells how far behind it is', async (t) => {
    t.equal((await api.get(at('billing'))).status, 404);
    const made = await api.put(at('billing'), { json: { after: first } });
    t.match(made, { status: 200, body: { name: 'billing', after: first, lag: { events: 2 } } });
    world.clock.advance(5_000);
    const read = await api.get(at('billing'));
    t.match(read.body.lag, { events: 2, seconds: 5 });
    t.equal(read.headers['etag'], made.headers['etag']);
    t.match((await api.put(at('billing'), { json: { after: third } })).body, { lag: { events: 0, seconds: 0 } });
    t.match((await api.get(`${events}/consumers`)).body, { consumers: [{ name: 'billing', after: third }] });
  });

  await t.test('of two workers with one consumer, the slower one is told', async (t) => {
    const { headers } = await api.put(at('shared'), { json: { after: first } });
    const tag = { headers: { 'if-match': String(headers['etag']) } };
    t.equal((await api.put(at('shared'), { json: { after: second }, ...tag })).status, 200);
    const late = await api.put(at('shared'), { json: { after: third }, ...tag });
    t.match(late, { status: 412, headers: { 'lapel-error-code': 'PRECONDITION_FAILED' } });
    t.equal((await api.get(at('shared'))).body.after, second);
    t.equal((await api.put(at('new'), { json: { after: 0 }, ...tag })).status, 412, 'nor is one made');
  });

  await t.test('a consumer goes back only from a place that the caller has read', async (t) => {
    const { headers } = await api.put(at('back'), { json: { after: third } });
    const refused = await api.put(at('back'), { json: { after: first } });
    t.match(refused, { status: 409, headers: { 'lapel-error-code': 'CONSUMER_AHEAD' } });
    t.match(refused.body.message, String(third));
    const tag = { headers: { 'if-match': String(headers['etag']) } };
    t.match((await api.put(at('back'), { json: { after: 0 }, ...tag })).body, { after: 0, lag: { events: 4 } });
  });

  await t.test('a consumer cannot be moved behind the end of the stream', async (t) => {
    const { status, body } = await api.put(at('ahead'), { json: { after: Number(third) + 1 } });
    t.equal(status, 400);
    t.match(body.details, [{ loc: ['body', 'after'], msg: new RegExp(String(third)) }]);
    t.equal((await api.get(at('ahead'))).status, 404);
  });

  await t.test('an application has at most 16 consumers, whose names have one form', async (t) => {
    const { consumers } = (await api.get(`${events}/consumers`)).body;
    for (let count = consumers.length; count < 16; count += 1)
      t.equal((await api.put(at(`c${count}`), { json: { after: 0 } })).status, 200);
    const refused = await api.put(at('one-more'), { json: { after: 0 } });
    t.match(refused, { status: 409, headers: { 'lapel-error-code': 'TOO_MANY_CONSUMERS' } });
    t.equal((await api.put(at('c9'), { json: { after: first } })).status, 200, 'those that are there go on');
    t.equal((await api.put(at('Not_OK'), { json: { after: 0 } })).status, 404);
    t.equal((await api.delete(at('c9'))).status, 204);
    t.equal((await api.delete(at('c9'))).status, 404);
    t.equal((await api.put(at('one-more'), { json: { after: 0 } })).status, 200);
  });

  await t.test('an application reads and moves only what is its own', async (t) => {
    const stranger = await world.createTenant('stranger');
    t.equal((await stranger.api.get(at('billing'))).status, 403);
    t.equal((await stranger.api.put(at('billing'), { json: { after: 0 } })).status, 403);
    t.same((await stranger.api.get(`${stranger.path}/events/consumers`)).body, { consumers: [] });
    const reader = await world.clientOf(tenant.applicationId, tenant.secret, 'svc:application:read');
    t.equal((await reader.get(at('billing'))).status, 200);
    t.equal((await reader.put(at('billing'), { json: { after: third } })).status, 403);
  });
});
