import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { MISDEEDS, type Misdeed } from '@lapel/device-sim/trial/kinds';
import { runTrial } from '@lapel/device-sim/trial/run-trial';
import t from 'tap';
import { checkWebhook } from '../../contract/checked-messages.ts';
import { simulateHere } from '../simulate-here.ts';
import { brokenOf, type Flaw, startOwnReceiver, withoutLoad } from './own-receiver.ts';

const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const main = join(import.meta.dirname, '../../../device-sim/main.ts');

function settingsOf(line: string) {
  const command = readCommandLine(line.split(' '), { LAPEL_AUTHENTICATION_KEY: key });
  if (command.do !== 'receiver') throw new Error(`"${line}" is no test of a receiver`);
  return command.settings;
}

/** Tests a receiver in this process, without a service. */
const runSelf = (url: string, line = '--once 16') =>
  runTrial(settingsOf(`receiver --self --forward ${url} ${line}`), {
    stopped: new AbortController().signal,
    say: () => {},
  });

/** The program in a process of its own. */
async function lapelSim(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { stdout, stderr, code };
}

/** The kinds of which several webhooks are sent. */
const SEVERAL: Partial<Record<Misdeed, number>> = {
  'out-of-order': 2,
  'device-in-order': 3,
  'device-twice': 3,
  'device-late': 3,
  'device-gap': 2,
};

t.test(
  'a good receiver holds all expectations, each kind was sent, and obeys the contract unless it is unknown',
  async (t) => {
    const receiver = await startOwnReceiver(t, key);
    const { verdicts, notRun, kinds, webhooks } = await runSelf(receiver.url, '--once 16 --seed 7');
    t.strictSame(withoutLoad(notRun), []);
    t.strictSame(brokenOf(verdicts), []);
    t.equal(webhooks, 16);
    t.strictSame(
      kinds.filter(({ kind }) => kind !== 'burst').map(({ kind, sent }) => [kind, sent]),
      [['genuine', 16], ...MISDEEDS.filter((kind) => kind !== 'burst').map((kind) => [kind, SEVERAL[kind] ?? 1])],
    );
    const { sent: burst = 0 } = kinds.find(({ kind }) => kind === 'burst') ?? {};
    t.ok(burst > 0 && burst <= 500, `a burst of ${burst}`);
    for (const { median, p99 } of kinds) t.ok(median !== null && p99 !== null && median <= p99);
    t.match(
      kinds.find(({ kind }) => kind === 'forged-signature'),
      { expected: 'refused', answers: { 401: 1 } },
    );
    t.equal([...receiver.seen.values()].filter((times) => times === 2).length, 2, 'two webhooks came twice');
    t.equal(Math.max(...receiver.bodies.map(({ length }) => length)), 256 * 1024);
    t.ok(receiver.paths.every((path) => path === '/hooks'));
    const unknown = receiver.bodies.filter((body) => {
      const { data, type } = JSON.parse(body.toString()) as { data: object; type: string };
      return 'simulatorExtra' in data || type.startsWith('simulator.');
    });
    t.equal(unknown.length, 2);
    for (const body of receiver.bodies.filter((one) => !unknown.includes(one))) checkWebhook(body);
  },
);

/** Flaws of the store behind a receiver, which no answer shows. */
type Keeping =
  | 'keeps-one-of-each-transaction'
  | 'keeps-repetitions'
  | 'keeps-repetitions-later'
  | 'keeps-what-it-refuses'
  | 'puts-nothing-in-order'
  | 'waits-for-nothing'
  | 'answers-before-it-stores'
  | 'takes-one-at-a-time';

/** The kinds that each flaw breaks. */
const FOUND: Readonly<Record<Exclude<Flaw, Keeping | 'wants-the-former-header'>, readonly string[]>> = {
  'takes-forged': ['forged-signature', 'changed-body'],
  'takes-old': ['old-timestamp'],
  'fails-at-unknown': ['unknown-members'],
  'fails-at-double': ['twice', 'device-twice'],
  'fails-at-new-types': ['unknown-type'],
  'fails-at-large': ['large-body'],
  'refuses-the-past': ['late'],
  'verifies-what-it-has-parsed': ['other-spacing'],
  'reads-one-signature': ['two-signatures'],
};
/**
 * A run sends more than 500 webhooks, so flaws share receivers. No two flaws are at the same receivers of these, so the
 * receivers at which a kind is broken name its flaw.
 */
