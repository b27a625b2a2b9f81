import { readCommandLine } from '@lapel/device-sim/command-line';
import { bodyOf, signedWebhook } from '@lapel/device-sim/trial/outgoing';
import { runTrial } from '@lapel/device-sim/trial/run-trial';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { until } from '../../until.ts';
import { createTestReceiver } from '../../webhooks/test-receiver.ts';
import { startWorld } from '../../world.ts';
import { brokenOf, startOwnReceiver, withoutLoad } from './own-receiver.ts';

const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Begins a test in this process; `url` resolves when it listens. */
function begin(line: string, env: Record<string, string>) {
  const command = readCommandLine(line.split(' '), env);
  if (command.do !== 'receiver') throw new Error(`"${line}" is no test of a receiver`);
  const listening = Promise.withResolvers<string>();
  const stop = new AbortController();
  const done = runTrial(command.settings, {
    stopped: stop.signal,
    say: (said) => listening.resolve(said.replace('listening at ', '')),
  });
  done.catch(listening.reject);
  return { url: listening.promise, done, stop: () => stop.abort() };
}

t.test('webhooks of the real service pass, and the settings are restored', async (t) => {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock });
  const tenant = await world.createTenant();
  const before = (await tenant.api.get(tenant.path)).body;
  const customer = await startOwnReceiver(t, tenant.authenticationKey);
  const { url, done } = begin(
    `receiver --forward ${customer.url} --once 16 --api ${world.service.addresses.http} --application ${tenant.applicationId}`,
    { LAPEL_APPLICATION_SECRET: tenant.secret },
  );
  t.match((await url) && (await tenant.api.get(tenant.path)).body.authenticationKey, tenant.authenticationKey);
  const deliveries: string[] = [];
  const pointedAt = async () => (await tenant.api.get(tenant.path)).body.callEvent;
  await until(async () => (await pointedAt()) === (await url));
  for (let sent = 0; sent < 16; sent += 1) {
    const { body } = await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
    deliveries.push(body.deliveryId);
    await world.idle();
  }
  const { verdicts, notRun, webhooks, unverified } = await done;
  t.strictSame(withoutLoad(notRun), []);
  t.strictSame(brokenOf(verdicts), []);
  t.match({ webhooks, unverified }, { webhooks: 16, unverified: 0 });
  t.same((await tenant.api.get(tenant.path)).body, before);
  for (const deliveryId of deliveries) {
    const { body } = await tenant.api.get(`${tenant.path}/webhooks/deliveries/${deliveryId}`);
    t.equal(body.status, 'delivered');
  }
});

t.test('a webhook is passed on byte for byte, and the answer of the customer passed back', async (t) => {
  const customer = await createTestReceiver(t);
  customer.answer(() => ({ status: 503, headers: { 'retry-after': '7' }, body: 'not today' }));
  const { url, done, stop } = begin(`receiver --forward ${customer.url} --key ${key}`, {});
  const body = bodyOf({ type: 'test', timestamp: '2026-11-20T09:30:00.123456Z', data: { name: 'Ü 🎧' } });
  const spaced = Buffer.concat([Buffer.from(' '), body, Buffer.from('\n')]);
  const webhook = signedWebhook(key, 'msg_1', Date.now(), spaced);
  const send = async (headers: object = {}) =>
    fetch(await url, { method: 'POST', body: spaced, headers: { ...(webhook.headers as object), ...headers } });
  const answer = await send();
  t.equal(answer.status, 503);
  t.equal(answer.headers.get('retry-after'), '7');
  t.equal(await answer.text(), 'not today');
  const received = await customer.next();
  t.ok(received.body.equals(spaced));
  t.match(received.headers, webhook.headers);
  t.equal((await send({ 'webhook-signature': 'v1,no' })).status, 401);
  t.equal((await send({ 'webhook-id': 'msg_2' })).status, 401);
  stop();
  const { verdicts, unverified } = await done;
  t.equal(unverified, 2);
  t.match(verdicts, [
    { text: /^service: /, holds: false, shown: '1 with, 2 without' },
    { text: 'genuine: 2xx within 15 s', holds: false, shown: '1: 503' },
  ]);
});

t.test('without a webhook it is NOT RUN', async (t) => {
  const customer = await startOwnReceiver(t, key);
  const { url, done, stop } = begin(`receiver --forward ${customer.url} --key ${key}`, {});
  await url;
  stop();
  t.match(await done, { webhooks: 0, notRun: ['no webhook came'] });
});

t.test('a new key of the application is read when a webhook does not match the old one', async (t) => {
  const world = await startWorld(t, { clock: createFakeClock(Date.now() * 1000) });
  const tenant = await world.createTenant();
  let present = tenant.authenticationKey;
  const customer = await startOwnReceiver(t, () => present);
  const { url, done } = begin(
    `receiver --forward ${customer.url} --once 1 --api ${world.service.addresses.http} --application ${tenant.applicationId}`,
    { LAPEL_APPLICATION_SECRET: tenant.secret },
  );
  const receiver = await url;
  while ((await tenant.api.get(tenant.path)).body.callEvent !== receiver)
    await new Promise((resolve) => setTimeout(resolve, 10));
  present = (await tenant.api.post(`${tenant.path}/refresh_authkey`)).body.authenticationKey;
  await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
  const { verdicts, unverified } = await done;
  t.equal(unverified, 0);
  t.strictSame(brokenOf(verdicts), []);
});

t.test('settings that cannot be restored are told as they were', async (t) => {
  const world = await startWorld(t, { clock: createFakeClock(Date.now() * 1000) });
  const tenant = await world.createTenant();
  const customer = await startOwnReceiver(t, tenant.authenticationKey);
  const { url, done, stop } = begin(
    `receiver --forward ${customer.url} --api ${world.service.addresses.http} --application ${tenant.applicationId}`,
    { LAPEL_APPLICATION_SECRET: tenant.secret },
  );
  const receiver = await url;
  while ((await tenant.api.get(tenant.path)).body.callEvent !== receiver)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await world.admin().delete(`/admin/v1/applications/${tenant.applicationId}`);
  stop();
  const before = `deviceEvent: ${tenant.receiver.url}, callEvent: none`;
  await t.rejects(done, {
    message: new RegExp(`^the settings still have the URL ${receiver}; before it was ${before}`),
  });
});
