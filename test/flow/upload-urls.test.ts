import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { checkMessage, checkUploadUrlRequest, checkWebhook } from '../contract/checked-messages.ts';
import type { RawDevice } from '../raw-device.ts';
import { until } from '../until.ts';
import { createTestReceiver, type TestAnswer } from '../webhooks/test-receiver.ts';
import { startWorld } from '../world.ts';

const FILE = { fileId: 'f-1', name: 'a.jpg', size: 3, contentType: 'image/jpeg' };
const recording = (...names: string[]) => ({
  callId: 'call-1',
  files: names.map((name) => ({ name, size: 5, contentType: 'video/mp4' })),
});
const json = (body: unknown, rest: TestAnswer = {}): TestAnswer => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
  ...rest,
});

let asked = 0;
/** Publishes a request; the test waits for the answer separately. */
function ask(link: RawDevice, type: 'fileUploadUrl' | 'recordingUploadUrls', data: object, requestId?: string) {
  asked += 1;
  link.publish('requests', { requestId: requestId ?? `request ${asked}`, type, data });
  return link.next('puback');
}

async function answerOf(link: RawDevice) {
  const packet = await link.next('publish');
  link.puback(packet);
  return checkMessage(packet.topic, packet.payload) as {
    requestId: string;
    data?: Record<string, unknown>;
    error?: { code: string; message: string };
  };
}

/** Waits for so many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A device, the server of the customer's URL, and a server for the customer's events. */
async function setUp(t: Test) {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const customer = await createTestReceiver(t);
  const sink = await createTestReceiver(t);
  const all = {
    fileUploadGetUrl: `${customer.url}/file`,
    fileUploadEvent: `${sink.url}/fileUploadEvent`,
    callRecGetMultiPresignedUrl: `${customer.url}/recording`,
    callFileSendEvent: `${sink.url}/callFileSendEvent`,
  };
  const configure = (settings: Record<string, string | null>) => tenant.api.patch(tenant.path, { json: settings });
  await configure(all);
  return { world, tenant, device, customer, sink, configure, all };
}

