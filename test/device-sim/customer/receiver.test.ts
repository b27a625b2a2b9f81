import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createFileStore } from '@lapel/device-sim/customer/file-store';
import { genuineByPublicKey, genuineWebhook } from '@lapel/device-sim/customer/genuine';
import { startReceiver } from '@lapel/device-sim/customer/receiver';
import { Webhook } from 'standardwebhooks';
import t from 'tap';

const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A webhook as the service sends it. */
function genuine(data: object, id = 'msg_1') {
  const body = JSON.stringify({ type: 'test', timestamp: '2026-11-20T09:30:00.123456Z', data });
  const now = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign(id, now, body),
  };
  return { method: 'POST', headers, body };
}

t.test('a receiver', async (t) => {
  const forged: string[] = [];
  const received: string[] = [];
  const receiver = await startReceiver({
    listen: { host: '127.0.0.1', port: 0 },
    authenticationKey: () => key,
    onReceived: ({ webhookId }) => received.push(webhookId),
    onForged: (reason) => forged.push(reason),
  });
  t.teardown(() => receiver[Symbol.asyncDispose]());
  const webhook = genuine({});
  const post = async (headers: object = {}, url = receiver.url): Promise<number> =>
    (await fetch(url, { ...webhook, headers: { ...webhook.headers, ...headers } })).status;

  t.test('accepts only webhooks with a valid signature', async (t) => {
    t.strictSame([await post(), await post()], [204, 204]);
    t.strictSame(received, ['msg_1', 'msg_1']);
    const { 'webhook-signature': signature } = webhook.headers;
    t.equal(await post({ 'webhook-id': 'msg_2' }), 401);
    t.equal(await post({ 'webhook-timestamp': '1' }), 401);
    t.equal(await post({ 'webhook-signature': signature.replace(/^v1,./, 'v1,-') }), 401);
    t.equal((await fetch(receiver.url, { method: 'POST', body: webhook.body })).status, 401);
    t.equal(await post({ 'webhook-id': 'msg_2' }, receiver.urlsUrl), 401);
    t.equal(received.length, 2);
    t.match(forged, Array(5).fill(/^webhook-signature/));
  });

  t.test('takes files by the URLs that it gives, and counts them', async (t) => {
    const files = ['a.mp4', 'b.mp4'].map((name) => ({ name, size: 5 }));
    const answer = await fetch(receiver.urlsUrl, genuine({ callId: '1', files }));
    const { urls } = (await answer.json()) as { urls: { name: string; uploadUrl: string }[] };
    t.match(urls, [{ name: 'a.mp4', method: 'PUT' }, { name: 'b.mp4' }]);
    const put = async (url: string, body: string): Promise<number> =>
      (await fetch(url, { method: 'PUT', body })).status;
    const [{ uploadUrl } = { uploadUrl: '' }] = urls;
    t.equal(await put(uploadUrl, 'abcd'), 400, 'another size');
    t.equal(await put(`${uploadUrl}&more=1`, 'abcde'), 403, 'another URL');
    t.equal(await put(uploadUrl.replace('a.mp4', 'c.mp4'), 'abcde'), 403, 'another name');
    t.equal((await fetch(uploadUrl)).status, 405);
    t.equal(await put(uploadUrl, 'abcde'), 200);
    t.strictSame(receiver.store.find('a.mp4'), { size: 5, sha256: createHash('sha256').update('abcde').digest('hex') });
    t.match(receiver.store, { files: 1, bytes: 5 });
    const single = await fetch(receiver.urlsUrl, genuine({ fileId: '1', name: 'd.mp4', size: 1 }));
    t.match(await single.json(), { name: 'd.mp4', uploadUrl: /^http/ });
  });

  t.test('plays a fault for a share of its requests', async (t) => {
    receiver.play([{ fault: 'fail', share: 0.5 }]);
    const statuses = await Promise.all(Array.from({ length: 100 }, () => post()));
    const failed = statuses.filter((status) => status === 503).length;
    t.ok(failed > 30 && failed < 70, `${failed} of 100 failed`);
    receiver.play([{ fault: 'go-away', share: 1 }]);
    await t.rejects(post());
    receiver.play([{ fault: 'hang', share: 1 }]);
    await t.rejects(fetch(receiver.url, { ...webhook, signal: AbortSignal.timeout(200) }), { name: 'TimeoutError' });
    receiver.play([{ fault: 'slow', share: 1 }]);
    const began = received.length;
    const slow = post();
    receiver.play([]);
    t.equal(await post(), 204, 'another one is not held up');
    t.equal(await slow, 204);
    t.equal(received.length, began + 2);
  });
});

t.test('several faults share the requests, and each has its own answer', async (t) => {
  await using receiver = await startReceiver({
    listen: { host: '127.0.0.1', port: 0 },
    authenticationKey: () => key,
    onReceived: () => {},
    onForged: () => {},
  });
  const post = (path = ''): Promise<Response> =>
    fetch(receiver.url + path, { ...genuine({ n: 1 }), redirect: 'manual' });
  receiver.play([
    { fault: 'gone', share: 0.25 },
    { fault: 'too-many', share: 0.25 },
    { fault: 'redirect', share: 0.25 },
  ]);
  const answers = await Promise.all(Array.from({ length: 200 }, () => post()));
  for (const status of [204, 307, 410, 429]) {
    const some = answers.filter((answer) => answer.status === status);
    t.ok(some.length > 25 && some.length < 75, `${some.length} of 200 got ${status}`);
    t.ok(some.every(({ headers }) => (headers.get('retry-after') === '10') === (status === 429)));
    t.ok(some.every(({ headers }) => (headers.get('location') === '/elsewhere') === (status === 307)));
  }
  receiver.play([{ fault: 'slow-body', share: 1 }]);
  const slow = await post();
  t.equal(slow.status, 200);
  await slow.body?.cancel();
  receiver.play([]);
  t.equal((await fetch(new URL('/elsewhere', receiver.url), genuine({ n: 1 }))).status, 404);
});

