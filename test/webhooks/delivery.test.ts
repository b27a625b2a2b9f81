import { Writable } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver } from './test-receiver.ts';

void t.test('a notification is a signed POST of type, timestamp, data and its places in the stream', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, row, applications, clock } = await createSetUp(t, `${receiver.url}?key=1`);
  const { webhooks, record } = await open();
  const occurredAt = Date.UTC(2026, 10, 20, 9, 0) * 1000 + 7;
  const deliveryId = await record({ occurredAt, transactionId: 12, data: { name: 'Zoë', applicationId: 'forged' } });
  const { method, path, headers, body } = await receiver.next();
  await webhooks.idle();
  t.strictSame([method, path], ['POST', '/hook?key=1']);
  t.strictSame(JSON.parse(body.toString()), {
    type: 'bluetooth.connected',
    timestamp: '2026-11-20T09:00:00.000007Z',
    data: { name: 'Zoë', applicationId: 'app-1', deviceId: '490154203237518' },
    sequence: 1,
    deviceSequence: 1,
  });
  t.match(headers, { 'lapel-sequence': '1', 'lapel-device-sequence': '1' });
  t.equal(headers['content-type'], 'application/json');
  t.equal(headers['webhook-id'], deliveryId);
  t.equal(headers['webhook-timestamp'], String(Math.floor(clock.now() / 1_000_000)));
  const [authenticationKey = ''] = (await applications.endpointOf('app-1', 'deviceEvent')).keys;
  const verifier = new Webhook(authenticationKey);
  const signed = verifier.sign(deliveryId, new Date(clock.now() / 1000), body);
  t.equal(headers['webhook-signature'], signed);
  const ofStandardWebhooks = ['webhook-id', 'webhook-signature', 'webhook-timestamp'];
  const ofHttp = ['connection', 'content-length', 'content-type', 'host', 'user-agent'];
  const places = ['lapel-sequence', 'lapel-device-sequence'];
  const all = [...ofHttp, ...ofStandardWebhooks, ...places].sort();
  t.strictSame(Object.keys(headers).sort(), all, 'no second signature');
  t.match(await row(deliveryId), {
    status: 'delivered',
    attempts: 1,
    url: `${receiver.url}?key=1`,
    statusCode: 200,
    error: null,
    nextAttemptAt: null,
    body: body.toString().replace(',"sequence":1,"deviceSequence":1}', '}'),
  });
});

void t.test('a unit of work that rolls back sends nothing', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, database, clock, count } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const event = { applicationId: 'app-1', deviceId: '1', setting: 'deviceEvent', type: 'x' } as const;
  const work = database.transact(async (unit) => {
    webhooks.record(unit, { ...event, occurredAt: clock.now(), data: {} });
    throw new Error('changed its mind');
  });
  await t.rejects(work, { message: 'changed its mind' });
  const kept = await record();
  await receiver.next();
  await webhooks.idle();
  t.strictSame(
    receiver.requests.map((request) => request.headers['webhook-id']),
    [kept],
  );
  t.equal(await count('pending'), 0);
});

void t.test('each answer has its outcome', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, row, clock, metrics } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const rows: [number, Record<string, string>, string, string | null, number | null][] = [
    [204, {}, 'delivered', null, null],
    [302, { location: receiver.url }, 'pending', 'answered 302', 5],
    [410, {}, 'gone', 'answered 410', null],
    [429, { 'retry-after': '90' }, 'pending', 'answered 429', 90],
    [500, {}, 'pending', 'answered 500', 5],
    [503, { 'retry-after': '1' }, 'pending', 'answered 503', 5],
    [503, { 'retry-after': '99999999' }, 'pending', 'answered 503', 86_400],
  ];
  for (const [status, headers, outcome, error, wait] of rows) {
    receiver.answer({ status, headers });
    const before = receiver.requests.length;
    const deliveryId = await record();
    await webhooks.idle();
    t.equal(receiver.requests.length, before + 1, `one request, ${status} is not followed`);
    t.match(await row(deliveryId), {
      status: outcome,
      attempts: 1,
      statusCode: status,
      error,
      nextAttemptAt: wait === null ? null : clock.now() + wait * 1_000_000,
    });
  }
  const text = await metrics.registry.metrics();
  t.match(text, 'lapel_webhook_attempts_total{outcome="gone"} 1');
  t.match(text, 'lapel_webhook_attempts_total{outcome="retry"} 5');
});

void t.test('every retry comes at its time with the same id and body, then it is exhausted and kept', async (t) => {
  const receiver = await createTestReceiver(t);
  receiver.answer({ status: 500 });
  const { open, row, clock } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const deliveryId = await record();
  await webhooks.idle();
  const delays = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  for (const [index, seconds] of delays.entries()) {
    t.equal((await row(deliveryId)).nextAttemptAt, clock.now() + seconds * 1_000_000);
    clock.advance(seconds * 1000 - 1);
    await webhooks.idle();
    t.equal(receiver.requests.length, index + 1, `not before ${seconds} s`);
    clock.advance(1);
    await webhooks.idle();
    t.equal(receiver.requests.length, index + 2, `after ${seconds} s`);
    t.equal(receiver.requests.at(-1)?.headers['webhook-timestamp'], String(Math.floor(clock.now() / 1_000_000)));
  }
  t.match(await row(deliveryId), { status: 'exhausted', attempts: 10, nextAttemptAt: null, statusCode: 500 });
  clock.advance(10_000); // the attempts are counted
  await webhooks.idle();
  t.equal(clock.timers(), 1, 'nothing more is waited for: there is only the slow look');
  t.strictSame(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])), new Set([deliveryId]));
  t.equal(new Set(receiver.requests.map(({ body }) => body.toString())).size, 1);
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-signature'])).size, 10, 'each signed anew');
});

