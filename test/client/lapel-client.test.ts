import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import { verifyWebhook } from '@lapel/client/verify-webhook';
import t, { type Test } from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { startWorld, WIFI } from '../world.ts';

/** A proxy in front of the service. On demand it loses answers, after the service has given them. */
async function startProxy(t: Test, target: string) {
  let toLose = 0;
  const seen: { method: string; url: string; key: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, key: headers['idempotency-key'] as string | undefined });
    const upstream = forward(target + url, { method, headers }, (answer) => {
      if (toLose > 0) {
        toLose -= 1;
        answer.resume().once('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    lose(count: number): void {
      toLose = count;
    },
  };
}

t.test('the typed client', async (t) => {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock });
  const tenant = await world.createTenant();
  const { applicationId, secret } = tenant;
  const device = await world.activatedDevice(tenant);
  const { deviceId } = device;
  const proxy = await startProxy(t, world.service.addresses.http);
  const lapel = createLapelClient({ baseUrl: proxy.url, applicationId, secret });

  t.test('carries out an operation and looks its transaction up until it is finished', async (t) => {
    const { transactionId } = await lapel.setWifi({ deviceId, body: WIFI as never });
    const finished = lapel.finished({ deviceId, transactionId });
    device.link.puback((await device.link.command()).packet);
    await device.link.ack({ transactionId, status: 'succeeded' });
    t.match(await finished, { transactionId, operation: 'setWifi', status: 'succeeded' });
  });

  t.test('verifies the webhook of it, and refuses one that was changed or signed with another key', async (t) => {
    const { body, headers } = await tenant.receiver.next();
    const { authenticationKey } = tenant;
    const { webhookId, event } = verifyWebhook({ body, headers, authenticationKey });
    t.equal(webhookId, headers['webhook-id']);
    if (event.type !== 'transaction.succeeded') throw new Error(event.type);
    t.equal(event.data.transaction.operation, 'setWifi');
    const forged = Buffer.from(body.toString().replace('setWifi', 'setApn'));
    t.throws(() => verifyWebhook({ body: forged, headers, authenticationKey }), { name: 'Error' });
    const other = `whsec_${Buffer.alloc(32).toString('base64')}`;
    t.throws(() => verifyWebhook({ body, headers, authenticationKey: other }));
    t.throws(() => verifyWebhook({ body, headers: {}, authenticationKey }), { message: /headers/ });
  });

  t.test('repeats a call whose answer was lost, and it is carried out once', async (t) => {
    const before = (await lapel.listTransactions({ deviceId })).total;
    proxy.seen.length = 0;
    proxy.lose(2);
    const { transactionId } = await lapel.setApn({ deviceId, body: [] });
    t.equal(proxy.seen.length, 3);
    t.equal(new Set(proxy.seen.map(({ key }) => key)).size, 1, 'with one key');
    t.match(await lapel.listTransactions({ deviceId }), {
      total: Number(before) + 1,
      transactions: [{ transactionId }],
    });
  });

  t.test('does not repeat a call that would be carried out twice', async (t) => {
    proxy.seen.length = 0;
    proxy.lose(1);
    await t.rejects(lapel.registerPackage({ body: { package: 'com.example.once' } }), { message: 'fetch failed' });
    t.equal(proxy.seen.length, 1);
    t.equal((await lapel.listPackages()).total, 1, 'it was done');
  });

  t.test('a caller’s own Idempotency-Key repeats an earlier call', async (t) => {
    const call = () => lapel.setApn({ deviceId, body: [], idempotencyKey: 'mine' });
    t.same(await call(), await call());
  });

  t.test('throws the error of the service, with every faulty field', async (t) => {
    const thrown = await lapel.setWifi({ deviceId, body: [{ ssid: '' }] as never }).catch((error: unknown) => error);
    t.ok(thrown instanceof LapelError);
    t.match(thrown, { status: 400, code: 'REQUEST_INVALID', reason: 'invalid request.' });
    const { details, requestId } = thrown as LapelError;
    t.same(details.map(({ loc }) => loc.join('.')).sort(), ['body.0.security', 'body.0.ssid']);
    t.type(requestId, 'string');
    await t.rejects(lapel.readStatus({ deviceId: '1' }), { message: /: 404 invalid path parameter/ });
  });

  t.test('fetches one token for calls at the same time, and another when the service refuses it', async (t) => {
    const fresh = createLapelClient({ baseUrl: proxy.url, applicationId, secret });
    proxy.seen.length = 0;
    await Promise.all([fresh.readSettings(), fresh.readSettings(), fresh.listPackages()]);
    t.equal(proxy.seen.filter(({ method }) => method === 'POST').length, 1);
    world.clock.advance(3_601_000);
    t.match(await fresh.readSettings(), { deviceEvent: tenant.receiver.url });
    const wrong = createLapelClient({ baseUrl: proxy.url, applicationId, secret: 'wrong' });
    await t.rejects(wrong.readSettings(), { message: /: 401 unknown application or wrong secret$/ });
  });

  t.test('goes through a list page by page', async (t) => {
    for (let count = 0; count < 4; count += 1) await lapel.setApn({ deviceId, body: [] });
    proxy.seen.length = 0;
    const ids = [];
    for await (const record of lapel.each('listTransactions', { deviceId, query: { operation: 'setApn', limit: 2 } }))
      ids.push(record.transactionId);
    t.equal(ids.length, new Set(ids).size);
    t.equal(ids.length, (await lapel.listTransactions({ deviceId, query: { operation: 'setApn' } })).total);
    t.equal(proxy.seen.length, 1 + Math.ceil(ids.length / 2));
  });

  t.test('iterates over the devices', async (t) => {
    await tenant.renew(); // its token ended above
    const more = [await world.activatedDevice(tenant), await world.activatedDevice(tenant)];
    proxy.seen.length = 0;
    const seen = [];
    for await (const status of lapel.each('listStatuses', { query: { limit: 1 } })) seen.push(status.deviceId);
    t.same(seen, [deviceId, ...more.map((one) => one.deviceId)]);
    t.match(proxy.seen.at(-1)?.url, `after=${more[0]?.deviceId}`);
  });

  t.test('keeps the numbers of a device as they were written, where it is asked to', async (t) => {
    const { deviceId, link } = await world.activatedDevice(tenant);
    const { transactionId } = await lapel.readConnectivity({ deviceId, query: { type: 'bluetooth' } });
    link.puback((await link.command()).packet);
    const result = '{"type":"bluetooth","enabled":true,"n":[12345678901234567890,1.0]}';
    link.publish('acks', `{"transactionId":${transactionId},"status":"succeeded","result":${result}}`);
    await tenant.event();
    const read = async (exactNumbers: boolean) => {
      const client = createLapelClient({ baseUrl: proxy.url, applicationId, secret, exactNumbers });
      return (await client.readTransaction({ deviceId, transactionId })).result as object | null;
    };
    t.equal(JSON.stringify(await read(true)), result);
    t.match(await read(false), { n: [Number('12345678901234567890'), 1] }, 'they are numbers otherwise');
  });

  t.test('repeats a parameter that is a list, also on the pages after the first', async (t) => {
    const ids: string[] = [];
    for (const site of ['osaka & kobe', 'kyoto', 'nara', 'osaka & kobe']) {
      const one = await world.activatedDevice(tenant);
      await lapel.updateTags({ deviceId: one.deviceId, body: { site } });
      if (site !== 'nara') ids.push(one.deviceId);
    }
    const tag = ['site=osaka & kobe', 'site=kyoto', '!ring'];
    t.match(await lapel.listOwnDevices({ query: { tag } }), { devices: { length: 3 } });
    proxy.seen.length = 0;
    const seen = [];
    for await (const row of lapel.each('listOwnDevices', { query: { tag, limit: 1 } })) seen.push(row.deviceId);
    t.same(seen, ids);
    const asked = proxy.seen.map(({ url }) => new URL(url, proxy.url).searchParams.getAll('tag'));
    t.ok(asked.length >= 3);
    for (const terms of asked) t.same(terms, tag);
  });

  t.test('ends when its caller does', async (t) => {
    const { transactionId } = await lapel.setApn({ deviceId, body: [] });
    const ended = lapel.finished({ deviceId, transactionId, signal: AbortSignal.timeout(1) });
    await t.rejects(ended, { name: /AbortError|TimeoutError/ });
  });
});