const RECEIVERS: readonly (readonly (keyof typeof FOUND)[])[] = [
  ['verifies-what-it-has-parsed', 'reads-one-signature'],
  ['takes-forged', 'fails-at-unknown', 'fails-at-new-types', 'refuses-the-past'],
  ['takes-old', 'fails-at-unknown', 'fails-at-large', 'refuses-the-past'],
  ['fails-at-double', 'fails-at-new-types', 'fails-at-large', 'refuses-the-past'],
];
for (const flaws of RECEIVERS) {
  t.test(`a receiver that ${flaws.join(', ').replaceAll('-', ' ')} is found by these names`, async (t) => {
    const receiver = await startOwnReceiver(t, key, ...flaws);
    const { verdicts, notRun } = await runSelf(receiver.url);
    t.strictSame(withoutLoad(notRun), []);
    const broken = brokenOf(verdicts);
    const kinds = broken.map(({ text }) => text.split(':')[0] ?? '');
    t.strictSame(kinds.toSorted(), flaws.flatMap((flaw) => FOUND[flaw]).toSorted());
    for (const { story } of broken) t.match(story, [/^msg_.*expected (2xx within 15 s|4xx)$/]);
  });
}

t.test('a receiver that wants the header of earlier releases is found by its first answer', async (t) => {
  const receiver = await startOwnReceiver(t, key, 'wants-the-former-header');
  const { verdicts } = await runSelf(receiver.url, '--once 1');
  t.match(brokenOf(verdicts)[0], { text: 'genuine: 2xx within 15 s', shown: '1: 401' });
});

t.test('the same seed makes the same order of kinds', async (t) => {
  const typesOf = async (seed: number) => {
    const receiver = await startOwnReceiver(t, key);
    await runSelf(receiver.url, `--once 4 --seed ${seed}`);
    return receiver.bodies.map((body) => (JSON.parse(body.toString()) as { type: string }).type);
  };
  const first = await typesOf(3);
  t.strictSame(await typesOf(3), first);
  t.notSame(await typesOf(4), first);
});

t.test('a kind that was never sent is NOT RUN, exit code 4', async (t) => {
  const receiver = await startOwnReceiver(t, key);
  const args = ['receiver', '--self', '--forward', receiver.url, '--key', key, '--once', '2'];
  const { code, stdout } = await simulateHere(args);
  t.equal(code, 4, stdout);
  t.match(stdout, /^NOT RUN: the receiver at/);
  t.match(stdout, /never sent: .*at least 16 webhooks must come/);
});