t.test('upload URLs that devices ask for', async (t) => {
  const { world, tenant, device, customer, sink, configure, all } = await setUp(t);
  const { link, deviceId } = device;
  const { applicationId, authenticationKey } = tenant;
  const sampleOf = async (name: 'uploadUrlRequests' | 'uploadUrlRefused', labels: Record<string, string>) => {
    const { values } = await world.service.metrics[name].get();
    return values.find((row) => Object.entries(labels).every(([key, value]) => Object(row.labels)[key] === value))
      ?.value;
  };

  t.test('a recording passes all steps: URLs, uploads, and the notification with its movieFile', async (t) => {
    const store = await createTestReceiver(t);
    customer.answer(({ body }) => {
      const { files } = (JSON.parse(body.toString()) as { data: { files: { name: string; contentType: string }[] } })
        .data;
      const urls = files.map(({ name, contentType }) => ({
        name,
        uploadUrl: `${store.url}/${name}?signature=s`,
        headers: { 'Content-Type': contentType },
        expiresAt: '2026-11-20T19:30:00+09:00',
      }));
      return json({ urls: urls.reverse() });
    });
    await ask(link, 'recordingUploadUrls', recording('left.mp4', 'right.mp4'), 'r-1');
    const { requestId, data } = await answerOf(link);
    t.equal(requestId, 'r-1');
    const upload = (name: string) => ({
      name,
      uploadUrl: `${store.url}/${name}?signature=s`,
      method: 'PUT',
      headers: { 'Content-Type': 'video/mp4' },
      expiresAt: '2026-11-20T10:30:00.000000Z',
    });
    t.same(data, { urls: [upload('left.mp4'), upload('right.mp4')] });

    const { method, path, headers, body } = await customer.next();
    t.same([method, path], ['POST', '/hook/recording']);
    t.same(checkUploadUrlRequest('uploadUrlsRequest', body), {
      type: 'recording.urls',
      timestamp: '2026-11-20T09:30:00.123456Z',
      data: { ...recording('left.mp4', 'right.mp4'), applicationId, deviceId },
    });
    const signature = new Webhook(authenticationKey).sign(
      String(headers['webhook-id']),
      new Date(Number(headers['webhook-timestamp']) * 1000),
      body.toString(),
    );
    t.match(headers, { 'content-type': 'application/json', 'webhook-signature': signature });

    const { urls } = data as { urls: ReturnType<typeof upload>[] };
    for (const { name, uploadUrl, ...how } of urls) t.ok((await fetch(uploadUrl, { ...how, body: name })).ok);
    t.same(
      store.requests.map((put) => [put.method, put.path, put.headers['content-type'], put.body.toString()]),
      ['left.mp4', 'right.mp4'].map((name) => ['PUT', `/hook/${name}?signature=s`, 'video/mp4', name]),
    );
    const connections = urls.map(({ name }, index) => ({ connectionId: `c-${index}`, movieFile: name }));
    const saved = { callId: 'call-1', connections };
    const occurredAt = '2026-11-20T09:31:00Z';
    link.publish('events', { eventId: 'e', type: 'recording.saved', occurredAt, data: saved });
    await link.next('puback');
    const event = await sink.next();
    t.equal(event.path, '/hook/callFileSendEvent');
    t.match(checkWebhook(event.body), { type: 'recording.saved', data: saved });
  });

  t.test('a file gets its URL, with defaults for missing members of the answer', async (t) => {
    customer.answer(json({ uploadUrl: 'https://store.example/a', more: { than: 'asked' } }));
    await ask(link, 'fileUploadUrl', FILE);
    t.same((await answerOf(link)).data, { uploadUrl: 'https://store.example/a', method: 'PUT', headers: {} });
    const { path, body } = await customer.next();
    t.equal(path, '/hook/file');
    t.match(checkUploadUrlRequest('uploadUrlRequest', body), { data: { ...FILE, applicationId, deviceId } });
    t.equal(await sampleOf('uploadUrlRequests', { type: 'fileUploadUrl', outcome: 'answered' }), 1);
  });

  t.test('each unusable answer is an error with its reason, and an event to the customer', async (t) => {
    const good = 'https://store.example/a';
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const cases: [string, TestAnswer, string][] = [
      ['a redirect', { status: 302, headers: { location: customer.url } }, 'answered 302; redirects are not followed.'],
      ['404', { status: 404 }, 'answered 404.'],
      ['410', { status: 410 }, 'answered 410.'],
      ['no JSON', { body: '<html>' }, 'the answer is not JSON.'],
      ['nothing', { status: 204 }, 'the answer is not JSON.'],
      ['bytes that are no UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, 'the answer is not JSON.'],
      ['more than 64 KiB', { body: ' '.repeat(64 * 1024 + 1) }, 'the answer is longer than 64 KiB.'],
      ['a list', json([]), 'the answer cannot be used: Input should be a valid dictionary.'],
      ['null', json(null), 'the answer cannot be used: Input should be a valid dictionary.'],
      ['a deep list', { body: deep }, 'the answer cannot be used: Input should be a valid dictionary.'],
      ['no URL', json({}), 'the answer cannot be used: uploadUrl: Field required.'],
      [
        'a wrong URL',
        json({ uploadUrl: '/a' }),
        'the answer cannot be used: uploadUrl: Input should be an absolute URL.',
      ],
      [
        'http',
        json({ uploadUrl: 'http://store.example/' }),
        "the answer cannot be used: uploadUrl: URL scheme should be 'https'.",
      ],
      [
        'GET',
        json({ uploadUrl: good, method: 'GET' }),
        "the answer cannot be used: method: Input should be 'PUT' or 'POST'.",
      ],
      [
        'a header',
        json({ uploadUrl: good, headers: { Host: 'a' } }),
        'the answer cannot be used: headers.Host: Extra inputs are not permitted.',
      ],
      [
        'a header that is no text',
        json({ uploadUrl: good, headers: { a: 1 } }),
        'the answer cannot be used: headers.a: Input should be a valid string.',
      ],
      [
        'a line end in a header',
        json({ uploadUrl: good, headers: { a: 'b\r\nc: d' } }),
        'the answer cannot be used: headers.a: String should have no control characters except tabs, and no characters above U+00FF.',
      ],
      [
        'many headers',
        json({ uploadUrl: good, headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, ''])) }),
        'the answer cannot be used: headers: Dictionary should have at most 32 members.',
      ],
      [
        'a wrong time',
        json({ uploadUrl: good, expiresAt: 'soon' }),
        'the answer cannot be used: expiresAt: String should be ISO 8601 with an offset',
      ],
    ];
    for (const [name, answer, why] of cases) {
      customer.answer(answer);
      const before = customer.requests.length;
      await ask(link, 'fileUploadUrl', FILE);
      const { error } = await answerOf(link);
      t.equal(error?.code, 'UPLOAD_URL_FAILED', name);
      t.equal(error?.message.slice(0, `fileUploadGetUrl: ${why}`.length), `fileUploadGetUrl: ${why}`, name);
      const { path, body } = await sink.next();
      t.equal(path, '/hook/fileUploadEvent');
      t.match(checkWebhook(body), {
        type: 'fileUpload.failed',
        data: { fileId: 'f-1', name: 'a.jpg', error, deviceId },
      });
      t.equal(customer.requests.length, before + 1, `${name} is not asked again`);
    }
    customer.answer(json({ urls: [{ name: 'a', uploadUrl: good }] }));
    await ask(link, 'recordingUploadUrls', recording('a', 'b'));
    const { error } = await answerOf(link);
    const message = 'callRecGetMultiPresignedUrl: the answer cannot be used: urls.b: Field required.';
    t.same(error, { code: 'UPLOAD_URL_FAILED', message });
    t.match(checkWebhook((await sink.next()).body), { type: 'recording.failed', data: { callId: 'call-1', error } });
    await world.idle();
  });

  t.test(
    'after a 5xx, a 429, a lost connection or a timeout the service asks once more, a second later, with the same id',
    async (t) => {
      const gone = await createTestReceiver(t);
      await gone.close();
      const failures: [string, TestAnswer | 'gone', string][] = [
        ['503', { status: 503 }, 'answered 503.'],
        ['429', { status: 429 }, 'answered 429.'],
        ['no connection', 'gone', 'connect ECONNREFUSED'],
        ['no answer', { hang: true }, 'no answer within 10 s.'],
        ['half an answer', { body: '{"uploadUrl":', stall: true }, 'no answer within 10 s.'],
      ];
      for (const [name, answer, why] of failures) {
        const before = customer.requests.length;
        if (answer === 'gone') await configure({ fileUploadGetUrl: gone.url });
        else customer.answer(answer);
        const slow = answer !== 'gone' && (answer.hang ?? answer.stall);
        const attempt = async (number: number): Promise<void> => {
          if (slow) {
            await until(() => customer.requests.length === before + number);
            await turns(50); // time for the head of half an answer to arrive
            world.clock.advance(10_000);
          }
          await world.idle();
        };
        await ask(link, 'fileUploadUrl', FILE);
        await attempt(1);
        t.same(link.pending('publish'), [], `${name}: no answer yet`);
        world.clock.advance(999);
        t.ok(customer.requests.length <= before + 1);
        world.clock.advance(1);
        await attempt(2);
        const { error } = await answerOf(link);
        t.match(error, { code: 'UPLOAD_URL_FAILED' }, name);
        t.equal(error?.message.startsWith(`fileUploadGetUrl: ${why}`), true, String(error?.message));
        t.match(checkWebhook((await sink.next()).body), { type: 'fileUpload.failed', data: { error } });
        if (answer !== 'gone') {
          const ids = customer.requests.slice(before).map(({ headers }) => headers['webhook-id']);
          t.equal(ids.length, 2, name);
          t.equal(ids[0], ids[1]);
        }
        await configure(all);
        await world.idle();
      }
      let asked = 0;
      customer.answer(() => {
        asked += 1;
        return asked === 1
          ? { status: 503, headers: { 'retry-after': '7' } }
          : json({ uploadUrl: 'https://store.example/' });
      });
      await ask(link, 'fileUploadUrl', FILE);
      await world.idle();
      world.clock.advance(6_999);
      await world.idle();
      t.equal(asked, 1, 'Retry-After is honoured');
      world.clock.advance(1);
      t.match(await answerOf(link), { data: { uploadUrl: 'https://store.example/' } }, 'and the second answer is good');
      customer.answer({ status: 503, headers: { 'retry-after': '60' } });
      await ask(link, 'fileUploadUrl', FILE);
      t.match(await answerOf(link), { error: { code: 'UPLOAD_URL_FAILED' } }, 'a device does not wait for a minute');
      await sink.next();
    },
  );

  t.test('a wrong request is answered with every faulty field, and does not reach the customer', async (t) => {
    const before = customer.requests.length;
    const cases: ['fileUploadUrl' | 'recordingUploadUrls', object, string][] = [
      ['fileUploadUrl', { ...FILE, size: -1 }, 'size: Input should be greater than or equal to 0'],
      ['fileUploadUrl', { ...FILE, name: 7 }, 'name: Input should be a valid string'],
      ['recordingUploadUrls', { callId: 'c' }, 'files: Field required'],
      ['recordingUploadUrls', recording(), 'files: List should have at least 1 item'],
      [
        'recordingUploadUrls',
        recording(...Array.from({ length: 33 }, (_, i) => `n${i}`)),
        'files: List should have at most 32 items',
      ],
      [
        'recordingUploadUrls',
        { callId: 'c', files: [...recording('a').files, { name: 7, size: 5, contentType: 'video/mp4' }] },
        'files.1.name: Input should be a valid string',
      ],
      ['recordingUploadUrls', recording('a', 'b', 'a'), 'files.2.name: Name is there twice'],
    ];
    for (const [type, data, why] of cases) {
      await ask(link, type, data);
      t.same((await answerOf(link)).error, { code: 'INVALID_PARAMETERS', message: `invalid request. ${why}` });
    }
    t.equal(customer.requests.length, before);
  });

  for (const [type, data, settings] of [
    ['fileUploadUrl', FILE, ['fileUploadGetUrl', 'fileUploadEvent']],
    ['recordingUploadUrls', recording('a'), ['callRecGetMultiPresignedUrl', 'callFileSendEvent']],
  ] as const) {
    for (const setting of settings) {
      t.test(`${setting} unset: ${type} is answered NOT_CONFIGURED, and does not reach the customer`, async (t) => {
        const before = customer.requests.length;
        await configure({ ...all, [setting]: null });
        await ask(link, type, data);
        t.same((await answerOf(link)).error, { code: 'NOT_CONFIGURED', message: `${setting} is not set.` });
        await world.idle();
        t.equal(customer.requests.length, before);
        await configure(all);
      });
    }
  }

  t.test('a device that is not activated is answered NOT_ACTIVATED', async (t) => {
    const other = await world.connect(await world.registerDevice());
    await ask(other, 'fileUploadUrl', FILE);
    t.same((await answerOf(other)).error, { code: 'NOT_ACTIVATED', message: 'device is not activated.' });
  });

  t.test('a slow customer delays neither PUBACKs nor other messages nor other devices', async (t) => {
    customer.answer({ hang: true });
    const asked = customer.requests.length;
    for (const id of ['1', '2', '3', '4', '5']) await ask(link, 'fileUploadUrl', FILE, id);
    const before = sink.requests.length;
    const data = { callId: 'c', error: { code: 'INTERNAL', message: '' } };
    link.publish('events', { eventId: 'e-2', type: 'recording.failed', occurredAt: '2026-11-20T09:31:00Z', data });
    await link.next('puback');
    await sink.next();
    t.equal(sink.requests.length, before + 1);
    await until(() => customer.requests.length === asked + 4);
    customer.answer(json({ uploadUrl: 'https://store.example/' }));
    const other = await world.activatedDevice(tenant);
    await ask(other.link, 'fileUploadUrl', FILE);
    t.match(await answerOf(other.link), { data: { method: 'PUT' } }, 'other devices are served');

    t.test('the service stops without waiting for the customer, and asks again when the device is back', async (t) => {
      await until(() => customer.open() === 4);
      await link.drop();
      const events = sink.requests.length;
      await world.restart();
      await until(() => customer.open() === 0); // the connection ended, although no answer came
      const again = await world.connect(device);
      const answered = new Set<string>();
      while (answered.size < 5) {
        const { requestId, data } = await answerOf(again);
        t.match(data, { method: 'PUT' });
        answered.add(requestId);
      }
      t.equal(sink.requests.length, events, 'and nothing is said to have failed');
    });
  });
});

