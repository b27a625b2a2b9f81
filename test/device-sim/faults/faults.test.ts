import type { ActionName } from '@lapel/device-sim/customer/action';
import { createCustomer } from '@lapel/device-sim/customer/customer';
import { provision } from '@lapel/device-sim/customer/provision';
import { FAULTS, type FaultKind, type FaultRule } from '@lapel/device-sim/faults/fault';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import type { Device } from '@lapel/device-sim/model/device';
import type { Answer, DeviceEvent } from '@lapel/device-sim/mqtt/messages';
import { systemTimers } from '@lapel/device-sim/timers';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { startWorld } from '../../world.ts';

const RELEASE = { version: '1.4.0', size: 200_000 };
/** Short delays, so that each fault fits into the time of a test. */
const delay = { min: 300, max: 300 };
const KINDS = Object.keys(FAULTS) as FaultKind[];
/** The operations at which a fault happens, if not setWifi. */
const OPERATIONS: Partial<Record<FaultKind, ActionName[]>> = {
  'never-answers': ['setLanguage', 'setWifi'],
  'answers-in-wrong-order': ['setWifi', 'setWifi', 'setLanguage'],
  'breaks-off-install': ['install'],
  bricks: ['install'],
  'silent-after': ['install'],
  'reboots-after': ['install', 'setWifi'],
  'reconnects-after': ['install', 'setWifi'],
  'crashes-after': ['install'],
  'drains-after': ['install'],
  'fills-storage-after': ['install'],
  'download-cut': ['install'],
  'download-wrong-bytes': ['install'],
  'storage-full': ['install'],
  'signature-rejected': ['install'],
  'battery-low': ['install', 'setWifi'],
};
const COMMANDS: Partial<Record<ActionName, string>> = { install: 'installSoftware' };

t.test(
  'the same seed and actions are the same decisions, however fast the service and whatever the order of the requests',
  async (t) => {
    const world = await startWorld(t, { clock: createFakeClock(Date.now() * 1000) });
    const { admin: adminUrl, http: apiUrl, mqtt } = world.service.addresses;
    const names = { developerId: 'fleet', run: 'twice', seed: 1, places: [0, 1, 2] };
    const faults: FaultRule[] = [
      { fault: 'answers-late', probability: 0.3, delay: { min: 1, max: 40 } },
      { fault: 'fails', probability: 0.3, operations: ['setWifi'], phases: ['odd'] },
      { fault: 'reboots-and-forgets', probability: 0.1, delay: { min: 1, max: 20 } },
    ];
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1);

    async function course(seed: number, order: readonly number[], latency: { min: number; max: number }) {
      const decisions = new Map<string, unknown>();
      const { accounts, application } = await provision({ adminUrl, token: world.service.adminToken, ...names });
      await using customer = createCustomer({ apiUrl, application, timers: systemTimers });
      await using fleet = createFleet({
        members: accounts.map((account, place) => ({
          account,
          place,
          settings: { group: 'all', faults, behaviour: { latency } },
        })),
        url: mqtt,
        seed,
        keyOf: customer.keyOf,
        onDecision: (place, { occasion: { operation, key, phase }, about, outcome }) => {
          if (about === 'latency' || typeof key !== 'number') return;
          decisions.set(`${place} ${operation} ${key} ${about}`, { outcome, phase });
        },
      });
      await customer.start();
      customer.follow(fleet);
      await fleet.connect();
      await customer.activate(
        accounts.map(({ deviceId }) => deviceId),
        'begin',
        10_000,
      );
      await Promise.all(
        order.map((number) => {
          const phase = number % 2 === 1 ? 'odd' : 'even';
          const name = number % 3 === 0 ? 'setLanguage' : 'setWifi';
          return customer.act({ do: name, number }, accounts[(number * 7) % 3]?.deviceId ?? '', phase);
        }),
      );
      t.match(await customer.settle(10_000), { unfinished: 0 });
      t.match(customer.ledger.figures(), { lost: 0, doubled: 0, unordered: 0 });
      return decisions;
    }
    const sorted = (decisions: Map<string, unknown>) =>
      [...decisions].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const first = sorted(await course(1, numbers, { min: 0, max: 0 }));
    t.equal(first.length, 60);
    t.ok(first.filter(([, decided]) => (decided as { outcome: unknown }).outcome !== null).length > 10);
    t.strictSame(sorted(await course(1, numbers.toReversed(), { min: 1, max: 9 })), first);
    t.notSame(sorted(await course(2, numbers, { min: 0, max: 0 })), first);
  },
);

