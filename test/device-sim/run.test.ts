import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { readCommandLine } from '../../device-sim/command-line.ts';
import { createDurations } from '../../device-sim/customer/durations.ts';
import { deviceIdFor } from '../../device-sim/fleet/device-ids.ts';
import { progressLine } from '../../device-sim/progress.ts';
import { run } from '../../device-sim/run.ts';
import { startAdmin } from './customer/admin-stub.ts';
import { command, startBroker, wifi } from './plain-broker.ts';

const quiet = { write: () => {} };
const main = join(import.meta.dirname, '../../device-sim/main.ts');

async function simulate(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { stdout, stderr, code };
}

t.test('--json prints one object and nothing else on standard output', async (t) => {
  await using broker = await startBroker();
  await using admin = await startAdmin('token');
  const { stdout, code } = await simulate(
    ...`--mqtt ${broker.url} --admin ${admin.url} --admin-token token --count 3 --duration 0.1 --json`.split(' '),
  );
  t.equal(code, 0);
  t.match(JSON.parse(stdout), {
    seed: 1,
    neverConnected: 0,
    fleet: { devices: 3, connected: 3 },
    load: null,
    troubles: [],
  });
});

t.test('a wrong option ends with 2 and names the option', async (t) => {
  const { stdout, stderr, code } = await simulate('--failure-rate', 'often');
  t.equal(code, 2);
  t.match(stderr, /^--failure-rate: "often"/);
  t.equal(stdout, '');
});

t.test('nobody to connect to ends with 1 and says why', async (t) => {
  const file = join(t.testdir(), 'devices.ndjson');
  writeFileSync(file, `${JSON.stringify({ deviceId: deviceIdFor(1, 0), credential: 'wrong' })}\n`);
  await using broker = await startBroker({ password: 'right' });
  const { stderr, code } = await simulate('--devices', file, '--mqtt', broker.url);
  t.equal(code, 1);
  t.match(stderr, /nobody could connect to mqtt:.*Bad username or password/);
});

t.test('an interrupt ends a run with a report', async (t) => {
  await using broker = await startBroker();
  await using admin = await startAdmin('token');
  const args = ['--mqtt', broker.url, '--admin', admin.url, '--admin-token', 'token', '--count', '2', '--json'];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const output = text(child.stdout);
  const exit = once(child, 'exit');
  while (broker.subscriptions.length < 6) await once(broker.broker, 'subscribe');
  child.kill('SIGINT');
  const [code] = await exit;
  t.equal(code, 0);
  t.match(JSON.parse(await output), { fleet: { devices: 2, connections: 2 } });
});

t.test('a run until idle goes on while there is work, and ends after the quiet time', async (t) => {
  await using broker = await startBroker();
  await using admin = await startAdmin('token');
  const args = `--mqtt ${broker.url} --admin ${admin.url} --admin-token token --count 1 --until-idle 0.2 --latency 300`;
  broker.broker.once('subscribe', () => broker.send(deviceIdFor(1, 0), command(1, 'setWifi', wifi('office'))));
  const report = await run(readCommandLine(args.split(' '), {}), {
    stopped: new AbortController().signal,
    stream: quiet,
  });
  t.match(report.fleet, { commands: 1, acknowledged: 1, outstanding: 0 });
  t.ok(report.seconds >= 0.5, 'latency and quiet time');
});

t.test('a stop while the fleet still waits for its turns to connect ends at once', async (t) => {
  await using broker = await startBroker();
  await using admin = await startAdmin('token');
  const args = `--mqtt ${broker.url} --admin ${admin.url} --admin-token token --connect-rate 0.01`.split(' ');
  const controller = new AbortController();
  broker.broker.once('clientReady', () => controller.abort());
  const report = await run(readCommandLine(args, {}), { stopped: controller.signal, stream: quiet });
  t.match(report, { neverConnected: 0, fleet: { devices: 10 } });
});

t.test('the progress line gives rates for one second', (t) => {
  const zero = { commands: 10, answers: 10, failures: 0, devices: 5, connected: 4, outstanding: 2 };
  const before = { ...zero } as Parameters<typeof progressLine>[0];
  const now = { ...before, commands: 30, answers: 25, failures: 1 };
  t.equal(
    progressLine(now, before, 500),
    '4 connected, 1 offline, 40 commands/s, 30 answers/s, 2 failures/s, 2 outstanding',
  );
  t.end();
});

t.test('a duration is measured whichever end of it is seen first', (t) => {
  const durations = createDurations();
  durations.requested(1, 100);
  durations.arrived(1, 103);
  durations.arrived(2, 205);
  durations.requested(2, 200);
  durations.arrived(3, 1);
  t.strictSame(durations.percentiles(), { count: 2, p50: 5, p99: 5 });
  t.end();
});
