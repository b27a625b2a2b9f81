import t from 'tap';
import { startWorld, WIFI } from '../world.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
/** Milliseconds after which attempts are counted, and for which a list is kept. */
const COUNTED = 20_000;

interface Receiver {
  applicationId: string;
  applicationName: string;
  developerId: string;
  developerName: string;
  setting: string;
  state: string;
  hours: { since: string; delivered: number[]; failed: number[] };
}

t.test('receivers by customer', async (t) => {
  const world = await startWorld(t);
  const { clock } = world;
  const tenant = await world.createTenant();
  await world.createTenant('other');
  const admin = world.admin();
  await admin.patch('/admin/v1/developers/dev', { json: { name: 'Acme' } });
  const device = await world.activatedDevice(tenant);
  const { receiver, applicationId } = tenant;

  async function receiversOf(query = ''): Promise<Receiver[]> {
    await world.idle(); // an attempt in progress would have no answer in time
    clock.advance(COUNTED);
    await world.idle();
    return (await admin.get(`/admin/v1/receivers${query}`)).body.receivers;
  }
  /** Sends a command; resolves when the webhook of its end has arrived. */
  async function command(): Promise<string> {
    await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const { packet, transactionId } = await device.link.command();
    device.link.puback(packet);
    await device.link.ack({ transactionId, status: 'succeeded' });
    const { headers } = await receiver.next();
    await world.idle();
    return String(headers['webhook-id']);
  }

  await t.test('have the names that people know, and are filtered by them', async (t) => {
    const [own] = await receiversOf('?developerId=dev');
    t.match(own, {
      applicationId,
      applicationName: 'dev',
      developerId: 'dev',
      developerName: 'Acme',
      state: 'healthy',
    });
    t.same(
      (await receiversOf('?applicationId=other-app')).map(({ developerName }) => developerName),
      ['other'],
    );
    t.same(await receiversOf('?developerId=nobody'), []);
  });

  await t.test('one that answers again while deliveries wait is retrying', async (t) => {
    receiver.answer({ status: 503 });
    await command();
    const [failing] = await receiversOf('?developerId=dev');
    t.equal(failing?.state, 'failing');
    clock.advance(MINUTE);
    await world.idle();
    receiver.answer({ status: 200 });
    await command();
    t.same(
      (await receiversOf('?state=retrying')).map(({ developerId }) => developerId),
      ['dev'],
    );
    clock.advance(HOUR);
    await world.idle();
    const [healthy] = await receiversOf('?developerId=dev');
    t.equal(healthy?.state, 'healthy');
  });

  await t.test('the attempts of the last day are counted by hour, also over a restart', async (t) => {
    const [before] = await receiversOf('?developerId=dev');
    const sum = (counts: number[] = []): number => counts.reduce((total, count) => total + count, 0);
    t.equal(before?.hours.delivered.length, 24);
    t.ok(sum(before?.hours.failed) > 0 && sum(before?.hours.delivered) > 0);
    t.equal(Date.parse(String(before?.hours.since)) % HOUR, 0);
    const file = await world.raw();
    const [{ failed } = { failed: 0 }] = await file.all<{ failed: number }>(
      `SELECT count(*) AS failed FROM delivery_attempts WHERE application_id = '${applicationId}'`,
    );
    t.equal(sum(before?.hours.failed), Number(failed), 'each attempt that failed, once');
    clock.advance(25 * HOUR);
    const [after] = await receiversOf('?developerId=dev');
    t.equal(sum(after?.hours.delivered) + sum(after?.hours.failed), 0, 'older ones are not shown');

    const oldest = 'SELECT MIN(hour) AS hour FROM receiver_hours';
    await file.all(`INSERT INTO receiver_hours VALUES ('${applicationId}', 'callEvent', 0, 1, 0)`);
    const attempt = async (): Promise<void> => {
      await tenant.renew();
      await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
      await receiver.next();
      await world.idle();
    };
    await attempt();
    await receiversOf();
    t.not(Number((await file.all<{ hour: number }>(oldest))[0]?.hour), 0, 'those of earlier days are removed');
    await attempt();
    await world.restart();
    const { receivers } = (await world.admin().get('/admin/v1/receivers?developerId=dev')).body;
    t.equal(sum(receivers[0].hours.delivered), 2, 'a stop stores the last ones');
  });
});

t.test('a delivery shows what was sent', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { receiver, applicationId, api, path } = tenant;
  const admin = world.admin();
  const shown = async (deliveryId: string) => {
    const ofOperator = (await admin.get(`/admin/v1/applications/${applicationId}/deliveries/${deliveryId}`)).body;
    const own = (await api.get(`${path}/webhooks/deliveries/${deliveryId}`)).body;
    t.same(ofOperator, own, 'the operator and the application see the same');
    return own;
  };
  const sendTest = async (): Promise<string> =>
    (await api.post(`${path}/webhooks/test`, { json: { setting: 'deviceEvent' } })).body.deliveryId;
  /** The headers of a request that the service has made, without those of HTTP itself. */
  const headersOf = (headers: object): object =>
    Object.fromEntries(
      Object.entries(headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name)),
    );

  await t.test('the headers of each attempt, with its time and its signatures', async (t) => {
    receiver.answer({ status: 500, body: 'broken' });
    const deliveryId = await sendTest();
    const first = await receiver.next();
    await world.idle();
    t.same((await shown(deliveryId)).failedAttempts[0].headers, headersOf(first.headers));
    receiver.answer({ status: 200, body: 'thank you <b>' });
    world.clock.advance(10 * MINUTE);
    const second = await receiver.next();
    await world.idle();
    const delivery = await shown(deliveryId);
    t.same(delivery.headers, headersOf(second.headers), 'exactly as they were sent');
    t.not(delivery.headers['webhook-signature'], delivery.failedAttempts.at(-1).headers['webhook-signature']);
    t.equal(delivery.body, second.body.toString(), 'and the body that was signed');
    t.notMatch(JSON.stringify(delivery), tenant.authenticationKey);

    await t.test('and the answer to a test, with its 2xx status', async (t) => {
      t.match(delivery, { status: 'delivered', lastStatusCode: 200, answer: 'thank you <b>' });
      t.equal(delivery.failedAttempts.at(-1).answer, 'broken');
    });
  });

  await t.test('the answer to a test is cut; the answers to other events are not kept', async (t) => {
    receiver.answer({ status: 200, body: 'x'.repeat(20_000) });
    const deliveryId = await sendTest();
    await receiver.next();
    await world.idle();
    t.equal((await shown(deliveryId)).answer.length, 4096);
    const device = await world.activatedDevice(tenant);
    const [row] = (await admin.get(`/admin/v1/deliveries?deviceId=${device.deviceId}`)).body.deliveries;
    await world.idle();
    t.equal((await shown(row.deliveryId)).answer, null);
  });
});