t.test('upload URLs are asked only of addresses that webhooks may go to', async (t) => {
  const dataDir = t.testdir();
  const before = await startWorld(t, { dataDir });
  const tenant = await before.createTenant();
  const device = await before.activatedDevice(tenant);
  const { url } = tenant.receiver;
  await tenant.api.patch(tenant.path, { json: { fileUploadGetUrl: url, fileUploadEvent: url } });
  const asked = tenant.receiver.requests.length;
  await device.link.drop();
  await before.service[Symbol.asyncDispose]();

  const world = await startWorld(t, { dataDir, env: { LAPEL_WEBHOOK_ALLOW_PRIVATE: 'false' } });
  const link = await world.connect(device);
  await ask(link, 'fileUploadUrl', FILE);
  await world.idle();
  world.clock.advance(1_000);
  const message = 'fileUploadGetUrl: the host leads to no public address.';
  t.same((await answerOf(link)).error, { code: 'UPLOAD_URL_FAILED', message });
  t.equal(tenant.receiver.requests.length, asked);
});

t.test('requests to customers are signed with the time of the machine', async (t) => {
  const { world, device, customer } = await setUp(t);
  world.clock.setBack(7_200_000);
  customer.answer(json({ uploadUrl: 'https://store.example/a.jpg', method: 'PUT', headers: {} }));
  await ask(device.link, 'fileUploadUrl', FILE);
  await answerOf(device.link);
  const { headers } = await customer.next();
  t.equal(Number(headers['webhook-timestamp']), Math.floor(world.clock.wall() / 1_000_000));
});
