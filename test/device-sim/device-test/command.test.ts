import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { CASES, orderOf } from '@lapel/device-sim/device-test/cases';
import { readContract } from '@lapel/device-sim/device-test/contract';
import { RULES } from '@lapel/device-sim/device-test/rules';
import { createRandom } from '@lapel/device-sim/random';
import { Unreachable } from '@lapel/device-sim/scenario/reach';
import t from 'tap';
import { simulateHere } from '../simulate-here.ts';
import { createOwnDevice, type Flaw } from './own-device.ts';
import { settingsOf, testedDevice, testedOwnDevice } from './tested.ts';

const main = join(import.meta.dirname, '../../../device-sim/main.ts');
const account = { deviceId: '490154203237518', credential: 'a-credential-for-tests-of-32-characters' };

/** Resolves to the address that the program prints. */
async function addressOf(child: ChildProcess): Promise<string> {
  let said = '';
  for await (const chunk of child.stderr!.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    said += chunk.toString();
    const [, address] = /^address +(\S+) /m.exec(said) ?? [];
    if (address !== undefined) return `mqtt://${address}`;
  }
  throw new Error(`no address came: ${said}`);
}

/** Runs the program against a device of another maker. */
async function lapelSim(args: readonly string[], flaw?: Flaw) {
  const child = spawn(process.execPath, [main, 'device', '--listen', '127.0.0.1:0', ...args], {
    env: { ...process.env, LAPEL_CREDENTIAL: account.credential },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), once(child, 'exit')]);
  await using device = createOwnDevice(account, flaw);
  device.connect(await addressOf(child));
  child.stderr.resume();
  const [stdout, [code]] = await ended;
  return { stdout, code };
}

const IDENTITY = ['--device', account.deviceId, '--answer-time', '5'];

