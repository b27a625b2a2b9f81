import { createChances } from '@lapel/device-sim/faults/chances';
import { type Behaviour, promptBehaviour } from '@lapel/device-sim/model/behaviour';
import { createDeviceModel } from '@lapel/device-sim/model/device-model';
import { newState, plainEquipment } from '@lapel/device-sim/model/device-state';
import { createPlans } from '@lapel/device-sim/model/plans';
import { createConformance } from '@lapel/device-sim/mqtt/conformance';
import type { Answer } from '@lapel/device-sim/mqtt/messages';
import t from 'tap';
import { command, wifi } from '../plain-broker.ts';

const deviceId = '350000000000006';
const model = (changes: Partial<Behaviour> = {}, seed = 1) => {
  const behaviour = { ...promptBehaviour, ...changes };
  const plans = createPlans({ deviceId, chances: createChances({ seed, device: 0 }), behaviour });
  return createDeviceModel({ deviceId, plans, behaviour });
};

function run(device: ReturnType<typeof model>, ...args: Parameters<typeof command>): Answer {
  device.receive(command(...args));
  device.begin();
  return device.finish(args[0]);
}

t.test('a repeated command is not executed again and gets the same answer', (t) => {
  const device = model({ failureRate: 0.5 });
  const answers = Array.from({ length: 50 }, (_, n) => run(device, n + 1, 'setWifi', wifi(`net${n}`)));
  t.equal(new Set(answers.map(({ status }) => status)).size, 2, 'some succeed, some fail');
  for (const answer of answers) {
    t.strictSame(device.receive(command(answer.transactionId, 'setWifi', wifi('other'), 2)), {
      kind: 'repeat',
      answer,
    });
    t.equal(device.executions.get(answer.transactionId), 1);
  }
  t.equal(device.begin(), undefined);
  t.end();
});

t.test('a known number with another issuedAt is another command', (t) => {
  const device = model();
  const another = (...args: Parameters<typeof command>) => ({
    ...command(...args),
    issuedAt: '2026-11-21T09:30:00.123456Z',
  });
  run(device, 1, 'setWifi', wifi('a'));
  t.strictSame(device.receive({ ...another(1, 'cancel'), attempt: 1 }), { kind: 'cancel', stopped: null });
  t.strictSame(device.receive(another(1, 'setWifi', wifi('b'))), { kind: 'accepted' });
  t.equal(device.begin()?.command.issuedAt, '2026-11-21T09:30:00.123456Z');
  device.finish(1);
  t.match(device.state.networks, [{ ssid: 'b' }]);
  t.match(device.receive(another(1, 'setWifi', wifi('b'), 2)), { kind: 'repeat' });

  device.receive(command(2, 'setWifi', wifi('c')));
  device.begin();
  t.strictSame(device.receive(another(2, 'setWifi', wifi('d'))), { kind: 'accepted', supersedes: true });
  t.match(device.begin()?.command.parameters, wifi('d'), 'the one before is not carried out any more');

  const conformance = createConformance({ memory: 10 });
  t.equal(conformance.fault(command(1, 'setWifi', wifi('a')), false), undefined);
  t.equal(conformance.fault(another(1, 'setWifi', wifi('a')), false), undefined);
  t.match(conformance.fault(command(1, 'setWifi', wifi('a'), 2), false), /came again with issuedAt/);
  t.end();
});

t.test('a repetition of a command that waits or is being executed changes nothing', (t) => {
  const device = model();
  device.receive(command(1, 'setWifi', wifi('a')));
  device.receive(command(2, 'setWifi', wifi('b')));
  device.begin();
  t.strictSame(device.receive(command(1, 'setWifi', wifi('a'), 2)), { kind: 'underway' });
  t.strictSame(device.receive(command(2, 'setWifi', wifi('b'), 2)), { kind: 'underway' });
  t.equal(device.unfinished(), 2);
  t.end();
});

