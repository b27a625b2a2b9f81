import t from 'tap';
import { request } from 'undici';
import { onBoth } from '../database/kinds.ts';
import { until } from '../until.ts';
import { WIFI } from '../world.ts';
import { type Page, send, startStream } from './stream-world.ts';

const SWEEP_MS = 600_000;

onBoth(t, async (t, database) => {
  const { world, tenant, device, events, page, latest, waiting } = await startStream(t, { database });
  const { link, deviceId } = device;
  const other = await world.activatedDevice(tenant);
  await world.idle();

  await t.test('all events of an application are in its stream, in order, as its webhooks have them', async (t) => {
    const after = await latest();
    const { body } = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const command = await link.command();
    link.puback(command.packet);
    await link.ack({ transactionId: body.transactionId, status: 'succeeded' });
    const eventId = await send(link);
    await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
    const hooks = [await tenant.event(), await tenant.event(), await tenant.event()];
    const found = await page(`?after=${after}`);
    t.match(found, { more: false, next: found.events.at(-1)?.sequence });
    t.match(found.events, [
      { type: 'transaction.succeeded', data: { transaction: { transactionId: body.transactionId } } },
      { type: 'custom.sos', data: { eventId, deviceId } },
      { type: 'test' },
    ]);
    for (const event of found.events) {
      const hook = hooks.find(({ headers }) => headers['webhook-id'] === event.eventId);
      const { eventId: _, ...same } = event;
      t.same(JSON.parse(String(hook?.body)), same, 'the webhook has the same body');
      t.equal(hook?.headers['lapel-sequence'], String(event.sequence));
      t.equal(hook?.headers['lapel-device-sequence'], event.deviceSequence && String(event.deviceSequence));
    }
    t.equal(found.events[2]?.deviceSequence, undefined, 'an event about no device counts for none');
  });

  await t.test('the events of each device are numbered without a gap', async (t) => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => send(at % 2 ? link : other.link)));
    for (const id of [deviceId, other.deviceId]) {
      const numbers = (await page(`?deviceId=${id}&limit=1000`)).events.map((event) => event.deviceSequence);
      t.same(
        numbers,
        numbers.map((_, at) => at + 1),
      );
    }
    const sequences = (await page('?limit=1000')).events.map(({ sequence }) => sequence);
    t.same(
      sequences,
      [...new Set(sequences)].sort((a, b) => a - b),
    );
  });

  await t.test('pages go on where the page before ended, also past events that a filter leaves out', async (t) => {
    const all = (await page('?limit=1000')).events;
    const read: number[] = [];
    for (let [after, more] = [0, true]; more; ) {
      const found = await page(`?limit=7&after=${after}`);
      read.push(...found.events.map(({ sequence }) => sequence));
      ({ next: after, more } = found);
    }
    t.same(
      read,
      all.map(({ sequence }) => sequence),
    );
    const results = await page('?types=transaction.*,test&limit=1000');
    t.equal(results.events.length, all.filter(({ type }) => type !== 'custom.sos').length);
    t.equal(results.next, all.at(-1)?.sequence, 'the stream was looked at up to its end');
    t.same((await page('?types=custom.so')).events, [], 'a type without .* is the whole type');
    t.same((await page('?types=transaction.*&from=latest')).events, []);
  });

  await t.test('a query that is wrong is refused, and names the parameter', async (t) => {
    for (const [query, name] of [
      ['after=-1', 'after'],
      ['from=newest', 'from'],
      ['types=.*', 'types'],
      ['types=a,,b', 'types'],
      ['wait=61', 'wait'],
      ['limit=1001', 'limit'],
      ['deviceId=1', 'deviceId'],
      ['consumer=x', 'consumer'],
    ]) {
      const { status, body } = await tenant.api.get(`${events}?${query}`);
      t.equal(status, 400);
      t.same(body.details[0].loc, ['query', name]);
    }
  });

  await t.test('a reader that waits gets the next event as soon as it is stored', async (t) => {
    const after = await latest();
    const reading = page(`?after=${after}&wait=30`);
    await until(async () => (await waiting()) === 1);
    const ofOther = page(`?after=${after}&wait=30&deviceId=${other.deviceId}`);
    await until(async () => (await waiting()) === 2);
    const eventId = await send(link);
    t.match((await reading).events, [{ data: { eventId } }]);
    t.equal(await waiting(), 1, 'an event of another device wakes nobody for good');
    await send(other.link);
    t.match((await ofOther).events, [{ data: { deviceId: other.deviceId } }]);
  });

  await t.test('a reader for whom nothing comes gets an empty page at its time', async (t) => {
    const after = await latest();
    const reading = page(`?after=${after}&wait=30`);
    await until(async () => (await waiting()) === 1);
    world.clock.advance(30_000);
    t.same(await reading, { events: [], next: after, more: false });
    t.equal(await waiting(), 0);
  });

  await t.test('a reader that goes away waits no more', async (t) => {
    const after = await latest();
    const abort = new AbortController();
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const asked = request(`${world.service.addresses.http}${events}?after=${after}&wait=30`, {
      headers: { authorization: `Bearer ${token}` },
      signal: abort.signal,
    }).catch(() => undefined);
    await until(async () => (await waiting()) === 1);
    abort.abort();
    await asked;
    await until(async () => (await waiting()) === 0);
    t.equal((await page(`?after=${after}`)).next, after);
  });

  await t.test('an application has at most 64 readers that wait, and another one is not held up', async (t) => {
    const after = await latest();
    const readings = Array.from({ length: 64 }, () => page(`?after=${after}&wait=30`));
    await until(async () => (await waiting()) === 64);
    const refused = await tenant.api.get(`${events}?after=${after}&wait=30`);
    t.match(refused, { status: 429, headers: { 'retry-after': '1', 'lapel-error-code': 'RATE_LIMITED' } });
    t.equal((await tenant.api.get(tenant.path)).status, 200, 'readers that wait hold no place of other requests');
    const stranger = await world.createTenant('stranger');
    const apart = stranger.api.get(`${stranger.path}/events?wait=30`);
    await until(async () => (await waiting()) === 65);
    await send(link);
    t.ok((await Promise.all(readings)).every((found: Page) => found.events.length === 1));
    t.equal(await waiting(), 1, 'the event of one application is none of the other');
    await world.idle(); // an attempt of a webhook would take too long
    world.clock.advance(30_000);
    t.same((await apart).body.events, []);
  });

  await t.test('an event without a URL is found as no delivery, wherever one looks', async (t) => {
    const silent = await world.createTenant('silent');
    const own = await world.activatedDevice(silent);
    await world.idle();
    await silent.api.patch(silent.path, { json: { deviceEvent: null } });
    const { next } = (await silent.api.get(`${silent.path}/events?from=latest`)).body;
    await send(own.link);
    const { events } = (await silent.api.get(`${silent.path}/events?after=${next}`)).body;
    const [{ eventId }] = events;
    const one = `${silent.path}/webhooks/deliveries/${eventId}`;
    t.equal((await silent.api.get(one)).status, 404);
    t.equal((await silent.api.post(`${one}/redeliver`)).status, 404);
    const list = (await silent.api.get(`${silent.path}/webhooks/deliveries`)).body.deliveries;
    t.notMatch(JSON.stringify(list), eventId);
    t.same((await world.admin().get(`/admin/v1/search?q=${eventId}`)).body.results, []);
  });

  await t.test('a reader whose token ends while it waits gets no event any more', async (t) => {
    const left = await world.createTenant('left');
    const own = await world.activatedDevice(left);
    await world.idle();
    const { next } = (await left.api.get(`${left.path}/events?from=latest`)).body;
    const reading = left.api.get(`${left.path}/events?after=${next}&wait=30`);
    await until(async () => (await waiting()) === 1);
    await world.admin().post(`/admin/v1/applications/${left.applicationId}/secret`);
    await send(own.link);
    t.match(await reading, { status: 200, body: { events: [], next, more: false } });
    t.equal((await left.api.get(`${left.path}/events?after=${next}`)).status, 401);
    await world.idle();
  });

  await t.test('events stay in order over a restart, and readers that wait are answered', async (t) => {
    await send(link);
    await world.idle();
    const before = await page(`?deviceId=${deviceId}&limit=1000`);
    const reading = page(`?after=${before.next}&wait=30`);
    await until(async () => (await waiting()) === 1);
    await world.restart();
    t.same((await reading).events, [], 'the stop of the service ends no answer in the middle');
    await tenant.renew();
    const again = await world.connect(device);
    await send(again);
    const [event] = (await page(`?deviceId=${deviceId}&after=${before.next}`)).events;
    t.equal(event?.deviceSequence, (before.events.at(-1)?.deviceSequence ?? 0) + 1);
    await world.idle();
  });

  await t.test('events that are old are removed, a reader is told, and the counts go on', async (t) => {
    const [first] = (await page('?limit=1')).events;
    const last = (await page(`?deviceId=${deviceId}&limit=1000`)).events.at(-1);
    await world.idle();
    world.clock.leap(2 * 86_400_000);
    await world.idle();
    world.clock.advance(SWEEP_MS);
    await world.idle();
    await tenant.renew();
    t.same((await page()).events, []);
    const answer = await tenant.api.get(`${events}?after=${first?.sequence}`);
    t.match(answer, { status: 410, headers: { 'lapel-error-code': 'EVENTS_REMOVED' } });
    t.match(answer.body.message, `go on with after=`);
    const next = Number(/after=(\d+)\.$/.exec(answer.body.message)?.[1]);
    t.same((await page(`?after=${next}`)).events, []);
    t.equal(await latest(), next, 'the end of the stream stays where it was');
    const place = await tenant.api.put(`${events}/consumers/late`, { json: { after: next } });
    t.match(place, { status: 200, body: { lag: { events: 0 } } });
    const again = await world.connect(device);
    await send(again);
    const [event] = (await page(`?after=${next}`)).events;
    t.equal(event?.deviceSequence, (last?.deviceSequence ?? 0) + 1, 'no number of a device comes twice');
  });

  await t.test('no number of a device comes twice when an older event is kept for longer', async (t) => {
    await tenant.renew();
    const again = await world.connect(device);
    const after = await latest();
    await send(again);
    await send(again);
    await world.idle();
    const [kept, removed] = (await page(`?after=${after}`)).events;
    world.clock.leap(86_400_000 * 0.8);
    await world.idle();
    await tenant.renew();
    const redelivered = await tenant.api.post(`${tenant.path}/webhooks/deliveries/${kept?.eventId}/redeliver`);
    t.equal(redelivered.status, 202);
    await world.idle();
    world.clock.leap(86_400_000 * 0.8);
    await world.idle();
    world.clock.advance(SWEEP_MS);
    await world.idle();
    await tenant.renew();
    t.match((await page()).events, [{ eventId: kept?.eventId }], 'the newer one is gone');
    const link = await world.connect(device);
    await send(link);
    const [event] = (await page(`?after=${removed?.sequence}`)).events;
    t.equal(event?.deviceSequence, (removed?.deviceSequence ?? 0) + 1);
    await world.idle();
  });

  await t.test('who follows one silent device is not told of a loss when events of others are removed', async (t) => {
    await tenant.renew();
    let { next } = await page(`?deviceId=${deviceId}`);
    const link = await world.connect(other);
    for (let day = 0; day < 3; day += 1) {
      await send(link);
      await world.idle();
      ({ next } = await page(`?after=${next}&deviceId=${deviceId}`));
      world.clock.leap(86_400_000 * 0.8);
      await world.idle();
      world.clock.advance(SWEEP_MS);
      await world.idle();
      await tenant.renew();
      const { status, body } = await tenant.api.get(`${events}?after=${next}&deviceId=${deviceId}`);
      t.equal(status, 200, 'it has seen the whole stream');
      next = body.next;
    }
  });
});
