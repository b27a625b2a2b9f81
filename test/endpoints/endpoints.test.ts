import { createHmac, createPublicKey, verify } from 'node:crypto';
import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { send } from '../stream/stream-world.ts';
import { until } from '../until.ts';
import type { Received } from '../webhooks/test-receiver.ts';
import { bodyOf, startEndpoints } from './endpoint-world.ts';

const textOf = ({ headers, body }: Received): string =>
  [headers['webhook-id'], headers['webhook-timestamp'], String(body)].join('.');
const signaturesOf = ({ headers }: Received): string[] => String(headers['webhook-signature']).split(' ');
const signedWith = (secret: string, request: Received): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(textOf(request))
    .digest('base64')}`;

onBoth(t, async (t, database) => {
  const { world, tenant, device, path, add, got, page, deliveries, later, settled } = await startEndpoints(t, {
    database,
  });
  const other = await world.createTenant('other');

  await t.test('an endpoint gets the events of its types that come from now on', async (t) => {
    await send(device.link, 'custom.before');
    await settled();
    const all = await add({ description: 'All' });
    const some = await add({ types: ['custom.sos', 'transaction.*'] });
    await send(device.link, 'custom.sos', { battery: 7 });
    await send(device.link, 'custom.other');
    const seen = await got(all.receiver);
    t.same(seen.map(({ type }) => type).sort(), ['custom.other', 'custom.sos']);
    t.same(
      (await got(some.receiver)).map(({ type }) => type),
      ['custom.sos'],
    );
    const { events } = await page('?types=custom.sos');
    const [request] = some.receiver.requests;
    t.equal(request?.headers['webhook-id'], events.at(-1)?.eventId, 'the event has the same id everywhere');
    t.match(
      seen.find(({ type }) => type === 'custom.sos'),
      { sequence: events.at(-1)?.sequence, deviceSequence: events.at(-1)?.deviceSequence },
    );
    t.equal(request?.headers['lapel-sequence'], String(events.at(-1)?.sequence));
    const read = await tenant.api.get(all.at);
    t.match(read.body, {
      description: 'All',
      state: { behind: 0, pending: 0, blocked: 0, seconds: 0 },
      failingSince: null,
      after: events.at(-1)?.sequence === undefined ? 0 : Number,
    });
    t.notOk('secret' in read.body, 'a secret is shown once');
    t.match(await deliveries(some.at), [{ type: 'custom.sos', status: 'delivered', attempts: 1 }]);
    for (const { at } of [all, some]) t.equal((await tenant.api.delete(at)).status, 204);
  });

  await t.test('a webhook to an endpoint is signed with its own secret, with two while it changes', async (t) => {
    const { at, endpoint, receiver } = await add();
    await send(device.link);
    await settled();
    const first = await receiver.next();
    t.same(signaturesOf(first), [signedWith(endpoint['secret'], first)]);
    const changed = await tenant.api.post(`${at}/secret`, { json: {} });
    t.equal(changed.status, 201);
    t.not(changed.body.secret, endpoint['secret']);
    await send(device.link);
    const second = await receiver.next();
    t.same(signaturesOf(second), [signedWith(changed.body.secret, second), signedWith(endpoint['secret'], second)]);
    await later(24 * 3600_000);
    await send(device.link);
    const third = await receiver.next();
    t.same(signaturesOf(third), [signedWith(changed.body.secret, third)], 'a day later with the new one alone');
    await tenant.api.delete(at);
  });

  await t.test('with v1a the receiver needs a public key only', async (t) => {
    const { at, endpoint, receiver } = await add({ signatures: ['v1a'] });
    t.equal(endpoint['secret'], null);
    const [{ jwk, publicKey }] = endpoint['publicKeys'];
    t.match(publicKey, /^whpk_/);
    await send(device.link);
    const request = await receiver.next();
    const [signature = ''] = signaturesOf(request);
    t.match(signature, /^v1a,/);
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    t.ok(verify(null, Buffer.from(textOf(request)), key, Buffer.from(signature.slice(4), 'base64')));
    await tenant.api.delete(at);
  });

  await t.test('a test event goes to the one endpoint, whatever its types are', async (t) => {
    const [one, other] = [await add({ types: ['transaction.*'] }), await add()];
    const { status, body } = await tenant.api.post(`${one.at}/test`);
    t.equal(status, 202);
    const seen = await got(one.receiver);
    t.match(seen, [{ type: 'test', data: { endpointId: one.endpoint['endpointId'] } }]);
    t.equal(one.receiver.requests[0]?.headers['webhook-id'], body.eventId);
    t.same(await got(other.receiver), []);
    t.match((await page('?types=test')).events.at(-1), { eventId: body.eventId }, 'it is in the stream');
    for (const { at } of [one, other]) await tenant.api.delete(at);
  });

  await t.test(
    'a disabled endpoint gets nothing; a caller who enables it says what happens to its events',
    async (t) => {
      const { at, receiver } = await add();
      t.match((await tenant.api.patch(at, { json: { enabled: false } })).body, {
        enabled: false,
        disabledReason: 'asked',
      });
      await send(device.link, 'custom.missed');
      t.same(await got(receiver), []);
      t.equal((await tenant.api.get(at)).body.state.behind, 1);
      const undecided = await tenant.api.patch(at, { json: { enabled: true } });
      t.match(undecided, { status: 400, body: { details: [{ loc: ['body', 'missed'] }] } });
      t.equal((await tenant.api.patch(at, { json: { enabled: true, missed: 'send' } })).status, 200);
      t.match(await got(receiver), [{ type: 'custom.missed' }]);
      await tenant.api.patch(at, { json: { enabled: false } });
      await send(device.link, 'custom.skipped');
      await settled();
      t.match((await tenant.api.patch(at, { json: { enabled: true, missed: 'skip' } })).body, { state: { behind: 0 } });
      await send(device.link, 'custom.after');
      t.same(
        (await got(receiver)).map(({ type }) => type),
        ['custom.missed', 'custom.after'],
      );
      t.equal((await tenant.api.patch(at, { json: { missed: 'skip' } })).status, 400, 'only when it is enabled');
      await tenant.api.delete(at);
    },
  );

  await t.test('an event that waits for another attempt waits on when its endpoint is disabled', async (t) => {
    const { at, receiver } = await add();
    receiver.answer({ status: 500 });
    await send(device.link);
    await got(receiver);
    await tenant.api.patch(at, { json: { enabled: false } });
    await later(3600_000);
    t.equal((await got(receiver)).length, 1);
    t.match(await deliveries(at), [{ status: 'blocked', attempts: 1 }]);
    receiver.answer({});
    await tenant.api.patch(at, { json: { enabled: true, missed: 'send' } });
    t.equal((await got(receiver)).length, 2);
    t.match(await deliveries(at), [{ status: 'delivered', attempts: 2 }]);
    await tenant.api.delete(at);
  });

  await t.test('an event that is refused for ever delays no others', async (t) => {
    const { at, receiver } = await add();
    receiver.answer((request) => ({ status: bodyOf(request).type === 'custom.bad' ? 500 : 200 }));
    for (let round = 0; round < 6; round += 1) {
      await send(device.link, 'custom.bad');
      await send(device.link, 'custom.good');
      await later(60_000);
      const good = (await got(receiver)).filter(({ type }) => type === 'custom.good');
      t.equal(good.length, round + 1, 'it came at once');
    }
    await tenant.api.delete(at);
  });

  await t.test('an endpoint that is down takes few events, and gets all when it works again', async (t) => {
    const { at, receiver } = await add();
    receiver.answer({ status: 503 });
    for (let count = 0; count < 5; count += 1) await send(device.link, 'custom.first');
    await got(receiver);
    t.match((await tenant.api.get(at)).body, { lastStatusCode: 503, state: { pending: 5 } });
    for (let count = 0; count < 20; count += 1) await send(device.link, 'custom.next');
    await got(receiver);
    const { state } = (await tenant.api.get(at)).body;
    t.ok(state.behind >= 19, `${state.behind} stay in the stream`);
    receiver.answer({});
    await later(6 * 60_000);
    const seen = await got(receiver);
    t.equal(new Set(seen.map(({ sequence }) => sequence)).size, 25);
    t.match((await tenant.api.get(at)).body, { failingSince: null, state: { behind: 0, pending: 0 } });
    await tenant.api.delete(at);
  });

  await t.test('metrics count endpoints by their state, and the deliveries that wait', async (t) => {
    const [good, off] = [await add(), await add({ enabled: false })];
    good.receiver.answer({ status: 500 });
    for (let count = 0; count < 5; count += 1) await send(device.link);
    await got(good.receiver);
    let text = '';
    // They are looked up in the background, so a busy machine may answer before they are there.
    await until(async () => {
      world.clock.advance(10_000);
      text = (await world.anonymousAdmin().get('/metrics')).body;
      return text.includes('lapel_endpoints{');
    });
    t.match(text, /^lapel_endpoints\{state="down"\} 1$/m);
    t.match(text, /^lapel_endpoints\{state="disabled"\} 1$/m);
    t.match(text, /^lapel_endpoint_deliveries_waiting\{status="pending"\} 5$/m);
    for (const { at } of [good, off]) await tenant.api.delete(at);
  });

  await t.test('an application is told that an endpoint fails, and by whom', async (t) => {
    const { at, endpoint, receiver } = await add({ description: 'Billing', types: ['custom.*'] });
    const watcher = await add({ types: ['endpoint.*'] });
    receiver.answer({ status: 500 });
    await send(device.link);
    await got(receiver);
    for (let minutes = 0; minutes < 60; minutes += 6) {
      await later(6 * 60_000);
    }
    const [told, ...others] = await got(watcher.receiver);
    t.match(told, {
      type: 'endpoint.failing',
      data: { endpointId: endpoint['endpointId'], description: 'Billing', lastStatusCode: 500, subject: /Billing/ },
    });
    t.same(others, [], 'once');
    for (let hours = 0; hours < 6 * 24; hours += 6) {
      await send(device.link);
      await later(6 * 3600_000);
    }
    // The watcher itself may have given no answer in time, in one of the leaps of six hours.
    const about = (await got(watcher.receiver)).filter(({ data }) => data['endpointId'] === endpoint['endpointId']);
    const types = about.map(({ type }) => type);
    t.same(types, ['endpoint.failing', 'endpoint.disabled']);
    const read = (await tenant.api.get(at)).body;
    t.match(read, { enabled: false, disabledReason: 'failing' });
    const attempts = receiver.requests.length;
    await later(24 * 3600_000);
    t.equal((await got(receiver)).length, attempts, 'nothing is sent to it');
    for (const one of [at, watcher.at]) await tenant.api.delete(one);
  });

  await t.test('that an endpoint fails is told to the others, and not to itself', async (t) => {
    const [all, watcher] = [await add(), await add({ types: ['endpoint.*'] })];
    all.receiver.answer({ status: 500 });
    await send(device.link);
    await got(all.receiver);
    for (let minutes = 0; minutes < 60; minutes += 6) await later(6 * 60_000);
    all.receiver.answer({});
    for (let hours = 0; hours < 3; hours += 1) await later(3600_000);
    const about = (await got(watcher.receiver)).filter(({ data }) => data['endpointId'] === all.endpoint['endpointId']);
    t.same(
      about.map(({ type }) => type),
      ['endpoint.failing', 'endpoint.recovered'],
    );
    const types = new Set((await got(all.receiver)).map(({ type }) => type));
    t.same([...types], ['custom.sos']);
    t.match((await tenant.api.get(all.at)).body.state, { behind: 0, pending: 0 });
    for (const { at } of [all, watcher]) await tenant.api.delete(at);
  });

  await t.test('a change is refused when the endpoint is not as the caller has read it', async (t) => {
    const { at, receiver } = await add();
    const { headers } = await tenant.api.get(at);
    const tag = { headers: { 'if-match': String(headers['etag']) } };
    t.equal((await tenant.api.patch(at, { json: { description: 'one' }, ...tag })).status, 200);
    t.equal((await tenant.api.patch(at, { json: { description: 'two' }, ...tag })).status, 412);
    t.equal((await tenant.api.delete(at, tag)).status, 412);
    await tenant.api.delete(at);
    await send(device.link);
    t.same(await got(receiver), [], 'a removed endpoint gets nothing');
    t.equal((await tenant.api.get(at)).status, 404);
  });

  await t.test(
    'an endpoint goes to no URL that a webhook may not go to, and an application has 16 at most',
    async (t) => {
      const refused = await tenant.api.post(path, { json: { url: 'ftp://example.com' } });
      t.match(refused, { status: 400, body: { details: [{ loc: ['body', 'url'] }] } });
      const made: string[] = [];
      for (let count = 0; count < 16; count += 1) made.push((await add()).at);
      const more = await tenant.api.post(path, { json: { url: 'https://example.com/' } });
      t.match(more, { status: 409, headers: { 'lapel-error-code': 'TOO_MANY_ENDPOINTS' } });
      const { endpoints, settings } = (await tenant.api.get(path)).body;
      t.equal(endpoints.length, 16);
      t.match(settings, [
        { setting: 'deviceEvent', url: tenant.receiver.url },
        { url: null },
        { url: null },
        { url: null },
      ]);
      await send(device.link);
      await settled();
      for (const at of made) await tenant.api.delete(at);
    },
  );

  await t.test('the endpoints of one application are not those of another one', async (t) => {
    const { at, endpoint } = await add();
    await other.renew();
    t.equal((await other.api.get(at)).status, 403);
    const id = endpoint['endpointId'];
    t.equal((await other.api.get(`${other.path}/endpoints/${id}`)).status, 404);
    t.same((await other.api.get(`${other.path}/endpoints`)).body.endpoints, []);
    await tenant.api.delete(at);
  });

  await t.test('an endpoint sends no more new events in a second than its rate', async (t) => {
    const { at, receiver } = await add({ ratePerSecond: 5 });
    for (let count = 0; count < 30; count += 1) await send(device.link);
    await got(receiver);
    const counts: number[] = [];
    for (let second = 0; second < 8; second += 1) {
      const before = receiver.requests.length;
      for (let part = 0; part < 10; part += 1) {
        world.clock.advance(100);
        await world.idle();
      }
      counts.push(receiver.requests.length - before);
    }
    t.equal(receiver.requests.length, 30, 'all arrive');
    t.ok(Math.max(...counts) <= 6, `${counts.join(' ')} in each second`);
    await tenant.api.delete(at);
  });
});
