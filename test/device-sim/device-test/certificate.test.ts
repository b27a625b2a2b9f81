import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Certificate } from '@lapel/device-sim/certificate/certificate';
import { open, seal } from '@lapel/device-sim/certificate/envelope';
import { certificateOfDevice } from '@lapel/device-sim/certificate/of-device';
import { certificateOfReceiver } from '@lapel/device-sim/certificate/of-receiver';
import { CASES } from '@lapel/device-sim/device-test/cases';
import type { CaseRecord, DeviceTestRecord } from '@lapel/device-sim/device-test/device-test-record';
import { RULES } from '@lapel/device-sim/device-test/rules';
import { MISDEEDS } from '@lapel/device-sim/trial/kinds';
import type { TrialRecord } from '@lapel/device-sim/trial/trial-record';
import t, { type Test } from 'tap';
import { simulateHere } from '../simulate-here.ts';
import { startOwnReceiver } from '../trial/own-receiver.ts';
import { createOwnDevice, type Flaw } from './own-device.ts';

const account = { deviceId: '490154203237518', credential: 'a-credential-for-tests-of-32-characters' };

/** The keys of a tester, in files. */
function makeKeys(t: Test) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const folder = t.testdir();
  const files = { privateKey: join(folder, 'private.pem'), publicKey: join(folder, 'public.pem') };
  writeFileSync(files.privateKey, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  writeFileSync(files.publicKey, publicKey.export({ format: 'pem', type: 'spki' }));
  return { privateKey, publicKey, files, report: join(folder, 'report.json'), page: join(folder, 'report.html') };
}

/** Tests a device of another maker, and writes the signed report. */
async function test(t: Test, cases: string, flaw?: Flaw) {
  const keys = makeKeys(t);
  await using device = createOwnDevice(account, flaw);
  const of = ['--device', account.deviceId, '--answer-time', '5', '--cases', cases];
  const signed = ['--signed-report', keys.report, '--report-key', keys.files.privateKey];
  await simulateHere(['device', '--listen', '127.0.0.1:0', ...of, ...signed], {
    env: { LAPEL_CREDENTIAL: account.credential },
    onSaid(text) {
      const [, address] = /^address +(\S+) /.exec(text) ?? [];
      if (address !== undefined) device.connect(`mqtt://${address}`);
    },
  });
  const verify = (...more: string[]) =>
    simulateHere(['verify', keys.report, '--public-key', keys.files.publicKey, ...more]);
  return { ...keys, verify };
}

t.test('a report names the device, and is incomplete while a rule was not seen', async (t) => {
  const { verify, page } = await test(t, 'login,activate');
  const { code, stdout } = await verify('--page', page);
  t.equal(code, 4, stdout);
  t.match(stdout, /^deviceId +490154203237518$/m);
  t.match(stdout, /^Outcome +incomplete: no rule was broken, and some were not seen$/m);
  t.match(stdout, /^connection +MQTT 3\.1\.1 \(mqtt\), login by credential$/m);
  t.match(stdout, /^ +no matter +disconnects: /m);
  t.match(stdout, /^ +OK +login: Its client id/m);
  t.match(stdout, /^ +not seen +cancel: /m);
  t.match(readFileSync(page, 'utf8'), /<dt>connection<\/dt><dd>MQTT 3\.1\.1 \(mqtt\), login by credential<\/dd>/);
  t.match(readFileSync(page, 'utf8'), /<h1>Report of a device <span class="verdict warn">incomplete<\/span><\/h1>/);
});

t.test('a device that breaks a rule fails, by the name of the rule and with its messages', async (t) => {
  const { verify } = await test(t, 'login,activate,repeated-command', 'does-repetitions-again');
  const { code, stdout } = await verify();
  t.equal(code, 1, stdout);
  t.match(stdout, /^Outcome +failed: a rule was broken$/m);
  t.match(stdout, /^ +NOT OK +once: It carries out each command once/m);
  t.match(stdout, /^once, in repeated-command:\n +expected: no second effect of .*\n +came: the device has carried/m);
  const { rules } = JSON.parse((await verify('--json')).stdout);
  const broken = rules.filter(({ outcome }: { outcome: string }) => outcome === 'broken');
  t.same(
    broken.map(({ name }: { name: string }) => name),
    ['once'],
  );
});

const record = (cases: readonly CaseRecord[], version = '5'): DeviceTestRecord => ({
  deviceId: account.deviceId,
  firmwareVersion: '1.0',
  managementClientVersion: null,
  connection: { transport: 'mqtts', version, loginBy: 'certificate' },
  drive: null,
  seed: 1,
  startedAt: '2026-11-22T09:30:00.000Z',
  milliseconds: 1,
  cases,
  verdicts: [],
  notRun: [],
});
const allHold = Object.keys(CASES).map(
  (name): CaseRecord => ({
    name,
    about: '',
    outcome: 'holds',
    shown: 'succeeded',
    findings: [],
  }),
);

