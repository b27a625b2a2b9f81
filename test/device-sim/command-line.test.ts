import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunSettings, readCommandLine } from '@lapel/device-sim/command-line';
import { help } from '@lapel/device-sim/help';
import { optionNames } from '@lapel/device-sim/options';
import t from 'tap';
import { parse } from 'yaml';

const words = (line: string): string[] => line.split(' ').filter((word) => word !== '');
function settingsOf(line: string, env: Record<string, string> = {}): RunSettings {
  const command = readCommandLine(words(line), env);
  if (command.do !== 'run') throw new Error(`"${line}" is no run`);
  return command.settings;
}

t.test('without options a run has ten prompt devices, the service of this folder, and no customer', async (t) => {
  t.match(settingsOf(''), {
    run: 'short',
    mqtt: ['mqtt://127.0.0.1:1883'],
    scenario: {
      seed: 1,
      activate: false,
      groups: [
        {
          count: 10,
          behaviour: { latency: { min: 0, max: 0 }, failureRate: 0, reportProcessing: false },
          absence: { share: 0 },
        },
      ],
      phases: [{ duration: null, untilIdle: null, actions: [] }],
    },
    accounts: { kind: 'register', adminUrl: 'http://127.0.0.1:8081', token: { dataDir: './data' } },
    application: undefined,
  });
});

t.test('options are a short way to a scenario', async (t) => {
  const line = '--count 5 --latency 50-800 --offline-rate 0.2 --calls 12 --until-idle 2.5 --download-dir d';
  const { scenario, accounts, downloadFolder } = settingsOf(
    `${line} --connect-rate 0 --admin http://h:1/ --admin-token x`,
  );
  t.match(scenario, {
    groups: [
      {
        count: 5,
        behaviour: { latency: { min: 50, max: 800 } },
        absence: { share: 0.2, window: { min: 5000, max: 30_000 } },
        life: { calls: 12, peerMoves: 6, alarms: 1, recorded: 0.5, statusInterval: 300_000 },
      },
    ],
    connectRate: null,
    phases: [{ untilIdle: 2500 }],
  });
  t.match(accounts, { adminUrl: 'http://h:1', token: 'x' });
  t.equal(downloadFolder, 'd');
});

t.test('a load is an action of a customer, with the expectation that nothing is lost or doubled', async (t) => {
  const { scenario } = settingsOf('--load 2.5 --duration 60');
  t.match(scenario, {
    activate: true,
    phases: [{ duration: 60_000, actions: [{ do: 'setWifi', pace: { perSecond: 2.5 } }] }],
  });
  const texts = scenario.expectations.map(({ text }) => text);
  t.ok(texts.includes('lost == 0') && texts.includes('doubled == 0'));
});

t.test('--print-scenario prints the options as a valid scenario', async (t) => {
  const line = '--count 7 --load 5 --duration 10 --latency 5-50 --calls 12 --offline-rate 0.1 --seed 3';
  const printed = readCommandLine(words(`${line} --print-scenario`), {});
  if (printed.do !== 'print') return t.fail('nothing is printed');
  t.match(parse(printed.text), { devices: 7, seed: 3, phases: [{ actions: [{ do: 'setWifi', rate: '5/s' }] }] });
  const file = join(t.testdir(), 'mine.yaml');
  writeFileSync(file, printed.text);
  t.strictSame(settingsOf(`run ${file}`).scenario, settingsOf(line).scenario);
});

t.test('a scenario is run by name or by file, in another size, with another seed', async (t) => {
  const small = settingsOf('run shift --count 20 --faster 10 --seed 5 --run nightly --shard 2/4 --wait 0');
  t.match(small, {
    run: 'nightly',
    shard: { index: 2, of: 4 },
    wait: 0,
    scenario: { name: 'shift', seed: 5, phases: [{ duration: 12_000 }] },
  });
  t.strictSame(
    small.scenario.groups.map(({ count }) => count),
    [12, 6, 2],
  );
  t.equal(settingsOf('run shift').run, 'shift', 'a run has the name of its scenario');
});

t.test('the address of the receiver, and its address for the service, are read', async (t) => {
  t.match(settingsOf('').webhook, { host: '127.0.0.1', port: 0, publicUrl: undefined });
  t.match(settingsOf('--webhook-listen 9000').webhook, { host: '127.0.0.1', port: 9000 });
  t.match(settingsOf('--webhook-listen [::]:9000 --webhook-url https://qa.example/hooks/').webhook, {
    host: '::',
    port: 9000,
    publicUrl: 'https://qa.example/hooks',
  });
});