t.test('the typed client waits as long as the Retry-After of a 429 demands', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_RATE_LIMIT: '1' } });
  const { applicationId, secret, path, api } = await world.createTenant('dev', { key: false, deviceEvent: false });
  const lapel = createLapelClient({ baseUrl: world.service.addresses.http, applicationId, secret, attempts: 2 });
  await until(async () => (await api.get(path)).status === 429);
  const answer = lapel.readSettings();
  world.clock.advance(1000);
  t.match(await answer, {});
  await t.rejects(lapel.readSettings(), { message: /: 429 /, retryAfter: 1 }, 'and not for ever');
});

t.test('the typed client rejects at once if the service demands a longer wait than the caller allows', async (t) => {
  const server = createServer((_request, response) => {
    response
      .writeHead(429, { 'retry-after': '60' })
      .end('{"message":"the device has 1000 unfinished transactions and may not have more."}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
  };
  const lapel = createLapelClient({ baseUrl, applicationId: 'a', secret: 's', pause });
  await t.rejects(lapel.readSettings(), { message: /unfinished transactions/, retryAfter: 60 });
  t.equal(pauses, 0);
});

t.test('the typed client reports that a foreign page is not an answer of this service', async (t) => {
  const server = createServer((request, response) => {
    // A token need not state its lifetime.
    response.end(request.method === 'POST' ? '{"access_token":"a"}' : '<h1>Welcome</h1>');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lapel = createLapelClient({ baseUrl, applicationId: 'a', secret: 's' });
  await t.rejects(lapel.readSettings(), { message: /: 200 the answer does not come from this service$/ });
});