/** A device for each fault. The fault happens at the first possible command. */
t.test('the promises of the service hold under faults', async (t) => {
  // Webhooks are verified against the real time, and broken transfers end by the clock.
  const clock = createFakeClock(Date.now() * 1000);
  let step = 50;
  const ticking = setInterval(() => clock.advance(step), 50);
  t.teardown(() => clearInterval(ticking));
  const world = await startWorld(t, { clock, env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  t.teardown(() => {
    step = 1000; // the service closes as soon as it may
  });
  const { admin: adminUrl, http: apiUrl, mqtt } = world.service.addresses;
  const names = { developerId: 'fleet', run: 'faults', seed: 1, places: [...KINDS.keys()] };
  const { accounts, application } = await provision({ adminUrl, token: world.service.adminToken, ...names });
  const customer = createCustomer({ apiUrl, application, timers: systemTimers });
  t.teardown(() => customer[Symbol.asyncDispose]());
  const ruleOf = (fault: FaultKind): FaultRule => {
    const first = OPERATIONS[fault]?.[0] ?? 'setWifi';
    const { occasion } = FAULTS[fault];
    const isCommand = occasion === 'command' || occasion === 'download';
    return { fault, probability: 1, delay, ...(isCommand && { operations: [COMMANDS[first] ?? first] }) };
  };
  const fleet = createFleet({
    members: accounts.map((account, place) => {
      const fault = KINDS[place]!;
      const behaviour = { fileSize: { min: 2000, max: 3000 } };
      return { account, place, settings: { group: fault, faults: [ruleOf(fault)], behaviour } };
    }),
    url: mqtt,
    keyOf: customer.keyOf,
    patience: { pause: { min: 10, max: 20 } },
    connectAttempts: 3,
  });
  t.teardown(() => fleet[Symbol.asyncDispose]());
  const deviceOf = (kind: FaultKind): Device => fleet.devices[KINDS.indexOf(kind)]!;
  const log: { device: Device; event: string; what: unknown }[] = [];
  const logged = <What>(kind: FaultKind, event: string): What[] =>
    log.filter((line) => line.event === event && line.device === deviceOf(kind)).map(({ what }) => what as What);
  fleet.events.on('answer', (device, answer) => log.push({ device, event: 'answer', what: answer }));
  fleet.events.on('event', (device, event) => log.push({ device, event: 'event', what: event }));
  fleet.events.on('complaint', (device, complaint) => log.push({ device, event: 'complaint', what: complaint }));
  fleet.events.on('online', (device) => log.push({ device, event: 'online', what: true }));
  fleet.events.on('download', (device, passage) => log.push({ device, event: 'download', what: passage }));
  fleet.events.on('command', (device, { attempt, operation }) => log.push({ device, event: operation, what: attempt }));
  fleet.events.on('violation', (_device, text) => t.fail(text));

  const { ledger } = customer;
  await customer.start();
  customer.follow(fleet);
  t.strictSame(await fleet.connect(), []);
  const deviceIds = fleet.devices.map(({ deviceId }) => deviceId);
  t.equal((await customer.activate(deviceIds, 'begin', 20_000)).length, KINDS.length, 'all are activated');
  let number = 0;
  await Promise.all(
    KINDS.map(async (kind) => {
      ledger.enter(kind);
      for (const name of OPERATIONS[kind] ?? ['setWifi']) {
        number += 1;
        await customer.act({ do: name, number, release: RELEASE }, deviceOf(kind).deviceId, kind);
      }
    }),
  );
  deviceOf('upload-url-expired').uploadFile();
  deviceOf('clock-wrong').pressButton();
  t.match(await customer.settle(20_000), { unfinished: 1, unanswered: 1, away: 0 });
  const api = await world.clientOf(application.applicationId, application.secret);
  const pathOf = (kind: FaultKind): string =>
    `/v1/applications/${application.applicationId}/devices/${deviceOf(kind).deviceId}`;
  const record = async (kind: FaultKind, operation = 'setWifi') => {
    const { body } = await api.get(`${pathOf(kind)}/transactions?operation=${operation}`);
    return body.transactions[0];
  };

  t.test('nothing is lost, doubled, late or out of order, whatever the faults of devices', async (t) => {
    const { lost, doubled, late, unordered, forged, errors, unasked, refused } = ledger.figures();
    t.strictSame(
      { lost, doubled, late, unordered, forged, errors, unasked, refused },
      { lost: 0, doubled: 0, late: 0, unordered: 0, forged: 0, errors: 0, unasked: 0, refused: {} },
      ledger
        .troubles()
        .map(({ text, story }) => [text, ...story].join('\n'))
        .join('\n'),
    );
    const { faults } = fleet.counts();
    for (const kind of KINDS) t.ok((faults[kind] ?? 0) > 0, `${kind} was played`);
  });

  t.test('a command that is never answered delays nothing, and can be cancelled', async (t) => {
    t.match(ledger.figures('never-answers'), { accepted: 2, succeeded: 1, unfinished: 1 });
    t.match(await record('never-answers', 'setLanguage'), { status: 'delivered', attempts: 1 });
    await customer.act({ do: 'cancel', number: 1 }, deviceOf('never-answers').deviceId, 'never-answers');
    await customer.settle(5000);
    t.match(ledger.figures('never-answers'), { succeeded: 1, cancelled: 1, unfinished: 0 });
  });

  for (const kind of ['answers-late', 'answers-twice', 'answers-before-puback', 'unknown-fields'] as const) {
    t.test(`${kind}: one result, and the command is done once`, async (t) => {
      t.match(ledger.figures(kind), { accepted: 1, succeeded: 1, unfinished: 0 });
      t.match(await record(kind), { status: 'succeeded', attempts: 1 });
      t.equal(logged(kind, 'setWifi').length, 1);
      t.ok(deviceOf(kind).state.networks.length > 0);
    });
  }

  t.test('answers-in-wrong-order: each goes to its own transaction', async (t) => {
    const kind = 'answers-in-wrong-order';
    const ids = logged<Answer>(kind, 'answer').map(({ transactionId }) => transactionId);
    t.notSame(
      ids,
      ids.toSorted((one, other) => one - other),
    );
    t.match(ledger.figures(kind), { accepted: 3, succeeded: 3 });
  });

  for (const kind of ['half-open', 'battery-flat', 'reboots-and-forgets'] as const) {
    t.test(`${kind}: the device is back at once, and unfinished commands come again`, async (t) => {
      t.match(ledger.figures(kind), { accepted: 1, succeeded: 1, unfinished: 0 });
      t.equal(logged(kind, 'online').length, 2);
      const attempts = logged<number>(kind, 'setWifi');
      if (kind !== 'half-open') t.strictSame(attempts, [1, 2]);
      t.match(await record(kind), { status: 'succeeded', attempts: attempts.length });
    });
  }

  t.test('breaks-off-install: the install comes again, with a URL that is good, and succeeds', async (t) => {
    const kind = 'breaks-off-install';
    t.strictSame(logged(kind, 'installSoftware'), [1, 2]);
    t.match(ledger.figures(kind), { accepted: 1, succeeded: 1 });
    t.match(Object.values(deviceOf(kind).state.software), [{ version: '1.4.0' }]);
  });

  t.test('bad-payload: each message is reported on errors, and the connection stays', async (t) => {
    const kind = 'bad-payload';
    t.match(logged(kind, 'complaint'), [{ topic: /acks$/ }, { topic: /acks$/ }, { topic: /acks$/ }]);
    t.equal(logged(kind, 'online').length, 1);
    t.match(ledger.figures(kind), { accepted: 1, succeeded: 1 });
    t.equal(fleet.counts().complaints, 0, 'they were provoked');
  });

  t.test('slow-reader: it gets its waiting messages, and delays no other device', async (t) => {
    t.match(ledger.figures('slow-reader'), { accepted: 1, succeeded: 1 });
    t.ok(ledger.figures('fails').latency.delivered.max < ledger.figures('slow-reader').latency.delivered.max + 20_000);
  });

  t.test('wrong-credential: it is refused, and the right one is accepted at once', async (t) => {
    t.match(ledger.figures('wrong-credential'), { accepted: 1, succeeded: 1 });
    t.equal(logged('wrong-credential', 'online').length, 1);
  });

  t.test('two-with-one-identity: each takes over from the other, and the command is done once', async (t) => {
    const kind = 'two-with-one-identity';
    t.match(ledger.figures(kind), { accepted: 1, succeeded: 1 });
    t.ok(logged(kind, 'online').length >= 2, 'it was sent away, and came back');
    t.equal(deviceOf(kind).executions.size, 2, 'with the activation');
    for (const times of deviceOf(kind).executions.values()) t.equal(times, 1);
  });

  t.test('download-cut: the download resumes where it was cut', async (t) => {
    t.match(ledger.figures('download-cut'), { accepted: 1, succeeded: 1 });
    t.match(logged('download-cut', 'download'), [{ bytes: RELEASE.size, resumed: 1 }]);
  });

  for (const [kind, code] of [
    ['fails', 'INTERNAL'],
    ['download-wrong-bytes', 'DOWNLOAD_FAILED'],
    ['storage-full', 'STORAGE_FULL'],
    ['signature-rejected', 'SIGNATURE_REJECTED'],
    ['battery-low', 'INTERNAL'],
  ] as const) {
    t.test(`${kind}: the failure ${code} arrives, and nothing is installed`, async (t) => {
      t.match(ledger.figures(kind), { failed: 1, failures: { [code]: 1 }, unfinished: 0 });
      t.strictSame(deviceOf(kind).state.software, {});
    });
  }

  t.test('battery-low: status and event report it', async (t) => {
    const { body } = await api.get(`${pathOf('battery-low')}/status`);
    t.strictSame(body.battery, { level: 5, charging: false });
    t.match(logged('battery-low', 'event'), [{ type: 'custom.batteryLow', data: { level: 5 } }]);
    t.match(ledger.figures('battery-low'), { succeeded: 1 }, 'everything else is done');
  });

  t.test('upload-url-expired: the device asks for a second URL, and the file arrives', async (t) => {
    t.match(fleet.counts(), { uploads: 1, uploadRetries: 1, uploadFailures: 0 });
    t.equal(customer.receiver.files.count, 1);
    t.match(logged('upload-url-expired', 'event'), [{ type: 'fileUpload.succeeded' }]);
  });

  t.test('clock-wrong: the event arrives, with the time of the device’s clock', async (t) => {
    const [event] = logged<DeviceEvent>('clock-wrong', 'event');
    const wrongBy = Math.abs(Date.parse(event?.occurredAt ?? '') - Date.now());
    t.ok(wrongBy > 86_000_000 && wrongBy < 90_000_000);
    const { eventsTold, eventsReceived, eventsLost } = ledger.figures();
    t.match({ eventsReceived, eventsLost }, { eventsReceived: eventsTold, eventsLost: 0 });
  });

  t.test('a release that installs well shows what it does to devices only later', async (t) => {
    const succeeded = { accepted: 1, succeeded: 1 };
    t.match(ledger.figures('silent-after'), succeeded);
    t.notOk(deviceOf('silent-after').online);
    t.match(ledger.figures('crashes-after'), succeeded);
    t.match(logged<DeviceEvent>('crashes-after', 'event')[0], { type: 'custom.crash' });
    t.ok(logged('reconnects-after', 'online').length >= 2);
    for (const kind of ['drains-after', 'fills-storage-after'] as const) {
      deviceOf(kind).reportChanges();
      await deviceOf(kind).idle();
    }
    const status = async (kind: FaultKind) => (await api.get(`${pathOf(kind)}/status`)).body;
    t.match(await status('drains-after'), { battery: { level: 5, charging: false } });
    t.match(await status('fills-storage-after'), { storage: { free: 0 } });
  });
});
