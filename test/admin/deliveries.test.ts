import t from 'tap';
import { run } from '../cli/run.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const SECOND = 1_000;
interface Row {
  deliveryId: string;
  applicationId: string;
}

t.test('webhooks in administration', async (t) => {
  const world = await startWorld(t);
  const tenants = [await world.createTenant('one'), await world.createTenant('two'), await world.createTenant('three')];
  const [one, two] = tenants as [(typeof tenants)[0], (typeof tenants)[0], (typeof tenants)[0]];
  const device = await world.activatedDevice(one);
  const admin = world.admin();
  const list = async (query = '') => (await admin.get(`/admin/v1/deliveries?${query}`)).body.deliveries as Row[];
  const receivers = async (query = '') => {
    world.clock.advance(11 * SECOND); // the list is kept for ten seconds
    await world.idle();
    return (await admin.get(`/admin/v1/receivers?${query}`)).body.receivers;
  };
  const test = async (tenant: typeof one): Promise<string> => {
    const { body } = await admin.post(`/admin/v1/applications/${tenant.applicationId}/webhooks/test`, {
      json: { setting: 'deviceEvent' },
    });
    await tenant.receiver.next();
    await world.idle();
    return body.deliveryId;
  };
  /** Follows all pages of so many rows. */
  async function pages(query: string, limit: number): Promise<string[]> {
    const ids: string[] = [];
    for (let next: string | undefined = `${query}&limit=${limit}`; next !== undefined; ) {
      const { body, headers } = await admin.get(`/admin/v1/deliveries?${next}`);
      t.ok(body.deliveries.length <= limit);
      ids.push(...body.deliveries.map(({ deliveryId }: Row) => deliveryId));
      next = /<[^?]*\?([^>]*)>/.exec(String(headers['link'] ?? ''))?.[1];
    }
    return ids;
  }

  const made: string[] = [(await list())[0]?.deliveryId ?? ''];
  for (let round = 0; round < 12; round += 1) {
    world.clock.advance(SECOND);
    made.unshift(await test(tenants[[0, 0, 1, 0, 2, 2][round % 6] ?? 0] as typeof one));
  }

  await t.test('the webhooks of all applications are one list, newest first, in pages of any size', async (t) => {
    t.same(
      (await list()).map(({ deliveryId }) => deliveryId),
      made,
    );
    for (const limit of [1, 2, 3, 5, 13]) t.same(await pages('', limit), made, `by ${limit}`);
    const ofTwo = (await list(`applicationId=${two.applicationId}`)).map(({ deliveryId }) => deliveryId);
    t.same(await pages(`applicationId=${two.applicationId}`, 1), ofTwo);
    t.equal(ofTwo.length, 2);
    t.same(await pages('status=delivered&setting=deviceEvent', 4), made);
    t.same(await pages('status=exhausted', 4), []);
    t.same(await pages('since=2026-11-20T09:30:05.123456Z&until=2026-11-20T09:30:08.123456Z', 2), made.slice(5, 8));
    t.equal((await list(`deviceId=${device.deviceId}`)).length, 1);
  });

  await t.test('a webhook can be found by its transaction', async (t) => {
    const transactionId = transactionIdOf(await one.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    t.same(await list(`transactionId=${transactionId}`), []);
    await device.link.command();
    await device.link.ack({ transactionId, status: 'succeeded', result: { psk: 'horse', text: '{"pin":"secret"}' } });
    const { headers } = await one.event();
    await world.idle();
    const deliveryId = String(headers['webhook-id']);
    const shown = await admin.get(`/admin/v1/applications/${one.applicationId}/deliveries/${deliveryId}`);
    t.notMatch(shown.body.body, /horse|secret/, 'administration is not shown what is secret');
    const sent = await one.api.get(`${one.path}/webhooks/deliveries/${deliveryId}`);
    t.match(sent.body.body, /horse.*secret/, 'its application is shown what is sent');
    const [row] = await list(`transactionId=${transactionId}`);
    t.match(row, { deliveryId: headers['webhook-id'], transactionId, deviceId: device.deviceId, status: 'delivered' });
    // Former releases stored no delivery_id, so their rows have none.
    await (await world.raw()).exec('UPDATE transactions SET delivery_id = NULL');
    t.same(await list(`transactionId=${transactionId}`), [row]);
    t.same(await list(`transactionId=${transactionId}&applicationId=${two.applicationId}`), []);
    t.same(await list('transactionId=999999'), []);
  });

  await t.test('a failed webhook shows the answer, also to its application, and can be sent again', async (t) => {
    two.receiver.answer({ status: 503, body: 'busy: <b>later</b>' });
    const deliveryId = await test(two);
    const path = `/admin/v1/applications/${two.applicationId}/deliveries/${deliveryId}`;
    const { body } = await admin.get(path);
    t.match(body, {
      status: 'pending',
      lastStatusCode: 503,
      headers: { 'webhook-id': deliveryId },
      failedAttempts: [{ attempt: 1, statusCode: 503, error: 'answered 503', answer: 'busy: <b>later</b>' }],
    });
    t.match(JSON.parse(body.body), { type: 'test' });
    t.same((await two.api.get(`${two.path}/webhooks/deliveries/${deliveryId}`)).body, body);
    t.equal((await one.api.get(`${one.path}/webhooks/deliveries/${deliveryId}`)).status, 404, 'another one does not');
    t.same(
      (await list('status=pending')).map((row) => row.deliveryId),
      [deliveryId],
    );
    t.same(await pages('status=pending&setting=deviceEvent', 1), [deliveryId]);
    t.same(await list('status=pending&until=2026-11-20T09:00:00Z'), []);
    t.same(await list('status=pending&since=2026-11-20T10:00:00Z'), []);
    t.match(await receivers('state=failing'), [
      {
        applicationId: two.applicationId,
        state: 'failing',
        pending: 1,
        lastStatusCode: 503,
        lastError: 'answered 503',
      },
    ]);
    t.match(
      (await receivers()).map(({ applicationId, state }: Record<string, string>) => [applicationId, state]),
      [
        ['one-app', 'healthy'],
        ['three-app', 'healthy'],
        ['two-app', 'failing'],
      ],
    );
    t.match((await admin.get('/admin/v1/receivers?limit=2')).headers['link'], /after=three-app/);
    t.match((await admin.get('/admin/v1/receivers?limit=2&after=three-app+deviceEvent')).body.receivers, [
      { applicationId: 'two-app' },
    ]);
    const { addresses, adminToken } = world.service;
    const lapel = (...line: string[]) =>
      run([...line, '--admin-url', addresses.admin], { env: { LAPEL_ADMIN_TOKEN: adminToken }, columns: 200 });
    t.match(
      (await lapel('admin', 'receiver', 'list', '--state', 'failing')).stdout,
      /two-app +deviceEvent +failing +1 /,
    );
    t.match(
      (await lapel('admin', 'delivery', 'list', '--status', 'pending')).stdout,
      new RegExp(`${deliveryId} +two-app +test +pending +2 +503 `),
    );
    t.match(
      (await lapel('admin', 'delivery', 'show', 'two-app', deliveryId, '--json')).stdout,
      /"failedAttempts":\[\{/,
    );
    const own = { LAPEL_APPLICATION: 'two-app', LAPEL_APPLICATION_SECRET: two.secret, LAPEL_URL: addresses.http };
    t.match(
      (await run(['webhook', 'show', deliveryId], { env: own, columns: 200 })).stdout,
      /^1 +2026-11-20 09:30:12 +0 +answered 503 +busy: <b>later<\/b>$/m,
    );
    two.receiver.answer({});
    const again = await lapel('admin', 'delivery', 'redeliver', 'two-app', deliveryId);
    t.equal(again.stdout, `sent again: two-app ${deliveryId}\n`);
    await two.receiver.next();
    await world.idle();
    t.match((await admin.get(path)).body, { status: 'delivered', failedAttempts: [{ attempt: 2 }, { attempt: 1 }] });
    t.same(await receivers('state=failing'), []);
    two.receiver.answer({ status: 410 });
    await test(two);
    t.match(await receivers('state=failing'), [{ pending: 0, lastStatusCode: 410 }]);
    await two.api.patch(two.path, { json: { deviceEvent: null } });
    t.same(await receivers('state=failing'), [], 'without a URL there is no receiver');
  });

  await t.test('a range of webhooks is sent again, and the audit log has their number', async (t) => {
    const of = { status: 'delivered', since: '2026-11-20T09:30:00Z', until: '2026-11-20T10:00:00.5Z' };
    const ask = async (json: object) => {
      const { body, status } = await admin.post(`/admin/v1/applications/three-app/deliveries/redeliver`, { json });
      return [status, body];
    };
    t.same(await ask({ ...of, dryRun: true }), [202, { redelivered: 4 }]);
    t.match((await admin.get('/admin/v1/audit?limit=1')).body.entries, [{ status: 202, details: { counted: 4 } }]);
    t.same(await ask({ ...of, setting: 'callEvent', dryRun: true }), [202, { redelivered: 0 }]);
    t.same(await ask({ dryRun: true }), [202, { redelivered: 0 }], 'all are delivered');
    t.same(await ask(of), [202, { redelivered: 4 }]);
    await world.idle();
    const { addresses, adminToken } = world.service;
    const lapel = (...line: string[]) =>
      run(['admin', 'delivery', ...line, '--admin-url', addresses.admin], { env: { LAPEL_ADMIN_TOKEN: adminToken } });
    t.match((await lapel('test', 'three-app', 'deviceEvent')).stdout, /^deliveryId +msg_/);
    await world.idle();
    const range = ['--status', 'delivered', '--since', '2026-11-20T09:30:00Z', '--until', '2026-11-20T09:30:11Z'];
    t.match((await lapel('redeliver-range', 'three-app', ...range)).stdout, /^redelivered +2\n$/);
    t.match((await admin.get('/admin/v1/audit?limit=1')).body.entries, [{ status: 202, details: { redelivered: 2 } }]);
    await world.idle();
  });

  await t.test('an application’s own list begins and ends at times, and names its transactions', async (t) => {
    const own = async (query: string) =>
      (await one.api.get(`${one.path}/webhooks/deliveries?${query}`)).body.deliveries;
    const all = await own('limit=1000');
    const between = await own('since=2026-11-20T09:30:01.123456Z&until=2026-11-20T09:30:04.123456Z');
    t.same(
      between.map(({ deliveryId }: Row) => deliveryId),
      made.filter((id) => between.some(({ deliveryId }: Row) => deliveryId === id)),
    );
    t.equal(between.length, 2);
    t.match(all.at(-1), { deviceId: device.deviceId, transactionId: 1 });
    t.equal((await one.api.get(`${one.path}/webhooks/deliveries?since=yesterday`)).status, 400);
  });
});
