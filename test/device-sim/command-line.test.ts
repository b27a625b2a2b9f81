import t from 'tap';
import { optionNames, readCommandLine } from '../../device-sim/command-line.ts';
import { help } from '../../device-sim/help.ts';

t.test('without options it is ten prompt devices of the service of this folder', (t) => {
  t.match(readCommandLine([], {}), {
    mqtt: 'mqtt://127.0.0.1:1883',
    count: 10,
    seed: 1,
    behaviour: { latency: { min: 0, max: 0 }, failureRate: 0, reportProcessing: false },
    absence: { share: 0 },
    accounts: { kind: 'register', adminUrl: 'http://127.0.0.1:8081', token: { dataDir: './data' } },
    application: undefined,
  });
  t.end();
});

t.test('options are read', (t) => {
  const line =
    '--count 5 --latency 50-800 --offline-rate 0.2 --offline-window 100 --silent-operations a,b --until-idle 2.5';
  const command = readCommandLine(`${line} --connect-rate 0 --admin http://h:1/ --admin-token x`.split(' '), {});
  t.match(command, {
    count: 5,
    behaviour: { latency: { min: 50, max: 800 } },
    absence: { share: 0.2, window: { min: 100, max: 100 } },
    untilIdle: 2500,
    connectRate: null,
    accounts: { adminUrl: 'http://h:1', token: 'x' },
  });
  t.strictSame([...command.behaviour.silentOperations], ['a', 'b']);
  t.end();
});

t.test('a secret may begin with a hyphen; an option is never taken for a value', (t) => {
  const read = (line: string) => readCommandLine(line.split(' '), {});
  t.match(read('--application a --secret -s --load 2'), { application: { secret: '-s', load: 2 } });
  t.match(read('--admin-token --x --json'), { accounts: { token: '--x' }, json: true });
  t.throws(() => read('--application a --secret --json'), { message: /^--secret: / });
  t.end();
});

t.test('software, storage and firmware are read', (t) => {
  const line =
    '--storage 1000 --preinstall com.example.a@1.0-rc.1+b:7,com.example.b@2:1 --firmware 9 --management-client 2';
  t.match(readCommandLine(`${line} --download-dir d`.split(' '), {}), {
    equipment: {
      storage: 1000,
      firmwareVersion: '9',
      managementClientVersion: '2',
      software: {
        'com.example.a': { version: '1.0-rc.1+b', versionCode: 7, size: 0 },
        'com.example.b': { version: '2', versionCode: 1, size: 0 },
      },
    },
    downloadFolder: 'd',
  });
  t.end();
});

t.test('what happens by itself is read', (t) => {
  const line = '--calls 12 --call-length 5-60 --recorded 1 --file-uploads 0.5 --file-size 1000 --old-firmware 0.1';
  t.match(readCommandLine(`${line} --status-interval 0 --upload-failure-rate 0.2 --lang ja`.split(' '), {}), {
    equipment: { lang: 'ja' },
    oldFirmware: 0.1,
    behaviour: { fileSize: { min: 1000, max: 1000 }, uploadFailureRate: 0.2 },
    life: {
      statusInterval: 0,
      peerMoves: 6,
      alarms: 1,
      calls: 12,
      callLength: { min: 5000, max: 60_000 },
      recorded: 1,
      fileUploads: 0.5,
    },
  });
  t.end();
});

t.test('secrets may come from the environment', (t) => {
  const env = { LAPEL_ADMIN_TOKEN: 'token', LAPEL_APPLICATION_SECRET: 'secret' };
  t.match(readCommandLine(['--application', 'app', '--load', '5'], env), {
    accounts: { token: 'token' },
    application: { applicationId: 'app', secret: 'secret', load: 5 },
  });
  t.end();
});

for (const [line, option] of [
  ['--count 0', '--count'],
  ['--count 1.5', '--count'],
  ['--count -3', '--count'],
  ['--seed x', '--seed'],
  ['--latency 5-2', '--latency'],
  ['--latency 1-2-3', '--latency'],
  ['--calls many', '--calls'],
  ['--recorded 2', '--recorded'],
  ['--file-size 100', '--file-size'],
  ['--failure-rate 1.1', '--failure-rate'],
  ['--offline-rate 1', '--offline-rate'],
  ['--mqtt http://127.0.0.1', '--mqtt'],
  ['--admin nowhere', '--admin'],
  ['--load 5', '--load'],
  ['--application app', '--secret'],
  ['--devices f --save g', '--save'],
  ['--duration 5 --until-idle 5', '--until-idle'],
  ['--storage much', '--storage'],
  ['--preinstall camera@1:1', '--preinstall'],
  ['--preinstall com.example.a@1', '--preinstall'],
  ['--preinstall com.example.a@1:1,com.example.a@2:2', '--preinstall'],
  ['--nonsense', '--nonsense'],
  ['--seed', '--seed'],
  ['stray', 'arguments'],
] as const) {
  t.test(`"${line}" is refused and names ${option}`, (t) => {
    t.throws(() => readCommandLine(line.split(' '), {}), {
      name: 'Error',
      option,
      message: new RegExp(`^${option}: `),
    });
    t.end();
  });
}

t.test('the help text explains every option', (t) => {
  for (const name of optionNames) t.match(help, new RegExp(`^ +(-\\w, )?--${name}\\b`, 'm'));
  t.end();
});
