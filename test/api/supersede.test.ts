import t from 'tap';
import { transactionIdOf, WIFI } from '../world.ts';
import { startSoftware } from './software-world.ts';

t.test('the terms of a command', async (t) => {
  const { world, tenant, register, upload, versionPath } = await startSoftware(t);

  // The devices are made first, because their activation takes the next webhook.
  const devices: Awaited<ReturnType<typeof world.activatedDevice>>[] = [];
  while (devices.length < 8) devices.push(await world.activatedDevice(tenant));

  async function setUp() {
    const device = devices.pop()!;
    const wifi = async (query = '', headers = {}) =>
      tenant.api.put(`${device.path}/settings/wifi${query}`, { json: WIFI, headers });
    const put = async (query = ''): Promise<number> => transactionIdOf(await wifi(query));
    const read = async (id: number) => (await tenant.api.get(`${device.path}/transactions/${id}`)).body;
    const endsOf = async (id: number): Promise<unknown[]> => {
      await world.idle();
      return tenant.receiver.requests
        .map(({ body }) => JSON.parse(body.toString()))
        .filter(({ data }) => data.transaction.transactionId === id)
        .map(({ type, data }) => [type, data.transaction.error?.code, data.transaction.supersededBy]);
    };
    return { ...device, wifi, put, read, endsOf };
  }

  await t.test('are checked, and each fault is named', async (t) => {
    const { wifi, path } = await setUp();
    for (const [query, name, type] of [
      ['expireIn=59', 'expireIn', 'greater_than_equal'],
      ['expireIn=2592001', 'expireIn', 'less_than_equal'],
      ['expireIn=1.5', 'expireIn', 'int_type'],
      ['expireIn=2h', 'expireIn', 'int_type'],
      ['answerWithin=0', 'answerWithin', 'greater_than_equal'],
      ['answerWithin=2592001', 'answerWithin', 'less_than_equal'],
      ['supersede=yes', 'supersede', 'enum'],
      ['expireIn=60&expireIn=61', 'expireIn', 'extra_forbidden'],
    ] as const)
      t.match(await wifi(`?${query}`), { status: 400, body: { details: [{ loc: ['query', name], type }] } }, query);
    const refused = { status: 400, body: { details: [{ loc: ['query', 'supersede'], type: 'extra_forbidden' }] } };
    t.match(
      await tenant.api.post(`${path}?supersede=true`, { json: {} }),
      refused,
      'an activation supersedes no other',
    );
    t.match(await tenant.api.delete(`${path}?supersede=true`), refused, 'nor does a deactivation');
    t.equal((await wifi('?expireIn=60&answerWithin=2592000&supersede=false')).status, 201);
  });

  await t.test('belong to every operation that sends a command', async (t) => {
    const { path, link, ...device } = await setUp();
    await link.drop();
    const query = 'expireIn=60&answerWithin=60';
    const { api } = tenant;
    const answers = [
      await api.put(`${path}/settings/apn?${query}&supersede=true`, { json: [{ name: 'a', apn: 'a' }] }),
      await api.put(`${path}/settings/lang?${query}&supersede=true`, { json: { lang: 'ja' } }),
      await api.get(`${path}/connectivity/state?type=bluetooth&${query}&supersede=true`),
      await api.put(`${path}/connectivity/state?${query}&supersede=true`, {
        json: { type: 'bluetooth', enabled: true },
      }),
      await api.get(`${path}/connectivity/list?type=bluetooth&${query}&supersede=true`),
      await api.post(`${path}/bluetooth/devices?${query}&supersede=true`, {
        json: { macAddress: 'AA:BB:CC:DD:EE:FF' },
      }),
      await api.delete(`${path}?${query}`),
    ];
    for (const answer of answers) {
      t.equal(answer.status, 201, JSON.stringify(answer.body));
      t.match(await device.read(transactionIdOf(answer)), { status: 'queued', expiresAt: /^2026/, answerWithin: 60 });
    }
  });

  await t.test('are part of the request of an Idempotency-Key', async (t) => {
    const { wifi, link } = await setUp();
    await link.drop();
    const headers = { 'idempotency-key': '"terms"' };
    const first = await wifi('?expireIn=60', headers);
    t.equal(first.status, 201);
    const again = await wifi('?expireIn=60&supersede=false', headers);
    t.match([again.status, transactionIdOf(again)], [201, transactionIdOf(first)]);
    t.equal((await wifi('?expireIn=61', headers)).status, 422);
    t.equal((await wifi('', headers)).status, 422);
    t.equal((await wifi('?expireIn=60&supersede=true', headers)).status, 422);
  });

  await t.test('a command takes the place of forty that wait: the device gets one', async (t) => {
    const { path, link, wifi: _, put, read, endsOf, ...device } = await setUp();
    await link.drop();
    const older: number[] = [];
    for (let round = 0; round < 40; round += 1) older.push(await put());
    const other = transactionIdOf(await tenant.api.put(`${path}/settings/lang`, { json: { lang: 'ja' } }));
    const newest = await put('?supersede=true');
    const again = await world.connect(device);
    t.match(await again.command(), { transactionId: other, operation: 'setLanguage' }, 'another operation stays');
    t.match(await again.command(), { transactionId: newest, operation: 'setWifi' });
    await world.idle();
    t.equal(again.pending('publish').length, 0);
    for (const id of [older[0]!, older[39]!]) {
      t.match(await read(id), {
        status: 'cancelled',
        error: { code: 'SUPERSEDED' },
        supersededBy: newest,
        attempts: 0,
      });
      t.same(await endsOf(id), [['transaction.cancelled', 'SUPERSEDED', newest]]);
    }
    t.match(await read(newest), { error: null });
    await again.ack({ transactionId: older[0], status: 'succeeded' });
    t.match((await read(older[0]!)).late, { status: 'succeeded' }, 'a late result is kept');
  });

  await t.test('a device that has the older command gets its cancel before the newer command', async (t) => {
    const { link, put } = await setUp();
    const older = await put();
    t.match(await link.command(), { transactionId: older });
    const newer = await put('?supersede=true');
    t.match(await link.command(), { transactionId: older, operation: 'cancel' });
    t.match(await link.command(), { transactionId: newer, operation: 'setWifi' });
    await link.ack({ transactionId: newer, status: 'succeeded' });
    t.equal(link.pending('publish').length, 0);
  });

  await t.test('without older commands it is sent at once', async (t) => {
    const { link, put } = await setUp();
    const id = await put('?supersede=true');
    t.match(await link.command(), { transactionId: id, attempt: 1 });
  });

  await t.test('an install supersedes installs of the same package only', async (t) => {
    const { path, link, read } = await setUp();
    await link.drop();
    const install = async (name: string, version: string, query = '') => {
      const json = { package: `com.example.${name}`, version };
      return transactionIdOf(await tenant.api.put(`${path}/apps${query}`, { json }));
    };
    for (const [name, ...versions] of [
      ['com.example.camera', '1.0.0', '2.0.0'],
      ['com.example.camera2', '1.0.0'],
    ] as const) {
      await register(name, ...versions);
      for (const version of versions) {
        await upload(name, version);
        t.equal((await tenant.api.post(`${versionPath(name, version)}/distributions`)).status, 201);
      }
    }
    const [camera, other] = [await install('camera', '1.0.0'), await install('camera2', '1.0.0')];
    const newest = await install('camera', '2.0.0', '?supersede=true');
    t.match(await read(camera), { status: 'cancelled', supersededBy: newest });
    t.match(await read(other), { status: 'queued' });
    const counts = await tenant.api.get(`${tenant.path}/packages/com.example.camera/versions/1.0.0/installations`);
    t.match(counts.body, { failed: 0, waiting: 0 }, 'a superseded install has not failed');
  });

  await t.test('a full queue makes room for a command that supersedes, and for no other', async (t) => {
    const { path, link, put, wifi: _, read: __ } = await setUp();
    await link.drop();
    const first = await put();
    await (await world.raw()).exec(
      `INSERT INTO transactions (device_id, application_id, operation, status, due, attempts, created_at, updated_at)
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
       SELECT device_id, application_id, operation, status, due, attempts, created_at, updated_at
       FROM transactions CROSS JOIN numbers WHERE transaction_id = ${first}`,
    );
    await world.restart(); // the service keeps a bound of the number in memory
    await tenant.renew();
    const wifi = (query: string) => tenant.api.put(`${path}/settings/wifi${query}`, { json: WIFI });
    t.equal((await wifi('')).status, 429);
    t.equal((await tenant.api.put(`${path}/settings/lang?supersede=true`, { json: { lang: 'ja' } })).status, 429);
    const answer = await wifi('?supersede=true');
    t.equal(answer.status, 201);
    const unfinished = await tenant.api.get(`${path}/transactions?status=queued`);
    t.equal(unfinished.body.transactions.length, 1);
    t.equal((await wifi('')).status, 201, 'and there is room again');
  });
});