t.test('text, JSON and JUnit name the kind that fails, exit code 1', async (t) => {
  const receiver = await startOwnReceiver(t, key, 'fails-at-double');
  const junit = join(t.testdir(), 'junit.xml');
  const args = ['receiver', '--self', '--forward', receiver.url, '--key', key, '--once', '16', '--junit', junit];
  const plain = await lapelSim(...args);
  t.equal(plain.code, 1, plain.stderr);
  t.match(plain.stdout, /15 of 17 expectations hold/);
  t.match(plain.stdout, /NOT OK +twice: 2xx within 15 s +1: 500 +median .*, 99 %/);
  t.match(readFileSync(junit, 'utf8'), /<testcase classname="receiver" name="twice: 2xx[^>]*>\n +<failure/);
  t.match(readFileSync(junit, 'utf8'), /tests="17" failures="2" errors="0"/);
  const { stdout, code } = await simulateHere([...args, '--json']);
  t.equal(code, 1);
  t.match(JSON.parse(stdout), { webhooks: 16, kinds: [{ kind: 'genuine', answers: { 204: 16 } }] });
});

t.test('a receiver that accepts no connection is exit code 3, and a wrong option 2', async (t) => {
  const url = 'http://127.0.0.1:1/hooks';
  const gone = await simulateHere(['receiver', '--self', '--forward', url, '--key', key, '--wait', '0']);
  t.match(gone, { code: 3, stderr: /^the receiver could not be reached at http:\/\/127.0.0.1:1/ });
  const wrong = (line: string, env = { LAPEL_AUTHENTICATION_KEY: key }) =>
    t.throws(() => readCommandLine(line.split(' '), env), { name: 'Error', option: String }, line);
  wrong('receiver --self');
  wrong(`receiver --forward ${url}`, { LAPEL_AUTHENTICATION_KEY: '' });
  wrong(`receiver --forward ${url} --key secret`);
  wrong(`receiver --forward ${url} --self --application a --secret b`);
  wrong(`receiver --forward ${url} --load 5`);
  wrong(`receiver --forward ${url} --self --ordered`);
  wrong(`receiver --forward ${url} --self --restart true`);
  wrong('run smoke --junit out.xml');
});

for (const [flaw, shown, story] of [
  [undefined, /^(\d+) of \1, 0 twice, 0 that had to be refused$/, []],
  ['keeps-one-of-each-transaction', /^\d+ of \d+, 0 twice, 0 /, [/^msg_\w+ \(\S+\): was answered 2xx, and is not in/]],
  [
    'keeps-repetitions',
    /, 2 twice, 0 that/,
    [/^msg_\w+ \(\S+\): is in the list twice/, /\(\S+\): is in the list twice/],
  ],
  [
    'keeps-repetitions-later',
    /, 2 twice, 0 that/,
    [/^msg_\w+ \(\S+\): is in the list twice/, /\(\S+\): is in the list twice/],
  ],
  ['keeps-what-it-refuses', /, 0 twice, 3 that had to be refused/, [/^msg_\w+: is in the list, and had to be refused/]],
] as const) {
  t.test(`the list of a receiver that ${flaw?.replaceAll('-', ' ') ?? 'is good'} is judged`, async (t) => {
    const receiver = await startOwnReceiver(t, key, ...(flaw ? [flaw] : []));
    const { verdicts } = await runSelf(receiver.url, `--once 16 --kept ${receiver.url}`);
    const kept = verdicts.find(({ text }) => text.startsWith('kept:'));
    t.match(kept, { holds: flaw === undefined, shown, story });
    t.strictSame(brokenOf(verdicts), flaw === undefined ? [] : [kept]);
  });
}

for (const [flaw, order, gaps] of [
  [
    undefined,
    { holds: true, shown: '10 in order, 0 behind a later one' },
    { holds: true, shown: '1 of 1, 0 that came' },
  ],
  [
    'puts-nothing-in-order',
    { holds: false, story: [/^msg_\w+ \(number \d+ of device \d{15}\): is in the list behind a later one$/] },
    { holds: false, story: [/^missing:\d{15}:\d+ is not in the list, and the number never came$/] },
  ],
  [
    'waits-for-nothing',
    { holds: true },
    { holds: false, story: [/^missing:\d{15}:\d+ is in the list, and the number came$/] },
  ],
] as const) {
  t.test(`the order in the list of a receiver that ${flaw?.replaceAll('-', ' ') ?? 'is good'} is judged`, async (t) => {
    const receiver = await startOwnReceiver(t, key, ...(flaw ? [flaw] : []));
    const { verdicts } = await runSelf(receiver.url, `--once 16 --kept ${receiver.url} --ordered`);
    t.match(
      verdicts.find(({ text }) => text.startsWith('order:')),
      order,
    );
    t.match(
      verdicts.find(({ text }) => text.startsWith('gaps:')),
      gaps,
    );
  });
}

t.test('a receiver that takes one at a time is too slow for a burst', async (t) => {
  t.setTimeout(300_000);
  const receiver = await startOwnReceiver(t, key, 'takes-one-at-a-time');
  let record = await runSelf(receiver.url);
  // A busy machine may send no burst, which is told; then it is played again.
  while (record.notRun.length > withoutLoad(record.notRun).length) record = await runSelf(receiver.url);
  const broken = brokenOf(record.verdicts).map(({ text }) => text);
  t.ok(broken.includes('burst: 2xx within 15 s'), broken.join());
});

for (const flaw of [undefined, 'answers-before-it-stores'] as const)
  t.test(`a receiver that ${flaw?.replaceAll('-', ' ') ?? 'is good'} is killed and started again`, async (t) => {
    const receiver = await startOwnReceiver(t, key, ...(flaw ? [flaw] : []));
    const restart = `"${process.execPath}" -e "fetch('${new URL('/restart', receiver.url).href}',{method:'POST'})"`;
    const settings = {
      ...settingsOf(`receiver --self --forward ${receiver.url} --once 1 --kept ${receiver.url}`),
      restart,
    };
    const outside = { stopped: new AbortController().signal, say: () => {} };
    const { verdicts, notRun } = await runTrial(settings, outside);
    t.notOk(
      notRun.some((reason) => reason.includes('--restart')),
      notRun.join(),
    );
    const kept = verdicts.find(({ text }) => text.startsWith('kept:'));
    const story = kept?.story.join() ?? '';
    t.equal(kept?.holds, flaw === undefined, story);
    if (flaw) t.match(story, /answered while the receiver was killed\): was answered 2xx, and is not in the list/);
    t.match(
      verdicts.find(({ text }) => text.startsWith('genuine:')),
      { holds: true },
    );
  });

t.test('a receiver whose command of a restart fails is NOT RUN', async (t) => {
  const receiver = await startOwnReceiver(t, key);
  const settings = settingsOf(
    `receiver --self --forward ${receiver.url} --once 1 --kept ${receiver.url} --restart false`,
  );
  const { notRun } = await runTrial(settings, { stopped: new AbortController().signal, say: () => {} });
  t.ok(
    notRun.some((reason) => reason.includes('the command of --restart ended with exit code 1')),
    notRun.join(),
  );
});

t.test('a list that cannot be read is a wrong option', async (t) => {
  const receiver = await startOwnReceiver(t, key);
  const wrong = runSelf(receiver.url, `--once 1 --kept ${join(t.testdir(), 'missing')}`);
  await t.rejects(wrong, { message: /^--kept: cannot be read: ENOENT/ });
});
