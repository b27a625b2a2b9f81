import t, { type Test } from 'tap';
import { STORED } from '../../src/core/requests/request-storing.ts';
import { RESPONSE_WINDOW } from '../../src/core/requests/response-sender.ts';
import { checkMessage } from '../contract/checked-messages.ts';
import type { RawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld } from '../world.ts';

interface Response {
  requestId: string;
  data?: { uploadUrl: string };
  error?: { code: string };
}

const fileOf = (name: string) => ({ fileId: name, name: `${name}.jpg`, size: 3, contentType: 'image/jpeg' });

/** A device whose customer answers each request with a new URL, when `answers` allows it. */
async function setUp(t: Test) {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const customer = await createTestReceiver(t);
  await tenant.api.patch(tenant.path, { json: { fileUploadGetUrl: customer.url, fileUploadEvent: customer.url } });
  let given = 0;
  const answers = (): void =>
    customer.answer(() => {
      given += 1;
      return {
        headers: { 'content-type': 'application/json' },
        body: `{"uploadUrl":"https://store.example/${given}"}`,
      };
    });
  answers();
  return { world, tenant, device, customer, answers };
}

const ask = (link: RawDevice, requestId: string, type = 'fileUploadUrl'): number =>
  link.publish('requests', { requestId, type, data: fileOf(requestId) });

async function response(link: RawDevice): Promise<{ body: Response; puback(): void }> {
  const packet = await link.next('publish');
  return { body: checkMessage(packet.topic, packet.payload) as unknown as Response, puback: () => link.puback(packet) };
}

async function acknowledged(link: RawDevice): Promise<Response> {
  const { body, puback } = await response(link);
  puback();
  return body;
}