t.test('text and JUnit tell the story of a broken rule, exit code 1', async (t) => {
  const junit = join(t.testdir(), 'junit.xml');
  const args = [...IDENTITY, '--cases', 'login,activate,repeated-command,restart', '--junit', junit];
  const { code, stdout } = await lapelSim(args, 'does-repetitions-again');
  t.equal(code, 1, stdout);
  t.match(
    stdout,
    /^the device 490154203237518: 2 of 3 cases hold, 0:0\d, seed 1\nconnected by MQTT 3\.1\.1 \(mqtt\), login by credential\n/,
  );
  t.match(stdout, /^ {2}OK +activate +succeeded$/m);
  t.match(stdout, /^ {2}NOT OK +repeated-command +broken: once$/m);
  t.match(stdout, /^ +It carries out each command once, .* \(docs\/devices\.md#once\)$/m);
  t.match(
    stdout,
    /^ +expected: no second effect of .*setConnectivityState.*\n +came: +the device has carried it out again$/m,
  );
  t.match(stdout, /^ +\+ +\d+\.\d{3} s {2}service {3}sends commands: .*"attempt":2/m);
  t.match(stdout, /^ +\+ +\d+\.\d{3} s {2}device {4}sends acks: /m);
  t.match(stdout, /^ {2}left out +restart +needs --by-hand or --restart$/m);
  const report = readFileSync(junit, 'utf8');
  t.match(report, /tests="3" failures="1" errors="0"/);
  t.match(
    report,
    /<testcase classname="device" name="repeated-command"[^>]*>\n +<failure message="found broken: once">/,
  );
});

t.test('a case that needs an absent hand is NOT RUN, exit code 4', async (t) => {
  await using device = createOwnDevice(account);
  const { code, stdout } = await simulateHere(
    ['device', '--listen', '127.0.0.1:0', ...IDENTITY, '--cases', 'login,restart', '--by-hand', '1', '--json'],
    {
      env: { LAPEL_CREDENTIAL: account.credential },
      onSaid(text) {
        const [, address] = /^address +(\S+) /.exec(text) ?? [];
        if (address !== undefined) device.connect(`mqtt://${address}`);
      },
    },
  );
  t.equal(code, 4, stdout);
  t.match(JSON.parse(stdout), {
    deviceId: account.deviceId,
    cases: [
      { name: 'login', outcome: 'holds' },
      { name: 'restart', outcome: 'not run' },
    ],
    notRun: ['restart: the device was not restarted'],
  });
});

t.test('a device that never connects cannot be tested, which the program answers with exit code 3', async (t) => {
  const run = testedDevice('--wait 0', () => {});
  const error: unknown = await run.catch((reason: unknown) => reason);
  t.ok(error instanceof Unreachable);
  t.match((error as Error).message, /^the device could not be reached at port \d+: no login within 0 s$/);
});

t.test('a device with another credential is told why it is refused', async (t) => {
  await using device = createOwnDevice(account);
  const run = testedDevice('--wait 3', (url) => device.connect(url));
  await t.rejects(run, {
    message: /connection was refused: client id "490154203237518", user name .*, another password/,
  });
});

t.test('Ctrl-C ends the test, which is NOT RUN', async (t) => {
  const controller = new AbortController();
  const { cases, notRun } = await testedDevice('', () => controller.abort(), { stopped: controller.signal });
  t.equal(notRun.length, cases.filter(({ outcome }) => outcome === 'not run').length);
  t.match(notRun[0], 'login: the test was interrupted');
});

t.test('an address that is in use is refused with the name of its option', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  await t.rejects(
    testedDevice(`--listen 127.0.0.1:${port}`, () => {}),
    { option: '--listen', message: /EADDRINUSE/ },
  );
  await t.rejects(
    testedDevice(`--files-listen 127.0.0.1:${port}`, () => {}),
    { option: '--files-listen', message: /EADDRINUSE/ },
  );
});

t.test('--operations limits the commands that are sent', async (t) => {
  const { cases } = await testedOwnDevice('--operations activate,setLanguage --cases login,activate,setWifi,limits');
  t.match(Object.fromEntries(cases.map(({ name, outcome, shown }) => [name, [outcome, shown]])), {
    activate: ['holds', 'succeeded'],
    setWifi: ['left out', '--operations does not name setWifi'],
    limits: ['holds', '4 commands'],
  });
});

t.test('the same seed makes the same order of cases, between the first and the last ones', async (t) => {
  const names = Object.keys(CASES);
  const order = orderOf(names, createRandom(3));
  t.strictSame(orderOf(names, createRandom(3)), order);
  t.notSame(orderOf(names, createRandom(4)), order);
  t.strictSame(order.toSorted(), names.toSorted());
  t.equal(order[0], 'login');
  t.equal(order.at(-1), 'outage');
});

t.test('each operation has a case of its name, and updateFirmware one with a wrong file', async (t) => {
  for (const name of readContract().operations) t.ok(name in CASES || name === 'updateFirmware', name);
  t.ok('wrong-firmware' in CASES);
});

t.test('each rule has a case', async (t) => {
  const checked = new Set(Object.values(CASES).flatMap(({ rules }) => rules));
  t.strictSame([...checked].sort(), Object.keys(RULES).sort());
});

t.test('the identity, the addresses and the times have defaults that work on one machine', async (t) => {
  const settings = settingsOf('--listen 1883 --seed 2 --wait 60');
  t.match(settings, {
    listen: { host: '127.0.0.1', port: 1883 },
    filesListen: { host: '127.0.0.1', port: 0 },
    publicHost: '127.0.0.1',
    account: { credential: `test-credential-of-${settings.account.deviceId}` },
    byHandMs: null,
    isThorough: false,
  });
  t.ok(settings.operations.includes('updateFirmware'));
});

for (const [line, option] of [
  ['--listen here', '--listen'],
  ['--listen 0.0.0.0:1883', '--public-host'],
  ['--files-listen 1:2:x', '--files-listen'],
  ['--device 490154203237519', '--device'],
  ['--credential short', '--credential'],
  ['--operations setWify', '--operations'],
  ['--cases wrong-hush', '--cases'],
  ['--answer-time 0', '--answer-time'],
  ['--by-hand soon', '--by-hand'],
  ['--count 3', '--count'],
  ['--load 5', '--load'],
  ['--once 5', '--once'],
  ['stray', 'device'],
] as const) {
  t.test(`"device ${line}" is refused and names ${option}`, async (t) => {
    t.throws(() => readCommandLine(['device', ...line.split(' ')], {}), {
      option,
      message: new RegExp(`^${option}: `),
    });
  });
}

t.test('options of "device" are refused elsewhere', async (t) => {
  t.throws(() => readCommandLine(['run', 'smoke', '--thorough'], {}), {
    message: '--thorough: is an option of "device" only',
  });
  t.throws(() => readCommandLine(['run', 'smoke', '--junit', 'x'], {}), {
    message: '--junit: is an option of "receiver" and "device" only',
  });
});
