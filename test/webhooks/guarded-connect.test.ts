import type { LookupFunction } from 'node:net';
import t from 'tap';
import { guardLookup } from '../../src/core/webhooks/http/guarded-connect.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver } from './test-receiver.ts';

/** Answers each lookup with the next list of addresses; the last one repeats. */
function resolver(...answers: string[][]): LookupFunction & { calls: () => number } {
  let calls = 0;
  const lookup: LookupFunction = (_hostname, options, callback) => {
    const found = (answers[Math.min(calls, answers.length - 1)] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    calls += 1;
    if (options.all) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
  return Object.assign(lookup, { calls: () => calls });
}

void t.test('a literal address in the URL is refused without a connection', async (t) => {
  const receiver = await createTestReceiver(t);
  const { port } = receiver;
  const { open, row, applications } = await createSetUp(t, null);
  const { webhooks, record } = await open({ allowPrivate: false });
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[::1]',
    '0.0.0.0',
    '10.0.0.1',
  ]) {
    await applications.updateSettings('app-1', { deviceEvent: `http://${host}:${port}/` });
    const deliveryId = await record();
    await webhooks.idle();
    const { status, error, statusCode } = await row(deliveryId);
    t.strictSame([status, statusCode], ['pending', null]);
    t.match(error, /^the host leads to no public address$/, host);
  }
  t.equal(receiver.requests.length, 0);
});

void t.test(
  'a name is refused by the address that it resolves to, one bad address among good ones is enough',
  async (t) => {
    const receiver = await createTestReceiver(t);
    const { open, row } = await createSetUp(t, `http://hook.example:${receiver.port}/`);
    for (const addresses of [
      ['127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['64:ff9b::7f00:1'],
      ['::1'],
    ]) {
      const { webhooks, record } = await open({ allowPrivate: false, lookup: resolver(addresses) });
      const deliveryId = await record();
      await webhooks.idle();
      t.match((await row(deliveryId)).error, /^the host leads to no public address$/, addresses.join());
      await webhooks[Symbol.asyncDispose]();
    }
    t.equal(receiver.requests.length, 0);
    const { webhooks, record } = await open({ allowPrivate: true, lookup: resolver(['127.0.0.1']) });
    await record();
    await webhooks.idle();
    t.equal(receiver.requests.length, 1, 'the same name is fine where private addresses are allowed');
    const metadata = await open({ allowPrivate: true, lookup: resolver(['127.0.0.1', '::ffff:169.254.169.254']) });
    const deliveryId = await metadata.record();
    await metadata.webhooks.idle();
    t.match(
      (await row(deliveryId)).error,
      /^the host leads to no public address$/,
      'but not one of a cloud’s metadata',
    );
  },
);

void t.test('the checked address is the one that is connected to, without a second lookup', async (t) => {
  const receiver = await createTestReceiver(t);
  const { open } = await createSetUp(t, `http://hook.example:${receiver.port}/`);
  const rebinding = resolver(['127.0.0.1'], ['10.0.0.1']);
  const { webhooks, record } = await open({ allowPrivate: true, lookup: rebinding });
  await record();
  await webhooks.idle();
  t.equal(rebinding.calls(), 1);
  t.equal(receiver.requests.length, 1);
});

void t.test('a name that turns private later is refused by the next connection', async (t) => {
  const lookup = guardLookup(resolver(['8.8.8.8', '2606:4700::1'], ['8.8.8.8', '169.254.169.254']));
  const resolve = () =>
    new Promise((settle) => {
      lookup('hook.example', { all: true }, (cause, address) => settle(cause?.message ?? address));
    });
  t.strictSame(await resolve(), [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1', family: 6 },
  ]);
  t.equal(await resolve(), 'the host leads to no public address');
});

void t.test('a name that does not resolve keeps its own error', async (t) => {
  const { open, row } = await createSetUp(t, 'http://hook.example/');
  const missing: LookupFunction = (hostname, _options, callback) =>
    callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }), '', 0);
  const { webhooks, record } = await open({ allowPrivate: false, lookup: missing });
  const deliveryId = await record();
  await webhooks.idle();
  t.match((await row(deliveryId)).error, /ENOTFOUND/);
});
