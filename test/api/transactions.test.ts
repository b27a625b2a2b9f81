import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('a transaction is looked up by its application and device only', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const other = await world.registerDevice();
  const answer = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const id = transactionIdOf(answer);
  t.match((await tenant.api.get(`${device.path}/transactions/${id}`)).body, {
    transactionId: id,
    deviceId: device.deviceId,
    operation: 'setWifi',
    attempts: 1,
    createdAt: '2026-11-20T18:30:00.123456',
    completedAt: null,
    progress: null,
    result: null,
    error: null,
  });
  const unknown = { status: 404, body: { reason: 'transaction not found.' } };
  t.match(await tenant.api.get(`${device.path}/transactions/${id + 1}`), unknown);
  t.match(await tenant.api.get(`${tenant.path}/devices/${other.deviceId}/transactions/${id}`), unknown);
  t.match(await tenant.api.delete(`${tenant.path}/devices/${other.deviceId}/transactions/${id}`), unknown);
  t.match(await tenant.api.get(`${device.path}/transactions/abc`), {
    status: 404,
    body: { details: [{ loc: ['pathParameters', 'transactionId'], type: 'int_type' }] },
  });
});

t.test('the list is newest first, filtered, and paged by links', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  for (let count = 0; count < 5; count += 1) await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const seen: number[] = [];
  let target: string | undefined = `${device.path}/transactions?operation=setWifi&limit=2`;
  let pages = 0;
  while (target !== undefined) {
    const {
      body,
      headers,
    }: { body: { total: number; transactions: { transactionId: number }[] }; headers: Record<string, unknown> } =
      await tenant.api.get(target);
    t.equal(body.total, 5);
    seen.push(...body.transactions.map(({ transactionId }) => transactionId));
    const next = /^<(.+)>; rel="next"$/.exec(String(headers['link']))?.[1];
    target = next === undefined ? undefined : next.slice(world.service.addresses.http.length);
    pages += 1;
  }
  t.equal(pages, 3);
  t.same(seen, [6, 5, 4, 3, 2]);
  t.match((await tenant.api.get(`${device.path}/transactions?status=succeeded`)).body, {
    total: 1,
    transactions: [{ operation: 'activate' }],
  });
  t.same((await tenant.api.get(`${device.path}/transactions?offset=100`)).body, { transactions: [], total: 6 });
});

t.test('wrong values of the query are named, unknown parameters are not looked at', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  const { deviceId } = await world.registerDevice();
  t.match(await api.get(`${path}/devices/${deviceId}/transactions?limit=1001&offset=-1&status=x&colour=red`), {
    status: 400,
    body: { details: [{ loc: ['query', 'status'] }, { loc: ['query', 'offset'] }, { loc: ['query', 'limit'] }] },
  });
  t.equal((await api.get(`${path}/devices/${deviceId}/transactions?colour=red`)).status, 200);
});

t.test('a cancelled transaction is over; cancelling it again is 409', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId } = await world.registerDevice();
  const own = `${tenant.path}/devices/${deviceId}`;
  const id = transactionIdOf(await tenant.api.post(own));
  const cancelled = await tenant.api.delete(`${own}/transactions/${id}`);
  t.match(cancelled, { status: 204, body: undefined });
  t.match((await tenant.api.get(`${own}/transactions/${id}`)).body, { status: 'cancelled', attempts: 0 });
  t.equal((await tenant.event()).type, 'transaction.cancelled');
  t.match(await tenant.api.delete(`${own}/transactions/${id}`), {
    status: 409,
    body: { message: 'transaction is already finished.' },
  });
});