t.test('a secret may begin with a hyphen; an option is never taken for a value', async (t) => {
  t.match(settingsOf('--application a --secret -s'), { application: { secret: '-s' } });
  t.match(settingsOf('--admin-token --x --json'), { accounts: { token: '--x' }, json: true });
  t.throws(() => settingsOf('--application a --secret --json'), { message: /^--secret: / });
});

t.test('secrets may come from the environment', async (t) => {
  const env = { LAPEL_ADMIN_TOKEN: 'token', LAPEL_APPLICATION_SECRET: 'secret', LAPEL_AUTHENTICATION_KEY: 'key' };
  t.match(settingsOf('--application app', env), {
    accounts: { token: 'token' },
    application: { applicationId: 'app', secret: 'secret' },
    authenticationKey: 'key',
  });
});

t.test('the other commands are read', async (t) => {
  t.strictSame(readCommandLine(['list'], {}), { do: 'list' });
  t.strictSame(readCommandLine(['schema'], {}), { do: 'schema', of: 'scenario' });
  t.strictSame(readCommandLine(['schema', 'report'], {}), { do: 'schema', of: 'report' });
  t.throws(() => readCommandLine(['schema', 'reports'], {}), {
    message: 'schema: takes no "reports"; it takes nothing or "report"',
  });
  t.throws(() => readCommandLine(['run', 'smoke', '--tolerance', '5'], {}), {
    message: '--tolerance: needs --baseline',
  });
  t.strictSame(readCommandLine(['run', '-h'], {}), { do: 'help' });
  for (const way of ['version', '--version', '-V']) t.strictSame(readCommandLine([way], {}), { do: 'version' });
  t.strictSame(readCommandLine(['check', 'a.yaml', 'b.yaml'], {}), { do: 'check', files: ['a.yaml', 'b.yaml'] });
  t.match(readCommandLine(words('merge a b --report out'), {}), {
    do: 'merge',
    folders: ['a', 'b'],
    reportFolder: 'out',
  });
});

for (const [line, option] of [
  ['--count 0', '--count'],
  ['--count 1.5', '--count'],
  ['--count -3', '--count'],
  ['--seed x', '--seed'],
  ['--latency 5-2', '--latency'],
  ['--latency 1-2-3', '--latency'],
  ['--calls many', '--calls'],
  ['--offline-rate 1', '--offline-rate'],
  ['--mqtt http://127.0.0.1', '--mqtt'],
  ['--admin nowhere', '--admin'],
  ['--secret s', '--secret'],
  ['--application app', '--secret'],
  ['--devices f --save g', '--save'],
  ['--duration 5 --until-idle 5', '--until-idle'],
  ['--run ../x', '--run'],
  ['--shard 3/2', '--shard'],
  ['--webhook-listen here', '--webhook-listen'],
  ['--webhook-url ftp://x', '--webhook-url'],
  ['--faster 2', '--faster'],
  ['run smoke --load 5', '--load'],
  ['run smoke --faster 0', '--faster'],
  ['run', 'run'],
  ['run smoke shift', 'run'],
  ['check', 'check'],
  ['merge', 'merge'],
  ['list smoke', 'list'],
  ['--nonsense', '--nonsense'],
  ['--seed', '--seed'],
  ['stray', 'command'],
] as const) {
  t.test(`"${line}" is refused and names ${option}`, async (t) => {
    t.throws(() => readCommandLine(words(line), {}), { option, message: new RegExp(`^${option}: `) });
  });
}

t.test('an unknown command gets a suggestion', async (t) => {
  t.throws(() => readCommandLine(['chekc', 'a.yaml'], {}), { message: /did you mean "check"\?/ });
});

t.test('an unknown scenario is refused with a sentence', async (t) => {
  t.throws(() => readCommandLine(['run', 'smoky'], {}), {
    message: /^smoky: .*there is no scenario.*did you mean "smoke"/,
  });
});

t.test('the help text explains every option', async (t) => {
  for (const name of optionNames) t.match(help, new RegExp(`^ +(-\\w, )?--${name}\\b`, 'm'));
});