t.test('a device passes when each rule was seen to hold, and only then', (t) => {
  const passed = certificateOfDevice(record(allHold));
  t.match(passed, {
    tested: 'device',
    outcome: 'passed',
    subject: {
      deviceId: account.deviceId,
      firmwareVersion: '1.0',
      connection: 'MQTT 5 (mqtts), login by certificate',
    },
  });
  t.same(
    passed.rules.map(({ name }) => name),
    Object.keys(RULES),
  );
  for (const rule of Object.keys(RULES)) {
    const without = allHold.filter(({ name }) => !(CASES[name]!.rules as readonly string[]).includes(rule));
    t.equal(certificateOfDevice(record(without)).outcome, 'incomplete', rule);
  }
  const long = certificateOfDevice({ ...record(allHold), firmwareVersion: '9'.repeat(300_000) });
  t.equal(long.subject['firmwareVersion']?.length, 200, 'a device cannot fill the report with its name');
  t.end();
});

t.test('the rules of MQTT 5 do not apply to a device of MQTT 3.1.1', (t) => {
  const rules = ['disconnects', 'reason-codes'];
  const ofFour = allHold.filter(({ name }) => !CASES[name]!.rules.some((rule) => rules.includes(rule)));
  const { outcome, rules: seen } = certificateOfDevice(record(ofFour, '3.1.1'));
  t.equal(outcome, 'passed');
  t.strictSame(
    seen.filter((one) => one.outcome === 'does not apply').map(({ name }) => name),
    rules,
  );
  t.equal(certificateOfDevice(record(ofFour)).outcome, 'incomplete', 'they apply to one of MQTT 5');
  t.end();
});

t.test('a report is believed only with the key of its tester, and only unchanged', (t) => {
  const { privateKey, publicKey } = makeKeys(t);
  const text = seal(certificateOfDevice(record(allHold)), privateKey);
  t.match(open(text, publicKey), { outcome: 'passed' });
  const { publicKey: other } = makeKeys(t);
  t.match(open(text, other), /^no signature is one of the key [0-9a-f]{64}$/);
  const envelope = JSON.parse(text);
  const failed = certificateOfDevice(record([]));
  const changed = { ...envelope, payload: Buffer.from(JSON.stringify(failed)).toString('base64') };
  t.match(open(JSON.stringify(changed), publicKey), /^no signature is one of the key/);
  const [signature] = envelope.signatures;
  const signedBy = (count: number) => {
    const signatures = [...Array(count - 1).fill({ keyid: '', sig: '' }), signature];
    return open(JSON.stringify({ ...envelope, signatures }), publicKey);
  };
  t.match(signedBy(16), { outcome: 'passed' }, 'among those of others');
  t.equal(signedBy(17), 'it has more than 16 signatures');
  for (const wrong of [
    'no JSON',
    '[]',
    JSON.stringify({ ...envelope, payloadType: 'application/json' }),
    JSON.stringify({ ...envelope, signatures: [] }),
    JSON.stringify({ ...envelope, signatures: [null, 1, { sig: 1 }] }),
    JSON.stringify({ ...envelope, payload: 1 }),
  ])
    t.type(open(wrong, publicKey), 'string', wrong.slice(0, 40));
  t.end();
});

t.test(
  'the report of a receiver has each kind of webhook, and is incomplete without the list that it has kept',
  async (t) => {
    const keys = makeKeys(t);
    const key = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const signed = ['--signed-report', keys.report, '--report-key', keys.files.privateKey];
    const testReceiver = async (flaw?: 'fails-at-double') => {
      const receiver = await startOwnReceiver(t, key, ...(flaw ? [flaw] : []));
      const once = String(2 * MISDEEDS.length);
      await simulateHere(['receiver', '--self', '--forward', receiver.url, '--key', key, '--once', once, ...signed]);
      const { code, stdout } = await simulateHere([
        'verify',
        keys.report,
        '--public-key',
        keys.files.publicKey,
        '--json',
      ]);
      return { code, report: JSON.parse(stdout) as Certificate, url: receiver.url };
    };
    const good = await testReceiver();
    t.match(good.report, { tested: 'receiver', outcome: 'incomplete', subject: { url: good.url } });
    t.equal(good.code, 4);
    t.same(
      good.report.rules.filter(({ outcome }) => outcome !== 'holds').map(({ name }) => name),
      ['kept'],
    );
    const bad = await testReceiver('fails-at-double');
    t.match(bad, { code: 1, report: { outcome: 'failed' } });
    t.match(
      bad.report.rules.filter(({ outcome }) => outcome === 'broken'),
      [{ name: 'twice', evidence: [{ shown: /500/ }] }],
    );
  },
);