void t.test('a receiver that hangs has 15 s', async (t) => {
  const receiver = await createTestReceiver(t);
  receiver.answer({ hang: true });
  const { open, row, clock } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const deliveryId = await record();
  await receiver.next();
  clock.advance(14_999);
  t.equal(receiver.open(), 1);
  t.equal((await row(deliveryId)).attempts, 0);
  clock.advance(1);
  await webhooks.idle();
  t.match(await row(deliveryId), { status: 'pending', attempts: 1, statusCode: null, error: 'no answer within 15 s' });
});

void t.test('a status that arrives in time counts, even if the answer never ends', async (t) => {
  const receiver = await createTestReceiver(t);
  receiver.answer({ status: 202, body: 'more to come', stall: true });
  const { open, row, clock, finished } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  const deliveryId = await record();
  await receiver.next();
  // A second webhook on a separate connection: when it has arrived, so have the headers of the first.
  receiver.answer({});
  await finished(await record());
  clock.advance(15_000);
  await webhooks.idle();
  t.match(await row(deliveryId), { status: 'delivered', statusCode: 202, attempts: 1 });
});

void t.test('the first 64 KiB of a long answer are read, and its status counts', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, row } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  for (const [status, outcome] of [
    [200, 'delivered'],
    [410, 'gone'],
  ] as const) {
    receiver.answer({ status, body: Buffer.alloc(64 * 1024 * 1024) });
    const deliveryId = await record();
    await webhooks.idle();
    t.match(await row(deliveryId), { status: outcome, statusCode: status, attempts: 1 });
    t.equal(receiver.requests.at(-1)?.answered(), false, 'it was cut off');
  }
  receiver.answer({ status: 200, body: Buffer.alloc(60 * 1024) });
  const deliveryId = await record();
  await webhooks.idle();
  t.equal(receiver.requests.at(-1)?.answered(), true);
  t.equal((await row(deliveryId)).status, 'delivered');
});

void t.test('an unreachable receiver is tried again', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, row, clock } = await createSetUp(t, receiver.url);
  const { webhooks, record } = await open();
  await receiver.close();
  const deliveryId = await record();
  await webhooks.idle();
  const { error, ...rest } = await row(deliveryId);
  t.equal(error, 'connect ECONNREFUSED', 'not to what address the name led');
  t.match(rest, { status: 'pending', statusCode: null, nextAttemptAt: clock.now() + 5_000_000 });
});

void t.test('after op 3 the next attempt carries the new key, after op 2 it goes to the new URL', async (t) => {
  const first = await createTestReceiver(t);
  const second = await createTestReceiver(t);
  first.answer({ status: 500 });
  const { open, clock, applications } = await createSetUp(t, first.url);
  const { webhooks, record } = await open();
  const deliveryId = await record();
  await webhooks.idle();
  const { authenticationKey } = await applications.issueKey('app-1');
  await applications.updateSettings('app-1', { deviceEvent: second.url });
  clock.advance(5000);
  const { headers, body } = await second.next();
  await webhooks.idle();
  const signature = new Webhook(authenticationKey).sign(deliveryId, new Date(clock.now() / 1000), body);
  t.equal(String(headers['webhook-signature']).split(' ')[0], signature, 'and for a day the former one besides');
  t.strictSame(first.requests[0]?.body, body);
});

void t.test('without URL or key an attempt fails with the reason', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, row, applications, database, clock } = await createSetUp(t, null);
  const { webhooks, record } = await open();
  const unset = await record();
  await webhooks.idle();
  t.match(await row(unset), { status: 'pending', attempts: 1, url: null, error: 'deviceEvent is not set' });
  await applications.updateSettings('app-1', { deviceEvent: receiver.url });
  await database.transact((unit) => unit.run('UPDATE applications SET authentication_key = NULL'));
  clock.advance(5000);
  await webhooks.idle();
  t.match(await row(unset), { status: 'pending', attempts: 2, error: 'authenticationKey is not issued' });
  await applications.issueKey('app-1');
  clock.advance(300_000);
  await webhooks.idle();
  t.match(await row(unset), { status: 'delivered', attempts: 3 });
  t.equal(receiver.requests.length, 1);
});

void t.test('log lines of webhooks hold neither URL, nor key, nor body', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open, applications, clock } = await createSetUp(t, `${receiver.url}?token=in-the-url`);
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const { webhooks, record } = await open({ log: createLog({ level: 'trace', destination }) });
  const deliveryId = await record({ data: { private: 'in-the-body' } });
  for (const status of [500, 302, 410]) {
    receiver.answer({ status });
    await webhooks.idle();
    clock.advance(300_000);
  }
  await webhooks.idle();
  const [authenticationKey = ''] = (await applications.endpointOf('app-1', 'deviceEvent')).keys;
  const text = lines.join('');
  t.match(text, deliveryId);
  t.match(text, /"level":20.*"msg":"webhook failed"/);
  t.match(text, /"level":30.*"msg":"webhook receiver began to fail"/);
  t.match(text, /"level":40.*"msg":"webhook refused for good"/);
  for (const secret of ['in-the-url', 'in-the-body', authenticationKey]) t.notOk(text.includes(secret), secret);
});
