import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { faultsOf } from './operations.ts';

const HOUR = 3_600_000;

t.test('the delivery log of an application', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const deliveries = `${tenant.path}/webhooks/deliveries`;
  const list = async (query = '') => (await tenant.api.get(`${deliveries}${query}`)).body;
  /** Makes a transaction fail; its webhook arrives if the receiver accepts it. */
  async function finish(): Promise<number> {
    world.clock.advance(1000); // the log is ordered by time
    const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    device.link.puback((await device.link.command()).packet);
    await device.link.ack({ transactionId, status: 'failed' });
    return transactionId;
  }
  const signatureOf = (headers: IncomingHttpHeaders, body: Buffer): string =>
    new Webhook(tenant.authenticationKey).sign(
      String(headers['webhook-id']),
      new Date(Number(headers['webhook-timestamp']) * 1000),
      body.toString(),
    );
  /** Moves the time over the whole retry schedule. */
  async function exhaust(): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await world.idle();
      world.clock.advance(30 * HOUR);
    }
    await world.idle();
    await tenant.renew();
  }

  t.test('shows delivered webhooks, newest first', async (t) => {
    await finish();
    const { headers } = await tenant.event();
    await world.idle();
    const {
      deliveries: [newest, first],
      total,
    } = await list();
    t.equal(total, 2);
    t.match(newest, {
      deliveryId: headers['webhook-id'],
      type: 'transaction.failed',
      setting: 'deviceEvent',
      url: tenant.receiver.url,
      status: 'delivered',
      attempts: 1,
      lastStatusCode: 200,
      lastError: null,
      nextAttemptAt: null,
    });
    t.equal(first.type, 'transaction.succeeded');
  });

  t.test('shows failed webhooks, with the time of the next attempt', async (t) => {
    tenant.receiver.answer({ status: 503 });
    await finish();
    await tenant.event();
    await world.idle();
    const {
      deliveries: [failing],
      total,
    } = await list('?status=pending');
    t.equal(total, 1);
    t.match(failing, { status: 'pending', attempts: 1, lastStatusCode: 503, lastError: 'answered 503' });
    t.match(failing.nextAttemptAt, /^2026-11-20T18:30:\d\d\.\d{6}$/, 'as a local time');
  });

  t.test('shows webhooks that were given up: exhausted or gone', async (t) => {
    tenant.receiver.answer({ status: 500 });
    await exhaust();
    tenant.receiver.answer({ status: 410 });
    await finish();
    await world.idle();
    t.match(await list('?status=exhausted'), { total: 1, deliveries: [{ attempts: 10, lastStatusCode: 500 }] });
    t.match(await list('?status=gone'), { total: 1, deliveries: [{ attempts: 1, lastStatusCode: 410 }] });
    t.match(await list('?status=delivered&setting=deviceEvent'), { total: 2 });
    t.match(await list('?setting=callEvent'), { total: 0, deliveries: [] });
  });

  t.test('is paged, and its filters are checked', async (t) => {
    const page = await tenant.api.get(`${deliveries}?limit=3`);
    t.equal(page.body.deliveries.length, 3);
    t.match(page.headers['link'], /limit=3&after=msg_[0-9a-f]{32}>; rel="next"$/);
    const wrong = await tenant.api.get(`${deliveries}?status=lost&setting=fileUploadGetUrl&limit=0`);
    t.same(faultsOf(wrong), ['query.limit greater_than_equal', 'query.setting enum', 'query.status enum']);
  });

  t.test('a webhook that was given up is sent again on demand, with the whole retry schedule', async (t) => {
    tenant.receiver.forget();
    tenant.receiver.answer({ status: 500 });
    const {
      deliveries: [dead],
    } = await list('?status=exhausted');
    t.equal((await tenant.api.post(`${deliveries}/${dead.deliveryId}/redeliver`)).status, 202);
    const { headers, body } = await tenant.event();
    t.equal(headers['webhook-id'], dead.deliveryId);
    t.equal(headers['webhook-signature'], signatureOf(headers, body));
    await world.idle();
    t.match((await list('?status=pending')).deliveries, [{ deliveryId: dead.deliveryId, attempts: 1 }]);
    tenant.receiver.answer({ status: 204 });
    world.clock.advance(7000);
    await tenant.event();
    await world.idle();
    t.match((await list('?status=delivered')).total, 3);
  });

  t.test('a delivered webhook can be sent again, too', async (t) => {
    const {
      deliveries: [done],
    } = await list('?status=delivered');
    t.equal((await tenant.api.post(`${deliveries}/${done.deliveryId}/redeliver`)).status, 202);
    t.equal((await tenant.event()).headers['webhook-id'], done.deliveryId);
  });

  t.test('a webhook that waits for its next attempt is sent at once', async (t) => {
    tenant.receiver.answer({ status: 500 });
    await finish();
    const { headers } = await tenant.event();
    await world.idle();
    tenant.receiver.answer({});
    t.equal((await tenant.api.post(`${deliveries}/${String(headers['webhook-id'])}/redeliver`)).status, 202);
    t.equal((await tenant.event()).headers['webhook-id'], headers['webhook-id']);
    await world.idle();
    t.match((await list()).deliveries[0], { status: 'delivered', attempts: 2 });
  });

  t.test('a range is sent again: by default webhooks that were given up, or wait for another attempt', async (t) => {
    tenant.receiver.forget();
    tenant.receiver.answer({ status: 410 });
    const since = (await list()).deliveries[0].createdAt as string;
    world.clock.advance(HOUR);
    await tenant.renew();
    const made = [];
    for (let count = 0; count < 3; count += 1) {
      world.clock.advance(1000);
      await finish();
      made.push((await tenant.event()).headers['webhook-id']);
      await world.idle();
    }
    tenant.receiver.answer({ status: 204 });
    const [, second] = (await list('?status=gone')).deliveries;
    const until = second.createdAt as string;
    const answer = await tenant.api.post(`${deliveries}/redeliver`, { json: { since, until } });
    t.match(answer, { status: 202, body: { redelivered: 1 } }, 'until is not in the range');
    t.equal((await tenant.event()).headers['webhook-id'], made[0]);
    await world.idle();
    const rest = await tenant.api.post(`${deliveries}/redeliver`, { json: { since: until, setting: 'deviceEvent' } });
    t.match(rest.body, { redelivered: 2 }, 'since is');
    const came = [(await tenant.event()).headers['webhook-id'], (await tenant.event()).headers['webhook-id']];
    t.same(new Set(came), new Set(made.slice(1)));
    await world.idle();
    const nothing = await tenant.api.post(`${deliveries}/redeliver`, { json: { since, status: 'exhausted' } });
    t.match(nothing.body, { redelivered: 0 });
    tenant.receiver.answer({ status: 503 });
    await finish();
    const { headers } = await tenant.event();
    await world.idle();
    tenant.receiver.answer({ status: 204 });
    const again = await tenant.api.post(`${deliveries}/redeliver`, { json: { since: until } });
    t.match(again.body, { redelivered: 1 }, 'one that is pending after a failed attempt');
    t.equal((await tenant.event()).headers['webhook-id'], headers['webhook-id']);
    await world.idle();
    for (const time of ['2026-13-45T99:99:99.000000', '2026-02-30T00:00:00.000000', '2026-01-01T24:00:00.000000']) {
      const wrong = await tenant.api.post(`${deliveries}/redeliver`, { json: { until: time } });
      t.same([wrong.status, faultsOf(wrong)], [400, ['body.until string_pattern_mismatch']], time);
    }
  });

  t.test('a range of more than one unit of work is sent whole, each once', async (t) => {
    tenant.receiver.forget();
    tenant.receiver.answer({ status: 410 });
    const send = () => tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
    const before = (await list('?status=gone')).total;
    for (let count = 0; count < 6; count += 1) await Promise.all(Array.from({ length: 100 }, send));
    await world.idle();
    t.equal((await list('?status=gone')).total, before + 600);
    const mark = tenant.receiver.requests.length;
    tenant.receiver.answer({ status: 204 });
    const sendAgain = () => tenant.api.post(`${deliveries}/redeliver`, { json: {} });
    const two = await Promise.all([sendAgain(), sendAgain()]);
    const [whole, second] = two.toSorted((one, other) => one.status - other.status);
    t.match(whole?.body, { redelivered: before + 600 });
    t.match(second, { status: 429, headers: { 'lapel-error-code': 'REDELIVERY_RUNNING' } }, 'one at a time');
    await world.idle();
    const ids = tenant.receiver.requests.slice(mark).map(({ headers }) => headers['webhook-id']);
    t.equal(ids.length, before + 600);
    t.equal(new Set(ids).size, ids.length);
    t.equal((await list('?status=gone')).total, 0);
    tenant.receiver.forget();
  });

  t.test('a delivery of another application is not found, nor is one that does not exist', async (t) => {
    const rival = await world.createTenant('rival');
    const {
      deliveries: [ours],
    } = await list();
    const theirs = `${rival.path}/webhooks/deliveries`;
    const missing = { status: 404, body: { reason: 'delivery not found.', details: [] } };
    t.match(await rival.api.post(`${theirs}/${ours.deliveryId}/redeliver`), missing);
    t.match(await tenant.api.post(`${deliveries}/msg_${'0'.repeat(32)}/redeliver`), missing);
    const shape = await tenant.api.post(`${deliveries}/msg_1/redeliver`);
    t.same([shape.status, faultsOf(shape)], [404, ['pathParameters.deliveryId string_pattern_mismatch']]);
    t.match((await rival.api.get(theirs)).body, { total: 0 });
  });

  t.test('a test event goes to the URL of its setting, signed', async (t) => {
    const answer = await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
    t.equal(answer.status, 202);
    const { type, data, headers, body } = await tenant.event();
    t.same(
      [type, data],
      ['test', { setting: 'deviceEvent', applicationId: tenant.applicationId, deviceId: '0'.repeat(15) }],
    );
    t.equal(headers['webhook-id'], answer.body.deliveryId);
    t.equal(headers['webhook-signature'], signatureOf(headers, body));
    const logged = (await tenant.api.get(`${deliveries}/${answer.body.deliveryId}`)).body;
    t.equal(logged.deviceId, null, 'the log names no device, because there is none');
    const unset = await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'callEvent' } });
    t.match(unset, { status: 404, body: { message: 'system notification destination is not configured.' } });
    const bare = await world.createTenant('bare', { key: false });
    const keyless = await bare.api.post(`${bare.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
    t.match(keyless, { status: 403, body: { message: 'authenticationKey is not issued.' } });
    const wrong = await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'fileUploadGetUrl' } });
    t.same(faultsOf(wrong), ['body.setting enum']);
  });

  t.test('a redelivery survives a restart', async (t) => {
    const {
      deliveries: [done],
    } = await list('?status=delivered');
    tenant.receiver.answer({ status: 503 });
    await tenant.api.post(`${deliveries}/${done.deliveryId}/redeliver`);
    await tenant.event();
    await world.idle();
    tenant.receiver.answer({ status: 204 });
    await world.restart();
    world.clock.advance(7000);
    t.equal((await tenant.event()).headers['webhook-id'], done.deliveryId);
  });
});