t.test('commands are executed one after another, in the order of their arrival', (t) => {
  const device = model();
  device.receive(command(1, 'setWifi', wifi('a')));
  device.receive(command(2, 'setWifi', wifi('b')));
  t.equal(device.begin()?.command.transactionId, 1);
  t.equal(device.begin(), undefined, 'not while one is being executed');
  device.finish(1);
  t.match(device.state.networks, [{ ssid: 'a' }]);
  t.equal(device.begin()?.command.transactionId, 2);
  device.finish(2);
  t.match(device.state.networks, [{ ssid: 'b' }]);
  t.end();
});

t.test('activation, APNs and networks are kept', (t) => {
  const device = model();
  run(device, 1, 'activate', { applicationId: 'app', clientId: 'c1' });
  run(device, 2, 'setApn', { apns: [{ name: 'n', apn: 'a', mcc: '440' }] });
  t.strictSame(device.state.activation, { applicationId: 'app', clientId: 'c1' });
  t.match(device.state.apns, [{ name: 'n', apn: 'a', mcc: '440' }]);
  run(device, 9, 'setApn', { apns: [{ name: '', apn: '' }] });
  t.match(device.state.apns, [{ name: '', apn: '' }], 'the schema allows empty texts');
  run(device, 3, 'deactivate', { applicationId: 'app' });
  t.equal(device.state.activation, null);
  t.end();
});

t.test('an unknown operation fails with UNSUPPORTED', (t) => {
  t.match(run(model(), 1, 'makeCoffee'), { transactionId: 1, status: 'failed', error: { code: 'UNSUPPORTED' } });
  t.match(run(model(), 1, 'toString'), { status: 'failed', error: { code: 'UNSUPPORTED' } });
  t.end();
});

const delivery = {
  package: 'com.example.camera',
  version: '1.0.0',
  url: 'http://127.0.0.1/file',
  expiresAt: '2026-11-20T10:30:00.123456Z',
  size: 8464,
  sha256: '0'.repeat(64),
};

for (const [operation, parameters] of [
  ['activate', {}],
  ['activate', { applicationId: 'app', clientId: 7 }],
  ['deactivate', {}],
  ['setApn', { apns: [{ name: 'no apn' }] }],
  ['setApn', { apns: Array.from({ length: 33 }, () => ({ name: 'n', apn: 'a' })) }],
  ['setWifi', {}],
  ['setWifi', { networks: [{ ssid: 'é'.repeat(17), security: 'OPEN' }] }],
  ['setWifi', { networks: [{ ssid: 'a', security: 'WPA2', password: 'short' }] }],
  ['setWifi', { networks: [{ ssid: 'a', security: 'WEP', password: 'sixsix' }] }],
  ['setWifi', { networks: [{ ssid: 'a', security: 'constructor' }] }],
  ['installSoftware', {}],
  ['installSoftware', { ...delivery, package: 'camera' }],
  ['installSoftware', { ...delivery, package: '__proto__.a' }],
  ['installSoftware', { ...delivery, version: '' }],
  ['installSoftware', { ...delivery, url: 'file:///etc/passwd' }],
  ['installSoftware', { ...delivery, expiresAt: 'soon' }],
  ['installSoftware', { ...delivery, sha256: 'x' }],
  ['updateFirmware', { ...delivery, size: -1 }],
  ['updateFirmware', { ...delivery, size: '9' }],
] as const) {
  t.test(`${operation} with ${JSON.stringify(parameters).slice(0, 60)} fails with INVALID_PARAMETERS`, (t) => {
    const device = model();
    t.match(run(device, 1, operation, parameters), { status: 'failed', error: { code: 'INVALID_PARAMETERS' } });
    t.strictSame(device.state, newState(plainEquipment));
    t.end();
  });
}