t.test('wrong options are named', async (t) => {
  const { files } = makeKeys(t);
  for (const [args, message] of [
    [['device', '--signed-report', 'x'], /--report-key.*is needed with --signed-report/],
    [['device', '--report-key', files.privateKey], /--signed-report.*is needed with --report-key/],
    [['device', '--signed-report', 'x', '--report-key', files.publicKey], /--report-key.*has no key of ed25519/],
    [['verify'], /verify.*needs one file/],
    [['verify', 'x'], /--public-key.*is needed/],
    [['verify', join(files.publicKey, 'x'), '--public-key', files.publicKey], /verify.*ENOTDIR/],
  ] as const) {
    const { code, stderr } = await simulateHere([...args]);
    t.equal(code, 2);
    t.match(stderr, message);
  }
});

t.test('a file that cannot be written is told before the test, and a large one is not read', async (t) => {
  const { files, report: large } = makeKeys(t);
  const folder = dirname(large);
  const nowhere = join(folder, 'none', 'x');
  const key = ['--report-key', files.privateKey];
  writeFileSync(large, '');
  truncateSync(large, 64 * 1024 * 1024 + 1);
  for (const [args, message] of [
    [['device', '--signed-report', nowhere, ...key], /^--signed-report: the file cannot be written: ENOENT/],
    [['device', '--signed-report', folder, ...key], /^--signed-report: the file cannot be written: EISDIR/],
    [['device', '--junit', nowhere], /^--junit: the file cannot be written/],
    [['run', 'smoke', '--decisions', nowhere], /^--decisions: the file cannot be written/],
    [['verify', large, '--public-key', files.publicKey, '--page', nowhere], /^--page: the file cannot be written/],
    [['verify', large, '--public-key', files.publicKey], /^verify: .*report\.json is larger than 64 MiB/],
  ] as const) {
    const { code, stderr } = await simulateHere([...args]);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, message);
  }
});

t.test('a key with a passphrase is told as such', async (t) => {
  const { privateKey, files, report } = makeKeys(t);
  const locked = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'a passphrase' } as const;
  writeFileSync(files.privateKey, privateKey.export(locked));
  const { code, stderr } = await simulateHere(['device', '--signed-report', report, '--report-key', files.privateKey]);
  t.equal(code, 2);
  t.match(stderr, /^--report-key: .* has a passphrase, /);
});

t.test('texts of a device deceive no reader: neither of the page nor of the lines', async (t) => {
  const { privateKey, files, report, page } = makeKeys(t);
  const hostile = '<b>\u202e\u001b[2J\u009b';
  const findings = [{ rule: 'once', expected: hostile, came: hostile, story: [`${hostile}\nOutcome     passed`] }];
  const cases = allHold.map((one, place) =>
    place === 0 ? { ...one, outcome: 'broken', shown: hostile, findings } : one,
  ) as readonly CaseRecord[];
  const made = { ...record(cases), firmwareVersion: hostile, managementClientVersion: '2.0' };
  writeFileSync(report, seal(certificateOfDevice(made), privateKey));
  const { stdout } = await simulateHere(['verify', report, '--public-key', files.publicKey, '--page', page]);
  for (const shown of [stdout, readFileSync(page, 'utf8')]) {
    for (const character of ['\u202e', '\u001b', '\u009b']) t.notOk(shown.includes(character));
    t.match(shown, '\\u{202e}\\u{1b}[2J\\u{9b}');
    t.match(shown, '\\u{a}Outcome     passed', 'no line of its own');
  }
  t.notMatch(readFileSync(page, 'utf8'), '<b>');
  t.match(stdout, /^managementClientVersion {2}2\.0$/m);
});

t.test('the report of a receiver names its address, and keeps credentials and the query with the tester', (t) => {
  const url = 'https://tester:a-password@customer.example/hooks/1?token=a-token#part';
  const made: TrialRecord = {
    forward: url,
    seed: 1,
    startedAt: '2026-11-22T09:30:00.000Z',
    milliseconds: 1,
    webhooks: 0,
    unverified: 0,
    kinds: [],
    verdicts: [],
    notRun: [],
  };
  t.same(certificateOfReceiver(made).subject, { url: 'https://customer.example/hooks/1' });
  t.end();
});
