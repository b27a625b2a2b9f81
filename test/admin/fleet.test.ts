import t, { type Test } from 'tap';
import type { CheckedClient } from '../contract/checked-client.ts';
import { pagesOf } from '../pages.ts';
import { usualDatabase } from '../postgres/databases.ts';
import type { RawDevice } from '../raw-device.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';

const UTC_NOW = '2026-11-20T09:30:00.123456Z';

/** Reports a status; resolves when it is stored. */
async function report(link: RawDevice, fields: object): Promise<void> {
  link.publish('status', fields);
  await link.next('puback');
}

const DEVICES = '/admin/v1/devices';

async function idsOf(client: CheckedClient, query: string): Promise<string[]> {
  const pages = await pagesOf<{ deviceId: string }>(client, `${DEVICES}?${query}`, 'devices');
  return pages.flat().map(({ deviceId }) => deviceId);
}

/**
 * Six devices of two developers: one connected and activated, with a reported status; one only connected; four never
 * seen.
 */
async function startFleet(t: Test): Promise<{
  world: World;
  admin: CheckedClient;
  tenant: Awaited<ReturnType<World['createTenant']>>;
  active: Awaited<ReturnType<World['activatedDevice']>>;
  ids: string[];
}> {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  await world.createTenant('other');
  const admin = world.admin();
  const active = await world.activatedDevice(tenant);
  const ids = [active.deviceId];
  for (const owner of ['dev', 'dev', 'dev', 'other', 'other']) ids.push((await world.registerDevice(owner)).deviceId);
  return { world, admin, tenant, active, ids };
}

