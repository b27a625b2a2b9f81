import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

const APN = [{ name: 'Fleet', apn: 'iot.example.com' }];
const REVERTED = { code: 'REVERTED', message: 'the service was not reached.' };

t.test('a list of networks that the device tries for a time', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { path, link, ...device } = await world.activatedDevice(tenant);
  const put = (kind: string, query = '', headers = {}) =>
    tenant.api.put(`${path}/settings/${kind}${query}`, { json: kind === 'wifi' ? WIFI : APN, headers });

  await t.test('has 30 seconds to an hour, and networks only have it', async (t) => {
    for (const kind of ['wifi', 'apn'])
      for (const [query, type] of [
        ['revertAfter=29', 'greater_than_equal'],
        ['revertAfter=3601', 'less_than_equal'],
        ['revertAfter=1.5', 'int_type'],
        ['revertAfter=5m', 'int_type'],
        ['revertAfter=60&revertAfter=60', 'extra_forbidden'],
      ] as const)
        t.match(
          await put(kind, `?${query}`),
          { status: 400, body: { details: [{ loc: ['query', 'revertAfter'], type }] } },
          `${kind} ${query}`,
        );
    t.match(await tenant.api.put(`${path}/settings/lang?revertAfter=60`, { json: { lang: 'ja' } }), {
      status: 400,
      body: { details: [{ loc: ['query', 'revertAfter'], type: 'extra_forbidden' }] },
    });
  });

  await t.test('tells the device the time, and nothing without it', async (t) => {
    for (const [kind, query, parameters] of [
      ['wifi', '?revertAfter=30', { networks: WIFI, revertAfter: 30 }],
      ['apn', '?revertAfter=3600', { apns: APN, revertAfter: 3600 }],
      ['wifi', '', { networks: WIFI }],
      ['apn', '', { apns: APN }],
    ] as const) {
      const answer = await put(kind, query);
      const command = await link.command();
      t.strictSame(command.parameters, parameters);
      await link.ack({ transactionId: transactionIdOf(answer), status: 'succeeded' });
      t.match((await tenant.event()).data.transaction, { status: 'succeeded' });
    }
  });

  await t.test('is named again when the device comes back, and ends as failed with REVERTED', async (t) => {
    const transactionId = transactionIdOf(await put('wifi', '?revertAfter=60'));
    t.match(await link.command(), { attempt: 1 });
    await link.drop();
    const again = await world.connect(device);
    t.match(await again.command(), { transactionId, attempt: 2, parameters: { revertAfter: 60 } });
    await again.ack({ transactionId, status: 'failed', error: REVERTED });
    t.match((await tenant.event()).data.transaction, { transactionId, status: 'failed', error: REVERTED });
    t.match((await tenant.api.get(`${path}/transactions/${transactionId}`)).body, { error: REVERTED });
  });

  await t.test('belongs to the request of an Idempotency-Key', async (t) => {
    const headers = { 'idempotency-key': '"tried"' };
    t.equal((await put('wifi', '?revertAfter=60', headers)).status, 201);
    t.equal((await put('wifi', '?revertAfter=60', headers)).headers['idempotency-replayed'], 'true');
    t.equal((await put('wifi', '?revertAfter=61', headers)).status, 422);
  });
});
