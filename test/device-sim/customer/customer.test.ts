import { URL_SETTINGS } from '@lapel/client/operations';
import type { ActionName } from '@lapel/device-sim/customer/action';
import { createCustomer } from '@lapel/device-sim/customer/customer';
import { provision } from '@lapel/device-sim/customer/provision';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { oneGroup } from '@lapel/device-sim/fleet/member';
import { percentile } from '@lapel/device-sim/histogram';
import { systemTimers } from '@lapel/device-sim/timers';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { until } from '../../until.ts';
import { createTestReceiver } from '../../webhooks/test-receiver.ts';
import { startWorld } from '../../world.ts';

t.test('a customer of the real service', async (t) => {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock, env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  const { admin: adminUrl, http: apiUrl, mqtt } = world.service.addresses;
  const admin = { url: adminUrl, token: world.service.adminToken };
  const run = {
    adminUrl,
    token: admin.token,
    developerId: 'fleet',
    run: 'customer',
    seed: 1,
    places: [0, 1, 2, 3, 4, 5],
  };
  const { accounts, application } = await provision(run);
  const customer = createCustomer({ apiUrl, application, admin, timers: systemTimers });
  t.teardown(() => customer[Symbol.asyncDispose]());
  const fleet = createFleet({
    members: oneGroup(accounts, {
      behaviour: { silentOperations: new Set(['setApn']), fileSize: { min: 2000, max: 3000 } },
    }),
    url: mqtt,
  });
  t.teardown(() => fleet[Symbol.asyncDispose]());
  const { ledger } = customer;
  const deviceIds = accounts.map(({ deviceId }) => deviceId);
  const [one = '', two = '', three = '', , , six = ''] = deviceIds;
  let number = 0;
  const act = (name: ActionName, deviceId: string, more: object = {}) => {
    number += 1;
    return customer.act({ do: name, number, ...more }, deviceId, 'work');
  };

  await customer.start();
  customer.follow(fleet);
  await fleet.connect();

  t.test('activates all devices except an offline one, and continues without it', async (t) => {
    await fleet.devices[5]?.disconnect();
    t.strictSame(await customer.activate(deviceIds, 'begin', 3000), deviceIds.slice(0, 5));
    t.strictSame(fleet.devices[0]?.state.activation?.applicationId, application.applicationId);
    t.match(ledger.figures('begin'), { requests: 6, accepted: 6, succeeded: 5, unfinished: 1, lost: 0 });
    await fleet.devices[5]?.connect();
    t.strictSame(await customer.activate([six], 'begin', 5000), [], 'it is being activated: 403');
    await customer.settle(5000);
    t.strictSame(await customer.activate([six, one], 'begin', 5000), [six, one]);
    t.match(ledger.figures('begin'), { accepted: 6, succeeded: 6, refused: { 403: 1 }, unfinished: 0 });
  });

  t.test('carries out every action, and knows the result of each', async (t) => {
    ledger.enter('work');
    const names: ActionName[] = ['setWifi', 'setLanguage', 'setBluetooth', 'readBluetooth', 'listBluetooth'];
    for (const name of [...names, 'pairBluetooth', 'readStatus'] as const) await act(name, one);
    await act('install', one, { release: { version: '1.4.0' } });
    await act('install', two, { release: { version: '1.4.0' } });
    await act('install', three, { release: { version: '2.0.0', says: { version: '2.0.1' } } });
    await act('updateFirmware', one, { release: { version: '9.9.0', size: 5000 } });
    await customer.settle(10_000);
    t.match(ledger.figures('work'), {
      requests: 11,
      accepted: 10,
      delivered: 10,
      succeeded: 9,
      failed: 1,
      failures: { VERSION_NAME_MISMATCH: 1 },
      refused: {},
      errors: 0,
      unfinished: 0,
      lost: 0,
      doubled: 0,
    });
    t.match(fleet.devices[0]?.state, { firmwareVersion: '9.9.0', networks: [{ ssid: `network ${1}` }] });
    t.match(Object.values(fleet.devices[2]?.state.software ?? {}), [{ version: '2.0.1', versionCode: 2_000_001 }]);
    const { latency } = ledger.figures();
    for (const stage of ['accepted', 'delivered', 'answered', 'settled'] as const) {
      t.equal(latency[stage].count, 16, stage);
      t.ok(percentile(latency[stage], 0.5) > 0);
    }
    t.ok(percentile(latency.accepted, 1) <= percentile(latency.settled, 1));
  });

  t.test(
    'a transaction is unfinished and not lost if the device is offline or never answers; it can be cancelled',
    async (t) => {
      await act('setApn', two);
      await fleet.devices[0]?.drop();
      await act('setWifi', one);
      t.strictSame(await customer.settle(10_000), { unfinished: 2, away: 1, unanswered: 1, waiting: 0 });
      await act('cancel', two);
      await act('cancel', three);
      await fleet.devices[0]?.connect();
      t.strictSame(await customer.settle(10_000), { unfinished: 0, away: 0, unanswered: 0, waiting: 0 });
      t.match(ledger.figures('work'), { cancelled: 1, succeeded: 10, unfinished: 0, lost: 0 });
    },
  );

  t.test('a device that waits before it connects again is waited for', async (t) => {
    fleet.devices[0]?.loseConnection();
    await until(() => fleet.devices[0]?.reconnector.isTrying === true);
    await act('setWifi', one);
    t.match(fleet.devices[0], { online: false, reconnector: { isTrying: true } }, 'it waits longer than a call takes');
    t.strictSame(await customer.settle(60_000), { unfinished: 0, away: 0, unanswered: 0, waiting: 0 });
    t.match(fleet.devices[0], { online: true, reconnector: { isTrying: false } });
  });

  t.test('events of devices are followed, and their files are in its store', async (t) => {
    fleet.devices[0]?.call({ milliseconds: 0, recorded: true, others: 1 });
    fleet.devices[1]?.uploadFile();
    fleet.devices[1]?.pressButton();
    await fleet.idle();
    await customer.settle(5000);
    const { eventsTold, eventsReceived, lost } = ledger.figures();
    t.match(
      { eventsTold, eventsReceived, lost },
      { eventsTold: 6, eventsReceived: 6, lost: 0 },
      'and that of the pairing',
    );
    t.equal(customer.receiver.files.count, 3);
    t.ok(customer.receiver.files.bytes >= 6000);
  });

  for (const [fault, advance] of [
    ['fail', 7000],
    ['go-away', 7000],
    ['hang', 22_000],
    ['redirect', 7000],
    ['too-many', 14_000],
  ] as const) {
    t.test(`a receiver that plays ${fault} gets its webhooks later, and once`, async (t) => {
      const phase = `receiver ${fault}`;
      customer.receiver.play([{ fault, share: 1 }]);
      await customer.act({ do: 'setWifi', number: 900 }, one, phase);
      const settled = customer.settle(10_000);
      await fleet.idle();
      await until(() => customer.receiver.played()[fault] !== undefined);
      if (fault !== 'hang') await world.idle();
      t.match(ledger.figures(phase), { accepted: 1, succeeded: 0, unfinished: 1 });
      customer.receiver.play([]);
      for (let moved = 0; moved < advance && ledger.unfinished > 0; moved += 1000) {
        clock.advance(1000);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await settled;
      t.match(ledger.figures(phase), { accepted: 1, succeeded: 1, unfinished: 0, lost: 0, doubled: 0 });
    });
  }

  t.test('a webhook that was answered 410 comes again only when the customer asks for it', async (t) => {
    customer.receiver.play([{ fault: 'gone', share: 1 }]);
    await customer.act({ do: 'setWifi', number: 950 }, one, 'gone');
    await until(() => customer.receiver.played()['gone'] !== undefined);
    await world.idle();
    customer.receiver.play([]);
    clock.advance(100_000); // the first repetition would come after 5 s
    await world.idle();
    t.match(ledger.figures('gone'), { accepted: 1, succeeded: 0, unfinished: 1 });
    // It asks as soon as nothing else can come, and not at the end of its patience.
    t.strictSame(await customer.settle(600_000), { unfinished: 0, away: 0, unanswered: 0, waiting: 0 });
    t.match(ledger.figures('gone'), { accepted: 1, succeeded: 1, lost: 0, doubled: 0 });
  });

  t.test('failed webhooks are requested at the end, so nothing waits for the schedule of retries', async (t) => {
    const failed = (): number => customer.receiver.played()['fail'] ?? 0;
    const before = failed();
    customer.receiver.play([{ fault: 'fail', share: 1 }]);
    await customer.act({ do: 'setWifi', number: 940 }, one, 'asked for');
    fleet.devices[0]?.pressButton();
    await until(() => failed() >= before + 2);
    await world.idle();
    customer.receiver.play([]);
    t.strictSame(await customer.settle(200), { unfinished: 0, away: 0, unanswered: 0, waiting: 0 });
    t.match(ledger.figures('asked for'), { accepted: 1, succeeded: 1, lost: 0, doubled: 0 });
    t.equal(ledger.waitingEvents, 0);
  });

  t.test('a missing result and a missing event are lost, with a story that names the device', async (t) => {
    const elsewhere = await createTestReceiver(t);
    const api = await world.clientOf(application.applicationId, application.secret);
    const path = `/v1/applications/${application.applicationId}`;
    await api.patch(path, { json: { deviceEvent: elsewhere.url } });
    ledger.enter('lost');
    await customer.act({ do: 'setWifi', number: 950 }, two, 'lost');
    fleet.devices[1]?.pressButton();
    await fleet.idle();
    await world.idle();
    t.match(await customer.settle(200), { unfinished: 0 });
    t.match(ledger.figures('lost'), { accepted: 1, lost: 2, eventsLost: 1, unfinished: 0 });
    const troubles = ledger.troubles().filter(({ kind }) => kind === 'lost');
    t.match(troubles, [
      {
        deviceId: two,
        phase: 'lost',
        text: /has no result: the service says "succeeded", but no webhook arrived/,
      },
      { deviceId: two, text: /custom.sos.* was acknowledged, and no webhook arrived/ },
    ]);
    t.match(troubles[0]?.story.join('\n'), /asks \d+ for setWifi \(action 950\)/);
    await api.patch(path, { json: { deviceEvent: customer.receiver.url } });
  });

  t.test('refusals are counted by their status, and make no transaction', async (t) => {
    await customer.act({ do: 'setWifi', number: 1 }, '352900130000016', 'refusals');
    t.match(ledger.figures('refusals'), { requests: 1, accepted: 0, refused: { 403: 1 }, errors: 0 });
    t.strictSame(
      ledger.troubles().filter(({ phase }) => phase === 'refusals'),
      [],
    );
  });

  t.test('the story of a device names the actors and their actions', async (t) => {
    const story = ledger.story({ deviceId: three });
    const lines = story.slice(-5).map((line) => line.replace(/^\+ +[\d.]+ s +/, ''));
    const [first, second, third, ...ends] = lines;
    t.match(first, /^customer +asks \d{15} for install \(action \d+\): 201, transaction/);
    t.match(second, /^device +gets command/);
    t.match(third, /^device +answers command \d+: failed/);
    // The service sends the PUBACK and the webhook after the same commit.
    const [result, acknowledged] = ends.sort();
    t.match(result, /^receiver +gets the result of transaction \d+: failed VERSION_NAME_MISMATCH, webhook /);
    t.match(acknowledged, /^service +has acknowledged/);
  });

  t.test('at the end of a run the settings are restored, except one that somebody has changed', async (t) => {
    await customer.clean();
    const api = await world.clientOf(application.applicationId, application.secret);
    const path = `/v1/applications/${application.applicationId}`;
    const settings = async () => {
      const { body } = await api.get(path);
      return Object.fromEntries(Object.keys(URL_SETTINGS).map((name) => [name, body[name]]));
    };
    const names = Object.keys(URL_SETTINGS);
    t.ok(
      Object.values(await settings()).every((url) => typeof url === 'string'),
      'the run has set all of them',
    );
    const [changed = ''] = names;
    const url = 'https://customer.example/hooks';
    await api.patch(path, { json: { [changed]: url } });
    await customer[Symbol.asyncDispose]();
    t.strictSame(await settings(), { ...Object.fromEntries(names.map((name) => [name, undefined])), [changed]: url });
    t.equal((await api.get(`/v1/applications/${application.applicationId}/packages`)).body.total, 0);
  });
});

t.test('a customer that cannot begin gives the reason, and the option to correct', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_WEBHOOK_ALLOW_PRIVATE: 'false' } });
  const { admin: adminUrl, http: apiUrl } = world.service.addresses;
  const run = { adminUrl, token: world.service.adminToken, developerId: 'fleet', run: 'refused', seed: 1, places: [] };
  const { application } = await provision(run);
  const customerOf = (more: object) => {
    const customer = createCustomer({ apiUrl, application, timers: systemTimers, ...more });
    t.teardown(() => customer[Symbol.asyncDispose]());
    return customer;
  };
  await t.rejects(customerOf({}).start(), {
    option: '--webhook-url',
    message: /refuses the URL http:\/\/127\.0\.0\.1.*LAPEL_WEBHOOK_ALLOW_PRIVATE=true/,
  });
  await t.rejects(customerOf({ application: { ...application, secret: 'wrong' } }).start(), {
    option: '--application',
    message: /^--application: no access token for .*: 401/,
  });
  const gone = customerOf({
    apiUrl: 'http://127.0.0.1:9',
    timers: { now: () => 0, after: (_: number, go: () => void) => clearImmediate.bind(null, setImmediate(go)) },
  });
  await t.rejects(gone.start(), { message: /^cannot reach http:\/\/127\.0\.0\.1:9: / });
});