t.test('the devices of all developers', async (t) => {
  const { world, admin, tenant, active, ids } = await startFleet(t);
  const [first = '', second = '', third = ''] = ids;
  await report(active.link, {
    firmwareVersion: '9.1.0',
    battery: { level: 15, charging: false },
    software: [{ package: 'com.example.camera', version: '1.0.0', versionCode: 1 }],
  });

  t.test('a row shows the present state', async (t) => {
    await tenant.api.put(`${active.path}/settings/wifi`, { json: WIFI });
    await active.link.command();
    const { body } = await admin.get(`${DEVICES}?limit=1`);
    t.same(body.devices, [
      {
        deviceId: first,
        developerId: 'dev',
        applicationId: tenant.applicationId,
        activation: 'activated',
        blocked: false,
        connected: true,
        lastSeenAt: UTC_NOW,
        firmware: '9.1.0',
        battery: 15,
        unfinished: 1,
        tags: {},
      },
    ]);
    const { body: all } = await admin.get(`${DEVICES}?developerId=other&limit=1`);
    t.match(all.devices[0], {
      activation: 'deactivated',
      applicationId: null,
      connected: false,
      lastSeenAt: null,
      firmware: null,
      battery: null,
      unfinished: 0,
    });
  });

  t.test('every filter, alone and together', async (t) => {
    const rest = ids.slice(1);
    const rows: [query: string, wanted: string[]][] = [
      ['', ids],
      [`prefix=${first.slice(0, 5)}`, ids],
      [`prefix=${second}`, [second]],
      ['prefix=9', []],
      ['developerId=other', ids.slice(4)],
      ['developerId=nobody', []],
      [`applicationId=${tenant.applicationId}`, [first]],
      ['activation=activated', [first]],
      ['activation=deactivated', rest],
      ['connected=true', [first]],
      ['connected=false', rest],
      ['connected=true&developerId=other', []],
      [`connected=true&prefix=${second}`, []],
      ['firmware=9.1.0', [first]],
      ['firmware=', rest],
      ['firmware=9', []],
      ['package=com.example.camera', [first]],
      ['package=com.example.camera&version=1.0.0', [first]],
      ['package=com.example.camera&version=1.0.1', []],
      ['package=com.example.other', []],
      ['batteryBelow=16', [first]],
      ['batteryBelow=15', []],
      ['batteryFrom=15', [first]],
      ['batteryFrom=10&batteryBelow=20', [first]],
      ['batteryFrom=16', []],
      ['notSeenFor=1s', rest],
      ['activation=activated&firmware=9.1.0&batteryBelow=50&connected=true&package=com.example.camera', [first]],
    ];
    for (const [query, wanted] of rows) {
      t.same(await idsOf(admin, query), wanted, query);
      t.same(await idsOf(admin, `${query}&limit=1`), wanted, `${query}, a device a page`);
    }
  });

  t.test(
    'devices are sorted by their last-seen time, in both directions; never seen counts as longest ago',
    async (t) => {
      world.clock.advance(3_600_000);
      const link = await world.connect({ deviceId: third, credential: await credentialOf(admin, third) });
      await link.drop();
      await world.idle();
      world.clock.advance(60_000); // the time is stored after so long
      await world.idle();
      const never = [second, ...ids.slice(3)];
      for (const limit of [1, 2, 100]) {
        t.same(await idsOf(admin, `sort=lastSeen&limit=${limit}`), [...never, first, third]);
        t.same(await idsOf(admin, `sort=-lastSeen&limit=${limit}`), [third, first, ...never]);
        t.same(await idsOf(admin, `sort=-lastSeen&notSeenFor=30m&limit=${limit}`), [first, ...never]);
        t.same(await idsOf(admin, `sort=-lastSeen&connected=true&limit=${limit}`), [first]);
      }
      await report(active.link, { lang: 'ja' });
      t.same(await idsOf(admin, 'notSeenFor=30m'), never, 'what was heard in this minute is not stored, and counts');
    },
  );

  t.test('a filter that makes no sense is refused, and named', async (t) => {
    for (const [query, name] of [
      ['prefix=x', 'prefix'],
      ['connected=yes', 'connected'],
      ['version=1.0.0', 'package'],
      ['batteryBelow=0', 'batteryBelow'],
      ['notSeenFor=7', 'notSeenFor'],
      ['notSeenFor=0d', 'notSeenFor'],
      ['sort=firmware', 'sort'],
      ['after=x', 'after'],
      [`after=${first}&sort=lastSeen`, 'after'],
      [`after=1.${first}`, 'after'],
      ['offset=1', 'offset'],
      ['limit=1001', 'limit'],
    ] as const) {
      t.match(
        await admin.get(`${DEVICES}?${query}`),
        { status: 400, body: { details: [{ loc: ['query', name] }] } },
        query,
      );
    }
  });

  t.test('the status of a device, field by field', async (t) => {
    const { body } = await admin.get(`${DEVICES}/${first}/status`);
    t.same(body, {
      deviceId: first,
      reportedAt: '2026-11-20T10:31:00.123456Z',
      fields: [
        { name: 'firmwareVersion', value: '9.1.0', at: UTC_NOW },
        { name: 'battery', value: { level: 15, charging: false }, at: UTC_NOW },
        {
          name: 'software',
          value: [{ package: 'com.example.camera', version: '1.0.0', versionCode: 1 }],
          at: UTC_NOW,
        },
        { name: 'lang', value: 'ja', at: '2026-11-20T10:31:00.123456Z' },
      ],
      software: [
        { package: 'com.example.camera', version: '1.0.0', state: 'installed', errorCode: null, since: UTC_NOW },
      ],
    });
    const nothing = await admin.get(`${DEVICES}/${second}/status`);
    t.same(nothing.body, { deviceId: second, reportedAt: null, fields: [], software: [] });
  });

  t.test('the connection of a device, and its end', async (t) => {
    const { body } = await admin.get(`${DEVICES}/${first}/connection`);
    t.same(body, {
      connected: true,
      since: UTC_NOW,
      address: '127.0.0.1',
      transport: 'mqtt',
      keepAliveSeconds: 0,
      protocol: '3.1.1',
      withoutCommandsSince: null,
      session: {
        present: true,
        subscriptions: ['commands', 'errors', 'responses'].map((k) => `devices/${first}/${k}`),
      },
      lastSeenAt: '2026-11-20T10:31:00.123456Z',
      node: usualDatabase === 'sqlite' ? null : body.node,
    });
    if (usualDatabase === 'postgres') t.match(body.node, /^node_/);
    t.equal((await admin.delete(`${DEVICES}/${first}/connection`)).status, 204);
    await active.link.closed;
    await world.idle();
    t.match((await admin.get(`${DEVICES}/${first}/connection`)).body, {
      connected: false,
      since: null,
      address: null,
      transport: null,
      keepAliveSeconds: null,
      protocol: null,
      session: { present: true, subscriptions: { length: 3 } },
    });
    t.equal((await admin.delete(`${DEVICES}/${first}/connection`)).status, 204, 'nothing happens without one');

    const again = await world.open({
      ...active,
      clean: true,
      connect: { keepalive: 90, protocolVersion: 3, protocolId: 'MQIsdp' },
    });
    t.equal((await again.login()).returnCode, 0, 'and it may come back');
    t.match((await admin.get(`${DEVICES}/${first}/connection`)).body, {
      connected: true,
      since: '2026-11-20T10:31:00.123456Z',
      keepAliveSeconds: 90,
      protocol: '3.1',
      session: { present: false, subscriptions: [] },
    });
    t.same((await admin.get(`${DEVICES}/${second}/connection`)).body, {
      connected: false,
      since: null,
      address: null,
      transport: null,
      keepAliveSeconds: null,
      protocol: null,
      withoutCommandsSince: null,
      session: { present: false, subscriptions: [] },
      lastSeenAt: null,
      node: null,
    });
  });
});

