import t from 'tap';
import { run } from '../cli/run.ts';
import { pagesOf } from '../pages.ts';
import { startWorld, transactionIdOf } from '../world.ts';

const MINUTE = 60_000;

t.test('the order of lists of transactions', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const admin = world.admin();
  const device = await world.activatedDevice(tenant);
  const asleep = await world.activatedDevice(tenant);
  await asleep.link.drop();
  const made = [1, 2];
  const send = async (ofAsleep: boolean): Promise<void> => {
    const lang = await api.put(`${(ofAsleep ? asleep : device).path}/settings/lang`, { json: { lang: 'ja' } });
    made.push(transactionIdOf(lang));
    if (ofAsleep) return;
    const { transactionId, packet } = await device.link.command();
    device.link.puback(packet);
    const error = { code: 'UNSUPPORTED', message: 'no' };
    await device.link.ack({
      transactionId,
      ...(made.length % 2 === 0 ? { status: 'failed', error } : { status: 'succeeded' }),
    });
    await tenant.event();
  };
  for (let round = 0; round < 12; round += 1) {
    await send(round % 3 === 0);
    // Some are created at the same moment.
    if (round % 2 === 1) world.clock.advance(5 * MINUTE);
  }
  // The numbers have a gap: each start raises the next one.
  const raw = await world.raw();
  const last = made.at(-1) ?? 0;
  await world.idle();
  await raw.all(
    `INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts, created_at, updated_at, completed_at)
     SELECT transaction_id + 9000000000, device_id, application_id, operation, status, due, attempts, created_at + 7200000000, updated_at + 7200000000,
       completed_at + 7200000000 FROM transactions WHERE transaction_id = ${last}`,
  );
  made.push(last + 9_000_000_000);

  type Row = { transactionId: number; createdAt: string; status: string; deviceId: string };
  const all = (await pagesOf<Row>(admin, '/admin/v1/transactions', 'transactions')).flat();
  t.same(
    all.map(({ transactionId }) => transactionId),
    made.toReversed(),
    'by default the newest first',
  );
  const since = all[8]?.createdAt ?? '';
  const queries: [query: string, passes: (row: Row) => boolean][] = [
    ['', () => true],
    ['operation=setLanguage&', () => true],
    ['status=succeeded&', ({ status }) => status === 'succeeded'],
    ['unfinished=true&', ({ status }) => status === 'queued'],
    ['status=queued&', ({ status }) => status === 'queued'],
    [`deviceId=${device.deviceId}&`, ({ deviceId }) => deviceId === device.deviceId],
    [`deviceId=${device.deviceId}&status=failed&`, ({ status }) => status === 'failed'],
    [`since=${since}&`, ({ createdAt }) => createdAt >= since],
    [`until=${since}&`, ({ createdAt }) => createdAt < since],
  ];
  const wantedOf = (query: string, passes: (row: Row) => boolean): number[] =>
    all
      .filter((row) => passes(row) && (!query.startsWith('operation') || row.transactionId > 2))
      .map(({ transactionId }) => transactionId);

  for (const [name, client, list] of [
    ['of administration', admin, '/admin/v1/transactions'],
    ['of an application', api, `${path}/transactions`],
  ] as const)
    await t.test(`${name}: every filter has both orders, on one page and on many`, async (t) => {
      for (const [query, passes] of queries) {
        const newest = wantedOf(query, passes);
        t.ok(newest.length > 1, query);
        for (const limit of [100, 2]) {
          const idsOf = async (order: string) =>
            (await pagesOf<Row>(client, `${list}?${query}limit=${limit}&sort=${order}`, 'transactions'))
              .flat()
              .map(({ transactionId }) => transactionId);
          t.same(await idsOf('createdAt'), newest.toReversed(), `${query} oldest first, ${limit} a page`);
          t.same(await idsOf('-createdAt'), newest, `${query} newest first, ${limit} a page`);
        }
      }
    });

  await t.test('failures of all devices come by their ends, and another order is refused with its name', async (t) => {
    for (const query of ['status=failed', 'errorCode=UNSUPPORTED', 'status=failed&since=2026-11-20T00:00:00Z'])
      t.match(await admin.get(`/admin/v1/transactions?${query}&sort=createdAt`), {
        status: 400,
        body: { details: [{ loc: ['query', 'sort'], type: 'extra_forbidden' }] },
      });
    t.match(await admin.get('/admin/v1/transactions?sort=lastSeen'), {
      status: 400,
      body: { details: [{ loc: ['query', 'sort'] }] },
    });
  });

  await t.test('the command line passes the order on', async (t) => {
    const { addresses, adminToken } = world.service;
    const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
    const listed = await run(['admin', 'transaction', 'list', '--sort', 'createdAt', '--limit', '3', '--json'], {
      env,
    });
    const { transactions } = JSON.parse(listed.stdout) as { transactions: Row[] };
    t.same(
      transactions.map(({ transactionId }) => transactionId),
      made.slice(0, 3),
    );
  });

  await t.test('the transactions of a rollout have both orders', async (t) => {
    const { rolloutId } = (
      await api.post(`${path}/rollouts`, {
        json: { operation: 'setLanguage', parameters: { lang: 'en' }, devices: {} },
      })
    ).body;
    const idsOf = async (query: string): Promise<number[]> =>
      (await pagesOf<Row>(admin, `/admin/v1/transactions?rolloutId=${rolloutId}&limit=1${query}`, 'transactions'))
        .flat()
        .map(({ transactionId }) => transactionId);
    await world.idle();
    const oldest = await idsOf('&sort=createdAt');
    t.equal(oldest.length, 2);
    t.same(await idsOf(''), oldest.toReversed());
    t.same(await idsOf('&unfinished=true'), oldest);
    t.same(await idsOf('&unfinished=true&sort=-createdAt'), oldest.toReversed());
  });
});
