import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createKeyPair } from '../../software/signing.ts';
import type { Flaw, FlawOfConnections } from './own-device.ts';
import { brokenRules, CASES_OF_FIVE, notHeld, testedOwnDevice } from './tested.ts';

t.jobs = 3; // the tests mostly wait for connections

/** Operations that this device does not have, and cases that need a hand or --thorough. */
const LEFT_OUT = [
  'pairBluetooth',
  'wrong-firmware',
  'thousand-answers',
  'unconfirmed-event',
  'restart',
  'signatures',
  'strangers-certificate',
  'half-open',
  'drive',
  ...CASES_OF_FIVE,
];

t.test('the device of another maker holds all cases', async (t) => {
  const record = await testedOwnDevice('');
  t.strictSame(brokenRules(record), []);
  t.strictSame(record.notRun, []);
  for (const name of notHeld(record)) t.ok(LEFT_OUT.includes(name.split(':')[0]!), name);
});

/** The cases for a flaw that shows itself in every case. */
/** The cases that read the state of the device. */
const OF_STATE = '--cases login,activate,done-at-success,order';
const OF_NETWORKS = '--cases login,setWifi,tried-wifi,reverted-wifi';
const SHORT = '--cases login,activate,status-report,error-report,burst';

const FOUND: Readonly<
  Record<
    Exclude<Flaw, 'forgets-after-hundred' | 'forgets-at-restart' | 'forgets-unconfirmed-events' | FlawOfConnections>,
    { rule: string; cases: string[]; line?: string }
  >
> = {
  'does-repetitions-again': {
    rule: 'once',
    cases: ['repeated-command'],
    // A list of networks that it tries again ends its connection in the middle of other cases.
    line: '--cases login,activate,repeated-command,cut-after-puback',
  },
  'succeeds-before-it-is-done': { rule: 'answers', cases: ['done-at-success'], line: OF_STATE },
  'works-side-by-side': { rule: 'order', cases: ['order'], line: OF_STATE },
  'forgets-unconfirmed-acks': { rule: 'unconfirmed-answers', cases: ['unconfirmed-answer'] },
  'installs-without-hash': { rule: 'downloads', cases: ['wrong-hash'] },
  'pauses-equally': { rule: 'reconnect-pauses', cases: ['outage'] },
  'believes-its-clock': { rule: 'answers', cases: ['odd-times'], line: '--answer-time 2 --cases login,odd-times' },
  'ignores-issued-at': { rule: 'command-identity', cases: ['reissued-number'] },
  'does-cancelled-commands': { rule: 'cancel', cases: ['cancelled-command'] },
  'answers-cancels': { rule: 'cancel', cases: ['late-cancel', 'cancelled-command'] },
  'ends-at-unreadable-messages': { rule: 'unreadable-messages', cases: ['unreadable-command'] },
  'reports-no-status': { rule: 'status', cases: ['status-report'] },
  'reports-a-wrong-status': { rule: 'messages', cases: ['login'], line: SHORT },
  'has-clean-sessions': { rule: 'login', cases: ['login'], line: SHORT },
  'rounds-numbers': { rule: 'large-numbers', cases: ['large-numbers'] },
  'refuses-unknown-members': { rule: 'unknown-parts', cases: ['unknown-members'] },
  'takes-no-unicode': { rule: 'values', cases: ['limits'] },
  'does-not-read-errors': { rule: 'topics', cases: ['login', 'error-report'], line: SHORT },
  'trusts-its-session': { rule: 'subscriptions', cases: ['next-login'], line: '--cases login,next-login' },
  'reports-its-status-with-qos-0': { rule: 'topics', cases: ['login', 'status-report'], line: SHORT },
  'keeps-every-network': { rule: 'former-networks', cases: ['tried-wifi', 'reverted-wifi'], line: OF_NETWORKS },
  'never-goes-back': { rule: 'former-networks', cases: ['reverted-wifi'], line: OF_NETWORKS },
  'has-no-keep-alive': { rule: 'keep-alive', cases: ['login'], line: SHORT },
};
for (const [flaw, { rule, cases, line = '' }] of Object.entries(FOUND)) {
  t.test(`a device that ${flaw.replaceAll('-', ' ')} breaks the rule ${rule} only`, async (t) => {
    const record = await testedOwnDevice(line, flaw as Flaw);
    t.strictSame(
      brokenRules(record),
      [rule],
      JSON.stringify(record.cases.filter(({ findings }) => findings.length > 0)),
    );
    const broken = record.cases.filter(({ outcome }) => outcome === 'broken').map(({ name }) => name);
    for (const name of cases) t.ok(broken.includes(name), `${name} is one of ${broken.join(', ')}`);
  });
}

t.test('a device that installs software whose signature it does not verify is found', async (t) => {
  const path = join(t.testdir(), 'key.pem');
  writeFileSync(path, createKeyPair().privateKey);
  const record = await testedOwnDevice(`--cases login,installSoftware,signatures --signing-key ${path}`);
  t.strictSame(brokenRules(record), ['signatures']);
  const [finding] = record.cases.flatMap(({ findings }) => findings);
  t.match(finding, { expected: 'failed SIGNATURE_REJECTED for a version without a signature', came: /succeeded/ });
});

t.test('a device that forgets answers after a hundred others is found with --thorough', async (t) => {
  const line = '--thorough --cases login,thousand-answers';
  t.strictSame(brokenRules(await testedOwnDevice(line)), []);
  t.strictSame(brokenRules(await testedOwnDevice(line, 'forgets-after-hundred')), ['memory']);
});

t.test('a device that forgets events without a PUBACK is found with --by-hand', async (t) => {
  const line = '--by-hand 5 --cases login,unconfirmed-event';
  t.strictSame(brokenRules(await testedOwnDevice(line)), []);
  t.strictSame(brokenRules(await testedOwnDevice(line, 'forgets-unconfirmed-events')), ['events']);
});

t.test('a device that forgets its answers at a restart is found by a command that restarts it', async (t) => {
  for (const [flaw, rules] of [
    [undefined, []],
    ['forgets-at-restart', ['once']],
  ] as const) {
    let restart = (): void => {};
    const server = createServer((_, response) => {
      restart();
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const command = join(t.testdir(), `restart-${port}.mjs`);
    writeFileSync(command, `#!${process.execPath}\nawait fetch('http://127.0.0.1:${port}/');\n`, { mode: 0o755 });
    const record = await testedOwnDevice(`--restart ${command} --cases login,restart`, flaw, (device) => {
      restart = device.restart;
    });
    t.strictSame(brokenRules(record), rules);
    t.match(
      record.cases.find(({ name }) => name === 'restart'),
      { outcome: flaw === undefined ? 'holds' : 'broken' },
    );
  }
});

t.test('a command that cannot restart the device leaves the case unplayed', async (t) => {
  const record = await testedOwnDevice('--restart false --cases login,restart');
  t.match(record.notRun, [/restart: the command of --restart ended with exit code 1: no output/]);
});