t.test('a receiver of endpoints', async (t) => {
  const forged: string[] = [];
  const untimely: string[] = [];
  const receiver = await startReceiver({
    listen: { host: '127.0.0.1', port: 0 },
    authenticationKey: () => key,
    onReceived: () => t.fail('no event of an endpoint is a webhook of a setting'),
    onForged: (reason) => forged.push(reason),
    onUntimely: ({ text }) => untimely.push(text),
  });
  t.teardown(() => receiver[Symbol.asyncDispose]());
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const arrived: (readonly [string, boolean])[] = [];
  const onArrived = ({ webhookId }: { webhookId: string }, isAnswered: boolean): void =>
    void arrived.push([webhookId, isAnswered]);
  const post = async (name: string, id: string, headers: object = {}): Promise<number> => {
    const made = genuine({}, id);
    return (await fetch(receiver.endpointUrl(name), { ...made, headers: { ...made.headers, ...headers } })).status;
  };
  t.equal(await post('billing', 'msg_1'), 503, 'its key is not known yet');
  receiver.receiveFor('billing', { verify: (...signed) => genuineWebhook(...signed, key), onArrived });
  receiver.receiveFor('alarms', {
    verify: (...signed) => genuineByPublicKey(...signed, publicKey.export({ format: 'jwk' })),
    onArrived,
  });

  t.test('verifies each event with the key of its endpoint', async (t) => {
    const { headers, body } = genuine({}, 'msg_2');
    const signed = Buffer.from(`msg_2.${headers['webhook-timestamp']}.${body}`);
    const signature = `v1a,${sign(null, signed, privateKey).toString('base64')}`;
    t.equal(await post('billing', 'msg_1'), 204);
    t.equal(await post('alarms', 'msg_2', { 'webhook-signature': `v1a,AAAA ${signature}` }), 204);
    t.strictSame(arrived.splice(0), [
      ['msg_1', true],
      ['msg_2', true],
    ]);
    t.equal(await post('alarms', 'msg_3', { 'webhook-signature': signature }), 401, 'it is that of another event');
    t.equal(await post('alarms', 'msg_2'), 401, 'a secret is no key pair');
    t.equal(await post('alarms', 'msg_2', { 'webhook-timestamp': '1', 'webhook-signature': signature }), 401);
    t.equal(await post('billing', 'msg_2', { 'webhook-signature': signature }), 401);
    t.match(forged, Array(4).fill(/^webhook-signature/));
    t.strictSame(arrived, []);
  });

  t.test('tells of an event that it refuses, because it may have worked on it', async (t) => {
    untimely.length = 0;
    receiver.play([{ fault: 'fail', share: 1 }]);
    t.equal(await post('billing', 'msg_4'), 503);
    receiver.play([]);
    t.equal(await post('billing', 'msg_4'), 204);
    t.strictSame(arrived.splice(0), [
      ['msg_4', false],
      ['msg_4', true],
    ]);
    t.strictSame(untimely, [], 'an endpoint that works again gets at once what waited');
  });

  t.test('an event comes to each endpoint, and to none again after an answer of 2xx', async (t) => {
    receiver.receiveFor('other', { verify: (...signed) => genuineWebhook(...signed, key), onArrived });
    t.equal(await post('other', 'msg_1'), 204);
    t.strictSame(untimely, []);
    t.equal(await post('other', 'msg_1'), 204);
    t.strictSame(untimely, ['webhook msg_1 came again after an answer of 2xx']);
    receiver.attempts.rest();
    t.equal(await post('other', 'msg_1'), 204);
    t.equal(untimely.length, 1);
  });
});

t.test('a receiver on a used port names the option to correct', async (t) => {
  const options = { authenticationKey: () => key, onReceived: () => {}, onForged: () => {} };
  await using first = await startReceiver({ listen: { host: '127.0.0.1', port: 0 }, ...options });
  const listen = { host: '127.0.0.1', port: Number(new URL(first.url).port) };
  await t.rejects(startReceiver({ listen, ...options }), { option: '--webhook-listen', message: /EADDRINUSE/ });
  await using other = await startReceiver({
    listen: { host: '127.0.0.1', port: 0 },
    publicUrl: 'https://qa.example/hooks/',
    ...options,
  });
  t.equal(other.url, 'https://qa.example/hooks/events');
});

t.test('a URL for an upload expires', async (t) => {
  let time = 0;
  const store = createFileStore({ base: () => 'http://store/files', now: () => time });
  const { uploadUrl } = store.presign({ name: 'a', size: 0 });
  const put = () =>
    store.receive(
      {
        method: 'PUT',
        url: uploadUrl.replace('http://store', ''),
        headers: { 'content-length': '0' },
        async *[Symbol.asyncIterator]() {},
      } as never,
      () => {},
    );
  t.equal(await put(), 200);
  time = 300_000;
  t.equal(await put(), 403);
});