t.test('requests of devices are answered', async (t) => {
  const { world, tenant, device, customer, answers } = await setUp(t);
  let { link } = device;
  /** Resolves when everything that the device sent is carried out. */
  async function settled(on = link): Promise<void> {
    on.publish('status', { lang: 'ja' });
    await on.next('puback');
    await world.idle();
  }
  /** Ends the connection and the service, and starts both again. */
  async function again(): Promise<void> {
    await link.drop();
    await world.restart();
    link = await world.connect(device);
  }

  t.test('150 requests in one burst get 150 answers, a few at a time without PUBACK', async (t) => {
    const wanted = Array.from({ length: 150 }, (_, index) => `burst ${index}`);
    for (const requestId of wanted) ask(link, requestId, 'somethingElse');
    for (const _ of wanted) await link.next('puback');
    await world.idle();
    t.equal(link.pending('publish').length, RESPONSE_WINDOW);
    const got: string[] = [];
    while (got.length < wanted.length) got.push((await acknowledged(link)).requestId);
    t.same(got, wanted, 'in the order in which they were asked');
    await settled();
    t.same(link.pending('publish'), [], 'each of them once');
  });

  t.test('requests beyond four at a time wait for their turn, and then reach the customer', async (t) => {
    const before = customer.requests.length;
    for (const requestId of ['1', '2', '3', '4', '5', '6', '7', '8', '9']) ask(link, requestId);
    const got = new Set<string>();
    while (got.size < 9) {
      const { requestId, data } = await acknowledged(link);
      t.match(data, { uploadUrl: /^https:/ });
      got.add(requestId);
    }
    t.equal(customer.requests.length, before + 9);
  });

  t.test('an answer without PUBACK is repeated at the next connection, unchanged', async (t) => {
    ask(link, 'unacknowledged');
    const first = await response(link);
    await again();
    t.same(await acknowledged(link), first.body);
    await settled();
    await again();
    await settled();
    t.same(link.pending('publish'), [], 'with its PUBACK it is done');
  });

  t.test('a request that a stop interrupted is carried out after the next start, once', async (t) => {
    customer.answer({ hang: true });
    const before = customer.requests.length;
    for (const requestId of ['hangs 1', 'hangs 2', 'hangs 3', 'hangs 4', 'waits']) ask(link, requestId);
    for (let count = 0; count < 5; count += 1) await link.next('puback');
    await until(() => customer.requests.length >= before + 4);
    answers();
    await again();
    const got: string[] = [];
    while (got.length < 5) got.push((await acknowledged(link)).requestId);
    t.same(got.toSorted(), ['hangs 1', 'hangs 2', 'hangs 3', 'hangs 4', 'waits']);
    await settled();
    t.same(link.pending('publish'), []);
  });

  t.test(
    'a request of QoS 2 that is repeated after a crash has one answer, whatever its packet identifier',
    async (t) => {
      const publish = (requestId: string, messageId: number, dup: boolean): void =>
        link.send({
          cmd: 'publish',
          topic: `devices/${device.deviceId}/requests`,
          payload: JSON.stringify({ requestId, type: 'fileUploadUrl', data: fileOf(requestId) }),
          qos: 2,
          messageId,
          dup,
        });
      publish('twice', 900, false);
      await link.next('pubrec');
      const first = await response(link);
      await again();
      publish('twice', 900, true);
      await link.next('pubrec');
      t.same(await acknowledged(link), first.body, 'the answer that there was');
      await settled();
      t.same(link.pending('publish'), [], 'once');
      publish('twice', 901, false); // the PUBREC was lost, and with it the identifier
      await link.next('pubrec');
      t.same(await acknowledged(link), first.body, 'and again the same');
      for (const messageId of [900, 901]) {
        link.send({ cmd: 'pubrel', messageId });
        await link.next('pubcomp');
      }
    },
  );

  t.test('a request that is repeated before the PUBACK of its answer does not reach the customer again', async (t) => {
    const before = customer.requests.length;
    ask(link, 'repeated');
    await link.next('puback');
    const { puback } = await response(link);
    ask(link, 'repeated');
    await link.next('puback');
    await settled();
    puback();
    await settled();
    t.equal(customer.requests.length, before + 1);
    t.same(link.pending('publish'), []);
  });

  t.test('the same requestId with other data is another request', async (t) => {
    ask(link, 'same');
    const first = await acknowledged(link);
    link.publish('requests', { requestId: 'same', type: 'fileUploadUrl', data: fileOf('other') });
    t.not((await acknowledged(link)).data?.uploadUrl, first.data?.uploadUrl);
    world.clock.advance(61_000);
    ask(link, 'late');
    const before = await acknowledged(link);
    await settled();
    world.clock.advance(61_000);
    ask(link, 'late');
    t.not(
      (await acknowledged(link)).data?.uploadUrl,
      before.data?.uploadUrl,
      'and so is one that comes a minute later',
    );
  });

  t.test('a device that takes no answers gets BUSY, and its other messages continue', async (t) => {
    await tenant.renew();
    const other = await world.activatedDevice(tenant);
    for (let count = 0; count < STORED.requests + 1; count += 1) ask(other.link, `unread ${count}`, 'somethingElse');
    const got: Response[] = [];
    for (let count = 0; count < STORED.requests + 1; count += 1) await other.link.next('puback');
    for (let count = 0; count < RESPONSE_WINDOW + 1; count += 1) got.push((await response(other.link)).body);
    t.match(
      got.find(({ error }) => error?.code === 'BUSY'),
      { requestId: `unread ${STORED.requests}` },
    );
    await settled(other.link);
  });

  t.test('a request that waits while its device is deactivated does not reach the customer', async (t) => {
    const other = await world.activatedDevice(tenant);
    customer.answer({ hang: true });
    const before = customer.requests.length;
    for (const requestId of ['a', 'b', 'c', 'd', 'waits']) ask(other.link, requestId);
    for (let count = 0; count < 5; count += 1) await other.link.next('puback');
    await until(() => customer.requests.length >= before + 4);
    await tenant.renew();
    await tenant.api.delete(`${tenant.path}/devices/${other.deviceId}`);
    const command = await other.link.command();
    other.link.puback(command.packet);
    await other.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    answers();
    world.clock.advance(10_000);
    await world.idle();
    world.clock.advance(1_000);
    const got = new Map<string, Response>();
    while (got.size < 5) {
      const one = await acknowledged(other.link);
      got.set(one.requestId, one);
    }
    t.match(got.get('waits'), { error: { code: 'NOT_ACTIVATED' } });
    t.equal(customer.requests.length, before + 8);
  });
});

t.test('answers and requests whose read has failed are read again on the same connection', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const device = await world.registerDevice();
  const link = await world.connect(device);
  const raw = await world.raw();
  const broken = async (meanwhile: () => Promise<unknown>): Promise<void> => {
    await raw.exec('ALTER TABLE device_requests RENAME TO kept_elsewhere');
    await meanwhile();
    await world.idle();
    await raw.exec('ALTER TABLE kept_elsewhere RENAME TO device_requests');
    world.clock.advance(1_000);
  };
  for (let id = 0; id <= RESPONSE_WINDOW; id += 1) {
    ask(link, `r-${id}`, 'weather');
    await link.next('puback');
  }
  const first = await response(link);
  for (let id = 1; id < RESPONSE_WINDOW; id += 1) await response(link);
  await broken(async () => {
    first.puback();
    link.send({ cmd: 'pingreq' });
    await link.next('pingresp');
  });
  t.equal((await response(link)).body.requestId, `r-${RESPONSE_WINDOW}`);
  await link.drop();

  // A stored request that nobody has carried out yet, as a crash leaves it.
  await raw.exec('UPDATE device_requests SET answer = NULL, done_at = NULL');
  let again = link;
  await broken(async () => {
    again = await world.connect(device);
  });
  t.equal((await response(again)).body.requestId, 'r-0');
});
