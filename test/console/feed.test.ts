import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { MOST_STREAMS_OF_APPLICATION } from '../../src/edge/feed/feed.ts';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';
import { type Item, open, type reader } from './feed-client.ts';

const FLUSH = 250;

/** Moves the clock, and waits until the feed has flushed. */
async function flush(world: World, milliseconds = FLUSH): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += FLUSH) {
    await world.idle();
    world.clock.advance(FLUSH);
    await world.idle();
  }
}

/** Waits until written data is on its way: otherwise a clock that jumps would find a reader that takes nothing. */
const written = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** The next changes; moves the clock until there are some. */
async function soon(world: World, feed: ReturnType<typeof reader>): Promise<Item[]> {
  while (!feed.events.some(({ event }) => event === 'change')) {
    await flush(world);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return feed.next('change');
}

const asAdmin = (t: Test, world: World, topics: string) =>
  open(t, `${world.service.addresses.admin}/admin/v1/feed?topics=${encodeURIComponent(topics)}`, {
    authorization: `Bearer ${world.service.adminToken}`,
  });

t.test('the feed', async (t) => {
  const MOST_STREAMS = 16;
  const world = await startWorld(t, { env: { LAPEL_FEED_STREAMS: String(MOST_STREAMS) } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { deviceId } = device;
  const other = await world.createTenant('other');
  const stranger = await world.activatedDevice(other);

  const asApplication = async (topics: string, of = tenant) =>
    open(t, `${world.service.addresses.http}${of.path}/feed?topics=${encodeURIComponent(topics)}`, {
      authorization: `Bearer ${await world.tokenOf(of.applicationId, of.secret)}`,
    });

  await t.test('a transaction is followed from stage to stage, with the rows of REST', async (t) => {
    const feed = await asAdmin(t, world, 'transactions');
    t.match(feed.headers, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    const first = (await feed.next('snapshot')) as Item[];
    t.same(
      first.map(({ topic, value }) => [topic, value.operation, value.status]),
      [
        ['transactions', 'activate', 'succeeded'],
        ['transactions', 'activate', 'succeeded'],
      ],
    );
    const change = async (): Promise<Item> => ((await soon(world, feed)) as [Item])[0];
    const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    const same = async (item: Item): Promise<void> => {
      const {
        parameters: _,
        result: __,
        webhook: ___,
        ...row
      } = (await world.admin().get(`/admin/v1/transactions/${transactionId}`)).body;
      t.same(item, { topic: 'transactions', key: String(transactionId), value: row });
    };
    const queued = await change();
    t.match(queued.value, { status: 'queued', publishedAt: /Z$/, deliveredAt: null });
    await same(queued);
    const { packet } = await device.link.command();
    device.link.puback(packet);
    const delivered = await change();
    t.match(delivered.value, { status: 'delivered', deliveredAt: /Z$/, completedAt: null });
    await same(delivered);
    await device.link.ack({ transactionId, status: 'processing', progress: 40 });
    t.match((await change()).value, { status: 'processing', progress: 40 });
    await device.link.ack({ transactionId, status: 'succeeded' });
    const done = await change();
    t.match(done.value, { status: 'succeeded', completedAt: /Z$/, deliveryId: /^msg_/ });
    await same(done);
    await tenant.event();
    feed.stop();
  });

  await t.test('the feed shows that a device comes, reports and goes, and sends no unchanged rows', async (t) => {
    const feed = await asAdmin(t, world, `devices:${deviceId};${stranger.deviceId}`);
    const first = (await feed.next('snapshot')) as Item[];
    t.same(
      new Map(first.map(({ key, value }) => [key, value.connected])),
      new Map([deviceId, stranger.deviceId].map((id) => [id, true])),
    );
    device.link.socket.destroy();
    t.match(await soon(world, feed), [{ topic: 'devices', key: deviceId, value: { connected: false } }]);
    Object.assign(device, { link: await world.connect(device) });
    t.match(await soon(world, feed), [{ key: deviceId, value: { connected: true } }]);
    device.link.publish('status', { firmwareVersion: '9.1.0', battery: { level: 42, charging: false } });
    let last: Item | undefined;
    while (last?.value.firmware !== '9.1.0') last = (await soon(world, feed)).at(-1);
    t.match(last, { key: deviceId, value: { battery: 42 } });
    await flush(world, 2000);
    t.same(feed.events, [], 'nothing is told twice');
    feed.stop();
  });

  await t.test('messages from and to a device are shown as they happen, without secrets', async (t) => {
    const feed = await asAdmin(t, world, `device:${deviceId}`);
    t.same(await feed.next('snapshot'), []);
    const { link } = device;
    const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    const { packet } = await link.command();
    link.puback(packet);
    await link.ack({ transactionId, status: 'succeeded' });
    const messages: Item[] = [];
    while (messages.length < 2) messages.push(...(await soon(world, feed)));
    t.match(messages, [
      { topic: 'device', value: { deviceId, direction: 'out', topic: `devices/${deviceId}/commands`, qos: 1 } },
      { topic: 'device', value: { deviceId, direction: 'in', topic: `devices/${deviceId}/acks`, truncated: false } },
    ]);
    t.match(JSON.parse(messages[0]?.value.payload), { operation: 'setWifi', transactionId });
    t.notOk(JSON.stringify(messages).includes('correct horse'), 'the password of the network is not in it');
    await tenant.event();
    feed.stop();
  });

  await t.test('messages above the readable number are counted', async (t) => {
    const feed = await asAdmin(t, world, `device:${deviceId}`);
    await feed.next('snapshot');
    await world.idle();
    for (let number = 0; number < 80; number += 1) device.link.publish('status', { lang: number % 2 ? 'en' : 'ja' });
    for (let number = 0; number < 80; number += 1) await device.link.next('puback');
    const shown = await soon(world, feed);
    t.equal(shown.length, 50);
    t.same(await feed.next('gap'), { topic: 'device', dropped: 30 });
    for (let number = 0; number < 5; number += 1) device.link.publish('status', { lang: 'de' });
    for (let number = 0; number < 5; number += 1) await device.link.next('puback');
    await flush(world);
    t.same(await feed.next('gap'), { topic: 'device', dropped: 5 }, 'also when there is nothing else to tell');
    feed.stop();
  });

  await t.test('an application sees its own rows, and no others', async (t) => {
    const topics = `transactions,receivers,devices:${deviceId};${stranger.deviceId},device:${stranger.deviceId};${deviceId}`;
    const feed = await asApplication(topics);
    const own = ({ value }: Item): boolean => (value.deviceId ?? deviceId) === deviceId;
    const first = (await feed.next('snapshot')) as Item[];
    t.ok(first.length > 1);
    t.ok(first.every(own));
    const foreign = transactionIdOf(await other.api.put(`${stranger.path}/settings/wifi`, { json: WIFI }));
    const command = await stranger.link.command();
    stranger.link.puback(command.packet);
    await stranger.link.ack({ transactionId: foreign, status: 'succeeded' });
    await other.event();
    const transactionId = transactionIdOf(
      await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: 'de' } }),
    );
    device.link.puback((await device.link.command()).packet);
    await device.link.ack({ transactionId, status: 'succeeded' });
    await tenant.event();
    const seen: Item[] = [];
    while (!seen.some(({ value }) => value.transactionId === transactionId && value.status === 'succeeded'))
      seen.push(...(await soon(world, feed)));
    while (!seen.some(({ topic }) => topic === 'device')) seen.push(...(await soon(world, feed)));
    t.ok(seen.every(own), 'neither rows nor messages');
    feed.stop();
    const fleet = await asApplication('fleet');
    t.equal(fleet.status, 400);
  });

  await t.test('an application no longer sees devices that it lost', async (t) => {
    const moved = await world.activatedDevice(tenant);
    const feed = await asApplication(`devices:${moved.deviceId},device:${moved.deviceId}`);
    t.match(await feed.next('snapshot'), [{ key: moved.deviceId, value: { activation: 'activated' } }]);
    await world.admin().delete(`/admin/v1/devices/${moved.deviceId}?force=true`);
    await tenant.event();
    await flush(world, 1000);
    feed.events.length = 0;
    await world.admin().post('/admin/v1/developers/other/devices', { json: { deviceId: moved.deviceId } });
    await flush(world, 1000);
    t.same(await soon(world, feed), [
      { topic: 'devices', key: moved.deviceId, value: { activation: 'deactivated', applicationId: null } },
    ]);
    feed.stop();
  });

  await t.test('messages of a device about transactions of its former application are not shown', async (t) => {
    const { deviceId, link } = await world.activatedDevice(other);
    const before = transactionIdOf(
      await other.api.put(`${other.path}/devices/${deviceId}/settings/wifi`, { json: WIFI }),
    );
    link.puback((await link.command()).packet);
    await world.admin().delete(`/admin/v1/devices/${deviceId}?force=true`);
    const moved = await world.admin().post('/admin/v1/developers/dev/devices', { json: { deviceId } });
    const again = await world.connect({ deviceId, credential: moved.body.credential });
    const path = `${tenant.path}/devices/${deviceId}`;
    const activate = transactionIdOf(await tenant.api.post(path, { json: {} }));
    again.puback((await again.command()).packet);
    await again.ack({ transactionId: activate, status: 'succeeded' });
    await tenant.event();

    const feed = await asApplication(`device:${deviceId}`);
    const all = await asAdmin(t, world, `device:${deviceId}`);
    for (const { next } of [feed, all]) await next('snapshot');
    await again.ack({ transactionId: before, status: 'succeeded', result: { seen: 'by another' } });
    const own = transactionIdOf(await tenant.api.put(`${path}/settings/wifi`, { json: WIFI }));
    again.puback((await again.command()).packet);
    again.publish('events', { type: 'custom.told', data: { transactionId: before } });
    await again.next('puback');
    const textsOf = async (of: ReturnType<typeof reader>): Promise<string[]> => {
      const seen: Item[] = [];
      while (!seen.some(({ value }) => value.topic.endsWith('/events'))) seen.push(...(await soon(world, of)));
      return seen.filter(({ value }) => !value.topic.endsWith('/errors')).map(({ value }) => value.payload);
    };
    const told = await textsOf(feed);
    t.notOk(told.some((text) => text.includes('by another')));
    t.ok(told.some((text) => text.includes(`"transactionId":${own}`)));
    t.ok(
      told.some((text) => text.includes('custom.told')),
      'what it tells of itself is its application’s',
    );
    t.ok((await textsOf(all)).some((text) => text.includes('by another')));
    for (const { stop } of [feed, all]) stop();
  });

  await t.test('a stream ends with the token or the session of its reader', async (t) => {
    const { admin } = world.service.addresses;
    const page = { origin: admin, 'sec-fetch-site': 'same-origin', 'x-lapel-console': '1' };
    const login = await request(`${admin}/console/session`, {
      method: 'POST',
      headers: { ...page, 'content-type': 'application/json' },
      body: JSON.stringify({ token: world.service.adminToken }),
    });
    const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
    const bySession = () => open(t, `${admin}/admin/v1/feed?topics=transactions`, { ...page, cookie });
    const feeds = [await bySession(), await bySession()];
    for (const feed of feeds) await feed.next('snapshot');
    for (let minutes = 0; minutes < 60; minutes += 10) {
      await written();
      world.clock.advance(10 * 60_000 - 20 * FLUSH);
      await flush(world, 20 * FLUSH);
    }
    t.same(
      feeds.map(({ events }) => events.some(({ event }) => event === 'bye')),
      [false, false],
      'to look is to use',
    );
    await request(`${admin}/console/session`, { method: 'DELETE', headers: { ...page, cookie } });
    for (const feed of feeds) {
      t.same(await feed.next('bye'), { reason: 'session' }, 'at once');
      await feed.closed();
    }
    t.equal((await bySession()).status, 401);

    const feed = await asApplication('transactions');
    await feed.next('snapshot');
    await written();
    world.clock.advance(3600_000 - 20 * FLUSH);
    await flush(world, 40 * FLUSH);
    t.same(await feed.next('bye'), { reason: 'session' });
    await feed.closed();
  });

  await t.test('the number of streams is bounded, and a further one is refused at once', async (t) => {
    const feeds = [];
    for (let count = 0; count < MOST_STREAMS; count += 1) feeds.push(await asAdmin(t, world, 'transactions'));
    const full = await asAdmin(t, world, 'transactions');
    t.match(full, { status: 429, headers: { 'lapel-error-code': 'FEEDS_IN_USE', 'retry-after': '10' } });
    for (let count = 0; count < MOST_STREAMS_OF_APPLICATION; count += 1)
      feeds.push(await asApplication('transactions'));
    t.equal((await asApplication('transactions')).status, 429, 'of one application');
    const another = await asApplication('transactions', other);
    t.equal(another.status, 200, 'but not of another one');
    feeds.push(another);
    await world.idle();
    t.pass('the service has nothing to do');
    const text = String((await world.anonymousAdmin().get('/metrics')).body);
    t.match(text, `lapel_console_feeds{listener="admin"} ${MOST_STREAMS}`);
    for (const feed of feeds) feed.stop();
    for (;;) {
      const later = await asAdmin(t, world, 'transactions');
      if (later.status === 200) break;
    }
  });

  await t.test('the developer with most streams loses one to another, and is told', async (t) => {
    const second = await world.admin().post(`/admin/v1/developers/${tenant.developerId}/applications`, {
      json: { applicationId: 'second', name: 'second' },
    });
    const greedy = { ...tenant, path: '/v1/applications/second', applicationId: 'second', secret: second.body.secret };
    const metrics = async (): Promise<string> => String((await world.anonymousAdmin().get('/metrics')).body);
    while (/^lapel_console_feeds.*"api"} [1-9]/m.test(await metrics())) await written();
    const feeds: Awaited<ReturnType<typeof asApplication>>[] = [];
    for (let count = 0; count < MOST_STREAMS_OF_APPLICATION; count += 1) {
      feeds.push(await asApplication('transactions', tenant));
      feeds.push(await asApplication('transactions', greedy));
    }
    t.same(
      feeds.map(({ status }) => status),
      feeds.map(() => 200),
      'two applications of one developer have all streams',
    );
    const others = [];
    for (let count = 0; count < MOST_STREAMS_OF_APPLICATION - 1; count += 1)
      others.push(await asApplication('transactions', other));
    t.same(
      others.map(({ status }) => status),
      others.map(() => 200),
    );
    t.same(await feeds[0]?.next('bye'), { reason: 'room' });
    const ended = (): number => feeds.filter(({ events }) => events.some(({ event }) => event === 'bye')).length;
    while (ended() < others.length - 1) await written(); // the first one was read above
    t.match(await metrics(), `lapel_console_feeds_evicted_total ${others.length}`);
    t.equal((await asApplication('transactions')).status, 429, 'who has most gets no other’s');
    t.equal((await asAdmin(t, world, 'transactions')).status, 200, 'administration has its own');
    for (const feed of [...feeds, ...others]) feed.stop();
    while ((await asApplication('transactions')).status !== 200) await written();
  });

  await t.test('a client that leaves before the answer leaves no stream behind', async (t) => {
    const { hostname, port } = new URL(world.service.addresses.http);
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const streams = async (): Promise<string> =>
      /^lapel_console_feeds.*"api"} .*$/m.exec(String((await world.anonymousAdmin().get('/metrics')).body))?.[0] ?? '';
    const before = await streams();
    const head = `GET ${tenant.path}/feed?topics=transactions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    for (let turns = 0; turns < 24; turns += 1) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(head);
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    await flush(world, 10 * FLUSH);
    t.equal(await streams(), before);
  });

  await t.test('a reader that reads nothing is cut off, and nothing is stored for it', async (t) => {
    const { hostname, port } = new URL(world.service.addresses.admin);
    const socket = connect(Number(port), hostname);
    t.teardown(() => socket.destroy());
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(
      `GET /admin/v1/feed?topics=device:${deviceId} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${world.service.adminToken}\r\n\r\n`,
    );
    const refused = async (): Promise<boolean> =>
      String((await world.anonymousAdmin().get('/metrics')).body).includes('{bound="feed_progress"}');
    const text = 'x'.repeat(4000);
    // The kernel buffers some MiB for it, which must be filled first.
    while (!(await refused())) {
      for (let number = 0; number < 50; number += 1) device.link.publish('status', { lang: 'en', text });
      for (let number = 0; number < 50; number += 1) await device.link.next('puback');
      await flush(world, 1000);
    }
    socket.resume();
    await closed;
    t.pass('the rest of what the kernel had was read, and then it ended');
  });

  await t.test('a stream has keep-alives, and announces that the service stops', async (t) => {
    const feed = await asAdmin(t, world, 'receivers');
    await feed.next('snapshot');
    const { promise: beat, resolve } = Promise.withResolvers<void>();
    feed.onText(resolve);
    await flush(world, 10_000);
    await beat;
    await world.restart();
    t.same(await feed.next('bye'), { reason: 'stopping' });
    await feed.closed();
  });
});

t.test('changes of another node are seen within a second', { skip }, async (t) => {
  const world = await startWorld(t, { nodes: 2 });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant, { node: 1 });
  const feed = await asAdmin(t, world, `transactions,devices:${device.deviceId}`);
  t.match(await feed.next('snapshot'), [{ value: { connected: true } }, { value: { operation: 'activate' } }]);
  const api = await tenant.at(1);
  const transactionId = transactionIdOf(await api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  device.link.puback((await device.link.command()).packet);
  await device.link.ack({ transactionId, status: 'succeeded' });
  const seen: Item[] = [];
  while (!seen.some(({ key, value }) => key === String(transactionId) && value.status === 'succeeded'))
    seen.push(...(await soon(world, feed)));
  device.link.socket.destroy();
  while (!seen.some(({ value }) => value.connected === false)) seen.push(...(await soon(world, feed)));
  feed.stop();
});
