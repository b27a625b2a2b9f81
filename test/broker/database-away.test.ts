import { Client } from 'pg';
import t from 'tap';
import { createDatabase, NO_POSTGRES, startTestPostgres } from '../postgres/databases.ts';
import { risingIds } from '../rising-ids.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('while the database is away', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startTestPostgres();
  t.teardown(() => postgres[Symbol.asyncDispose]());
  const world = await startWorld(t, { ids: risingIds(), env: { LAPEL_DATABASE_URL: await postgres.createDatabase() } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const first = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  await device.link.command();
  const second = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  await device.link.command();
  await world.idle();

  /** Moves the clock on until the promise resolves. */
  async function whileTimePasses<Result>(promise: Promise<Result>): Promise<Result> {
    let over = false;
    void promise.then(() => {
      over = true;
    });
    while (!over) {
      world.clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return promise;
  }

  await postgres.kill();
  const refused = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  t.match(
    refused,
    { status: 503, body: { message: 'the database is unavailable; try again later.' } },
    'callers are told so',
  );
  t.ok(Number(refused.headers['retry-after']) > 0);
  const probe = world.anonymousAdmin();
  const unready = await probe.get('/readyz');
  t.match([unready.status, JSON.stringify(unready.body)], [503, /database/], 'and the probe too, by its name');
  device.link.publish('acks', { transactionId: first, status: 'succeeded' });
  device.link.publish('acks', { transactionId: second, status: 'failed' });
  device.link.send({ cmd: 'pingreq' });
  world.clock.advance(1_000);
  t.same(device.link.pending('puback'), [], 'nothing is acknowledged');
  t.notOk(device.link.socket.destroyed, 'the device stays connected');
  const metrics = (await whileTimePasses(probe.get('/metrics'))).body as string;
  t.match(metrics, /^lapel_ready\{part="database"\} 0$/m, 'the metrics show it');
  t.match(metrics, /^lapel_ready\{part="api"\} 1$/m);

  await postgres.start();
  const acknowledged = Promise.all([device.link.next('puback'), device.link.next('puback')]);
  const events = [tenant.event(), tenant.event()];
  await whileTimePasses(acknowledged);
  // The URLs of receivers are read by another connection, which may recover a little later: then it is tried by the clock.
  // Webhooks run in parallel; the transaction that is carried out first has the lower identifier.
  const inOrder = (await whileTimePasses(Promise.all(events))).toSorted((one, other) =>
    String(one.headers['webhook-id']).localeCompare(String(other.headers['webhook-id'])),
  );
  t.same(
    inOrder.map(({ type, data }) => [data.transaction['transactionId'], type]),
    [
      [first, 'transaction.succeeded'],
      [second, 'transaction.failed'],
    ],
    'what the device said meanwhile is carried out, in its order',
  );
  t.equal((await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI })).status, 201);
  // The command and the lease come by other connections, which may recover a little later: they try again by the clock.
  const delivered = device.link.command();
  let isOver = false;
  void delivered.then(() => {
    isOver = true;
  });
  while (!isOver || (await probe.get('/readyz')).status !== 200) {
    world.clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

t.test('a request for a URL that the database cannot answer is not called faulty', { skip: NO_POSTGRES }, async (t) => {
  const url = await createDatabase(t);
  const world = await startWorld(t, { env: { LAPEL_DATABASE_URL: url } });
  const tenant = await world.createTenant();
  const { link } = await world.activatedDevice(tenant);
  const other = new Client({ connectionString: url });
  await other.connect();
  t.teardown(() => other.end());
  await other.query('BEGIN; LOCK TABLE transactions');
  link.publish('requests', { requestId: 'r1', type: 'softwareDownloadUrl', data: { transactionId: 1 } });
  const { payload } = await link.next('publish');
  t.match(JSON.parse(payload.toString()), { requestId: 'r1', error: { code: 'INTERNAL' } });
  await other.query('ROLLBACK');
});