async function credentialOf(admin: CheckedClient, deviceId: string): Promise<string> {
  return (await admin.post(`${DEVICES}/${deviceId}/credential`, { json: {} })).body.credential;
}

t.test('the transactions of all developers', async (t) => {
  const world = await startWorld(t);
  const [tenant, other] = [await world.createTenant(), await world.createTenant('other')];
  const admin = world.admin();
  const one = await world.activatedDevice(tenant);
  const two = await world.activatedDevice(other);
  await two.link.drop();
  const idsOfRows = async (path: string): Promise<number[]> => {
    const pages = await pagesOf<{ transactionId: number }>(admin, `/admin/v1${path}`, 'transactions');
    return pages.flat().map(({ transactionId }) => transactionId);
  };
  const wifi = transactionIdOf(await tenant.api.put(`${one.path}/settings/wifi`, { json: WIFI }));
  const { packet } = await one.link.command();
  one.link.puback(packet);
  await world.idle();
  world.clock.advance(1_800_000);
  const failed = transactionIdOf(await tenant.api.put(`${one.path}/settings/lang`, { json: { lang: 'ja' } }));
  await one.link.ack({
    transactionId: (await one.link.command()).transactionId,
    status: 'failed',
    error: { code: 'UNSUPPORTED', message: 'no' },
  });
  await tenant.event();
  const apn = transactionIdOf(
    await other.api.put(`${two.path}/settings/apn`, {
      json: [{ name: 'a', apn: 'b', user: '••••', password: 'hidden' }],
    }),
  );
  const state = transactionIdOf(await other.api.get(`${two.path}/connectivity/state?type=bluetooth`));
  await world.idle();
  const [activated, activatedTwo] = [1, 2];

  t.test('all transactions newest first, unfinished ones oldest first, with every filter', async (t) => {
    const rows: [query: string, wanted: number[]][] = [
      ['', [state, apn, failed, wifi, activatedTwo, activated]],
      ['unfinished=true', [wifi, apn, state]],
      ['unfinished=false&status=failed', [failed]],
      ['status=queued', [state, apn]],
      ['status=delivered', [wifi]],
      ['unfinished=true&status=failed', []],
      ['unfinished=true&olderThan=20m', [wifi]],
      ['olderThan=29m', [wifi, activatedTwo, activated]],
      ['operation=activate', [activatedTwo, activated]],
      ['unfinished=true&operation=setApn', [apn]],
      [`applicationId=${other.applicationId}`, [state, apn, activatedTwo]],
      [`unfinished=true&applicationId=${other.applicationId}`, [apn, state]],
      [`deviceId=${one.deviceId}`, [failed, wifi, activated]],
      [`deviceId=${one.deviceId}&operation=setWifi`, [wifi]],
      [`deviceId=${one.deviceId}&unfinished=true`, [wifi]],
      ['warning=true', []],
    ];
    for (const [query, wanted] of rows) {
      t.same(await idsOfRows(`/transactions?${query}`), wanted, query);
      t.same(await idsOfRows(`/transactions?${query}&limit=1`), wanted, `${query}, one a page`);
    }
    for (const query of ['olderThan=x', 'status=done', 'operation=x', 'deviceId=1', 'warning=1', 'offset=1']) {
      t.match(await admin.get(`/admin/v1/transactions?${query}`), { status: 400 }, query);
    }
  });

  t.test('the transactions of a device for any application, and its queue', async (t) => {
    t.same(await idsOfRows(`/devices/${two.deviceId}/transactions`), [state, apn, activatedTwo]);
    t.same(await idsOfRows(`/devices/${two.deviceId}/transactions?limit=1`), [state, apn, activatedTwo]);
    t.same(await idsOfRows(`/devices/${two.deviceId}/transactions?unfinished=true`), [apn, state], 'in order');
  });

  t.test('a row, and the details of one transaction', async (t) => {
    const { body } = await admin.get(`/admin/v1/transactions/${failed}`);
    t.match(body, {
      transactionId: failed,
      deviceId: one.deviceId,
      applicationId: tenant.applicationId,
      operation: 'setLanguage',
      subject: 'ja',
      status: 'failed',
      attempts: 1,
      createdAt: '2026-11-20T10:00:00.123456Z',
      publishedAt: '2026-11-20T10:00:00.123456Z',
      completedAt: '2026-11-20T10:00:00.123456Z',
      error: { code: 'UNSUPPORTED', message: 'no' },
      warning: null,
      parameters: null,
      result: null,
      deliveryId: /^msg_/,
      webhook: { status: 'delivered', type: 'transaction.failed', attempts: 1, lastStatusCode: 200 },
    });
    t.equal(body.webhook.deliveryId, body.deliveryId);
    const { body: waiting } = await admin.get(`/admin/v1/transactions/${apn}`);
    t.match(waiting, { status: 'queued', publishedAt: null, webhook: null, deliveryId: null });
    t.same(
      waiting.parameters,
      { apns: [{ name: 'a', apn: 'b', user: '••••', password: '••••' }] },
      'no password is shown',
    );
    const { body: sent } = await admin.get(`/admin/v1/transactions/${wifi}`);
    t.same(sent.parameters.networks, [{ ssid: 'office', password: '••••', security: 'WPA2' }]);
    const row = (await admin.get(`/admin/v1/transactions?status=failed`)).body.transactions[0];
    const { parameters: _, result: __, webhook: ___, ...rest } = body;
    t.same(row, rest);
  });

  t.test('a warning means that the device is too old to answer', async (t) => {
    const again = await world.connect(two);
    await report(again, { firmwareVersion: '9.0.0', managementClientVersion: '2.3.1' });
    await again.drop();
    for (const query of ['warning=true', 'warning=true&unfinished=true', 'warning=true&limit=1']) {
      t.same(await idsOfRows(`/transactions?${query}`), [state], query);
    }
    const { body } = await admin.get('/admin/v1/transactions?warning=true');
    t.match(body.transactions[0].warning, { code: 'FIRMWARE_TOO_OLD', message: /9\.0\.0/ });
    t.same(await idsOfRows('/transactions?warning=true&operation=setApn'), []);
  });

  t.test(
    'one or many transactions are cancelled, and their application gets the webhooks of its own cancels',
    async (t) => {
      t.equal((await admin.delete(`/admin/v1/transactions/${apn}`)).status, 204);
      t.match(await other.event(), { type: 'transaction.cancelled', data: { transaction: { transactionId: apn } } });
      t.match(await admin.delete(`/admin/v1/transactions/${apn}`), { status: 409 });
      t.match(await admin.delete('/admin/v1/transactions/999999'), {
        status: 404,
        body: { reason: 'transaction not found.' },
      });
      const answer = await admin.post('/admin/v1/transactions/cancel', {
        json: { transactionIds: [wifi, 999_999, state, wifi] },
      });
      t.same(answer.body.results, [
        { transactionId: wifi, cancelled: true },
        { transactionId: 999_999, cancelled: false, code: 'TRANSACTION_NOT_FOUND' },
        { transactionId: state, cancelled: true },
        { transactionId: wifi, cancelled: true },
      ]);
      const { body } = await admin.post('/admin/v1/transactions/cancel', { json: { transactionIds: [wifi] } });
      t.same(body.results, [{ transactionId: wifi, cancelled: false, code: 'TRANSACTION_FINISHED' }]);
      t.match(await one.link.command(), { operation: 'cancel' });
      t.match(await tenant.event(), { type: 'transaction.cancelled', data: { transaction: { transactionId: wifi } } });
      t.same(await idsOfRows('/transactions?unfinished=true'), []);
      for (const json of [
        {},
        { transactionIds: [] },
        { transactionIds: ['1'] },
        { transactionIds: Array(1001).fill(1) },
      ]) {
        t.match(await admin.post('/admin/v1/transactions/cancel', { json }), { status: 400 });
      }
    },
  );
});