t.test('a cancelled command has no effect, no answer, and is not begun when it is repeated', (t) => {
  const device = model();
  device.receive(command(1, 'setWifi', wifi('a')));
  device.receive(command(2, 'setWifi', wifi('b')));
  device.begin();
  t.strictSame(device.receive(command(1, 'cancel')), { kind: 'cancel', stopped: 'current' });
  t.strictSame(device.receive(command(2, 'cancel')), { kind: 'cancel', stopped: 'waiting' });
  t.strictSame(device.receive(command(1, 'setWifi', wifi('a'), 2)), { kind: 'ignored' });
  t.strictSame(device.receive(command(2, 'setWifi', wifi('b'), 2)), { kind: 'ignored' });
  t.equal(device.begin(), undefined);
  t.strictSame(device.state.networks, []);
  t.end();
});

t.test('a cancel of a finished command leaves its answer', (t) => {
  const device = model();
  const answer = run(device, 1, 'setWifi', wifi('a'));
  t.strictSame(device.receive(command(1, 'cancel')), { kind: 'cancel', stopped: null });
  t.strictSame(device.receive(command(1, 'setWifi', wifi('a'), 2)), { kind: 'repeat', answer });
  t.end();
});

t.test('an unanswered operation is never begun, and others continue', (t) => {
  const device = model({ silentOperations: new Set(['setApn']) });
  t.strictSame(device.receive(command(1, 'setApn', { apns: [] })), { kind: 'ignored' });
  t.match(run(device, 2, 'setWifi', wifi('a')), { transactionId: 2, status: 'succeeded' });
  t.end();
});

t.test('the memory is bounded: the oldest answer is forgotten first', (t) => {
  const device = model({ memory: 3 });
  for (let id = 1; id <= 4; id += 1) run(device, id, 'setWifi', wifi('a'));
  t.equal(device.receive(command(2, 'setWifi', wifi('a'), 2)).kind, 'repeat');
  t.equal(device.receive(command(1, 'setWifi', wifi('a'), 2)).kind, 'accepted');
  t.equal(device.executions.size, 3);
  t.end();
});

t.test('latencies and failures repeat for the same seed, and differ for another', (t) => {
  const course = (seed: number) => {
    const device = model({ failureRate: 0.3, latency: { min: 10, max: 500 } }, seed);
    return Array.from({ length: 40 }, (_, n) => {
      device.receive(command(n + 1, 'setWifi', wifi('a')));
      const latency = device.begin()?.plan.latency ?? -1;
      return { latency, status: device.finish(n + 1).status };
    });
  };
  t.strictSame(course(5), course(5));
  t.notSame(course(5), course(6));
  t.ok(course(5).every(({ latency }) => latency >= 10 && latency <= 500));
  t.end();
});

t.test('a download is part of an execution: its failure, and random failures, change nothing', (t) => {
  const file = { size: 8464, apk: { package: 'com.example.camera', version: '1.0.0', versionCode: 1 } };
  const device = model();
  device.receive(command(1, 'installSoftware', delivery));
  t.equal(device.begin()?.download, 'apk');
  t.match(device.finish(1, { code: 'DOWNLOAD_FAILED', message: 'gone' }), {
    status: 'failed',
    error: { code: 'DOWNLOAD_FAILED', message: 'gone' },
  });
  const unlucky = model({ failureRate: 1 });
  unlucky.receive(command(1, 'installSoftware', delivery));
  unlucky.begin();
  t.match(unlucky.finish(1, file), { status: 'failed', error: { code: 'INTERNAL' } });
  for (const { state } of [device, unlucky]) t.strictSame(state.software, {});
  device.receive(command(2, 'installSoftware', delivery));
  device.begin();
  t.match(device.finish(2, file), { status: 'succeeded' });
  t.end();
});

t.test('a command that is refused at once needs no download', (t) => {
  const device = model();
  device.receive(command(1, 'installSoftware', { ...delivery, size: 2 ** 40 }));
  t.equal(device.begin()?.download, undefined);
  t.match(device.finish(1), { status: 'failed', error: { code: 'STORAGE_FULL' } });
  t.end();
});
