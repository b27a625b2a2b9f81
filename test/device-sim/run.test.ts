import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import { run } from '@lapel/device-sim/run';
import { faultInReport } from '@lapel/device-sim/scenario/read-report';
import t from 'tap';
import { startAdmin } from './customer/admin-stub.ts';
import { command, startBroker, wifi } from './plain-broker.ts';
import { simulateHere } from './simulate-here.ts';

const quiet = { write: () => {} };
const main = join(import.meta.dirname, '../../device-sim/main.ts');

/** The program in a process of its own. */
async function simulate(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { stdout, stderr, code };
}

/** A run in this process against a plain broker, without a customer. */
async function runHere(line: string, stopped: AbortSignal = new AbortController().signal) {
  const read = readCommandLine(line.split(' '), {});
  if (read.do !== 'run') throw new Error(`"${line}" is no run`);
  const { record } = await run(read.settings, { stopped, stream: quiet });
  return record;
}

t.test('--json prints one object and nothing else on standard output', async (t) => {
  await using broker = await startBroker();
  await using admin = await startAdmin('token');
  const folder = t.testdir();
  const { stdout, code } = await simulate(
    ...`--mqtt ${broker.url} --admin ${admin.url} --admin-token token --count 3 --duration 0.1 --json --report ${folder}`.split(
      ' ',
    ),
  );
  t.equal(code, 0);
  const record = JSON.parse(stdout);
  t.match(record, {
    scenario: 'short',
    seed: 1,
    chapters: [
      { name: 'run', figures: null, fleet: { devices: 3, connected: 3 } },
      { name: 'start' },
      { name: 'work' },
    ],
    verdicts: [
      { text: 'violations == 0', holds: true },
      { text: 'connectFailures == 0', holds: true },
    ],
    troubles: [],
    interrupted: false,
  });
  t.strictSame(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')), record);
  t.equal(faultInReport(record), undefined, 'the report obeys its schema');
  t.match(readFileSync(join(folder, 'junit.xml'), 'utf8'), /tests="2" failures="0"/);
  t.match(readFileSync(join(folder, 'report.html'), 'utf8'), /All 2 expectations hold/);
});

t.test('a wrong option ends with 2 and names the option', async (t) => {
  const { stdout, stderr, code } = await simulate('--offline-rate', 'often');
  t.equal(code, 2);
  t.match(stderr, /^--offline-rate: "often"/);
  t.equal(stdout, '');
});

t.test('check ends with 2 and the faults of each file, or with 0 if there are none', async (t) => {
  const folder = t.testdir({
    'good.yaml': 'name: good\ndevices: 2\nphases: [{ name: a, duration: 1s }]\n',
    'bad.yaml': 'name: bad\ndevices: 2\nphases: [{ name: a, duration: soon }]\n',
  });
  const [good, bad] = [join(folder, 'good.yaml'), join(folder, 'bad.yaml')];
  const both = await simulateHere(['check', good, bad]);
  t.equal(both.code, 2);
  t.match(both.stdout, /good\.yaml: 2 devices in 1 groups, 1 phases, 0 expectations/);
  t.match(both.stderr, /bad\.yaml:3: phases\[0\]\.duration: must be a duration/);
  t.equal((await simulateHere(['check', good])).code, 0);
  t.equal((await simulateHere(['run', bad])).code, 2);
});

t.test('list shows the included scenarios', async (t) => {
  const { stdout, code } = await simulateHere(['list']);
  t.equal(code, 0);
  t.match(stdout, /^smoke {2,}Every operation/m);
});

t.test('a missing service ends with 3', async (t) => {
  await using admin = await startAdmin('token');
  const { stderr, code } = await simulateHere(
    `--admin ${admin.url} --admin-token token --mqtt mqtt://127.0.0.1:1 --wait 0`.split(' '),
  );
  t.equal(code, 3);
  t.match(stderr, /^the service could not be reached at mqtt:\/\/127\.0\.0\.1:1: /);
});

t.test('a run in which no device can connect ends with 1 and its reason', async (t) => {
  const file = join(t.testdir(), 'devices.ndjson');
  writeFileSync(file, `${JSON.stringify({ deviceId: deviceIdFor(1, 0), credential: 'wrong' })}\n`);
  await using broker = await startBroker({ password: 'right' });
  const { stderr, code } = await simulateHere(['--devices', file, '--mqtt', broker.url]);
  t.equal(code, 1);
  t.match(stderr, /nobody could connect to mqtt:.*Bad username or password/);
});

t.test('an interrupt ends a run with a report', async (t) => {
  await using broker = await startBroker();
  await using admin = await startAdmin('token');
  const args = ['--mqtt', broker.url, '--admin', admin.url, '--admin-token', 'token', '--count', '2', '--json'];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const output = text(child.stdout);
  const exit = once(child, 'exit');
  while (broker.subscriptions.length < 6) await once(broker.broker, 'subscribe');
  child.kill('SIGINT');
  const [code] = await exit;
  t.equal(code, 0);
  t.match(JSON.parse(await output), { chapters: [{ fleet: { devices: 2, connections: 2 } }], interrupted: true });
});

t.test('a run until idle continues while there is work, and ends after the quiet time', async (t) => {
  await using broker = await startBroker();
  const file = join(t.testdir(), 'devices.ndjson');
  writeFileSync(file, `${JSON.stringify({ deviceId: deviceIdFor(1, 0), credential: 'any' })}\n`);
  broker.broker.once('subscribe', () => broker.send(deviceIdFor(1, 0), command(1, 'setWifi', wifi('office'))));
  const record = await runHere(`--mqtt ${broker.url} --devices ${file} --until-idle 0.2 --latency 300`);
  t.match(record.chapters[0]?.fleet, { commands: 1, acknowledged: 1, outstanding: 0 });
  t.ok(record.milliseconds >= 500, 'latency and quiet time');
});

t.test('a stop ends the run at once, even if the fleet still waits to connect', async (t) => {
  await using broker = await startBroker();
  await using admin = await startAdmin('token');
  const controller = new AbortController();
  broker.broker.once('clientReady', () => controller.abort());
  const record = await runHere(
    `--mqtt ${broker.url} --admin ${admin.url} --admin-token token --connect-rate 0.01`,
    controller.signal,
  );
  t.match(record, { interrupted: true, chapters: [{ fleet: { devices: 10, connectFailures: 0 } }] });
});
