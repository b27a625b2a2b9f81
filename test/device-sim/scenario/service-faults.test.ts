import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { isBrokenPromise } from '@lapel/device-sim/report/summary';
import { run } from '@lapel/device-sim/run';
import { createServiceFaults } from '@lapel/device-sim/scenario/service-faults';
import { faultCommand } from '@lapel/device-sim/service/fault-command';
import { systemTimers } from '@lapel/device-sim/timers';
import { freePort, freePorts } from '@lapel/tools/harness/free-port';
import t, { type Test } from 'tap';
import { refusedOn } from '../../flow/service-process.ts';
import { startBroker } from '../plain-broker.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'src/main.ts');
const BAD_FAULT = 'phases: [{ name: work, duration: 100ms, service: [{ fault: kill, node: 2, lasts: 250ms }] }]';

/** Plays a command line; the output of the run is dropped. */
async function play(line: readonly string[], env: Record<string, string> = {}) {
  const read = readCommandLine(line, env);
  if (read.do !== 'run') throw new Error('this is no run');
  return run(read.settings, { stopped: new AbortController().signal, stream: { write: () => {} } });
}

/** A scenario of one device without a customer, and the file of its account. */
function smallScenario(t: Test, phases: string): { folder: string; line: readonly string[] } {
  const folder = t.testdir({
    'small.yaml': `name: small\ndevices: 1\nactivate: false\nsettle: 0s\n${phases}\n`,
    'devices.ndjson': '{"deviceId":"359004300000014","credential":"secret"}\n',
  });
  return { folder, line: ['run', join(folder, 'small.yaml'), '--devices', join(folder, 'devices.ndjson')] };
}

t.test(
  'a service that restarts, is killed and stands still keeps its promises, and the run says how fast it was back',
  { timeout: 300_000 },
  async (t) => {
    const folder = t.testdir({ data: {} });
    const [http, admin, mqtt, objects] = await freePorts(4);
    const env = {
      LAPEL_DATA_DIR: join(folder, 'data'),
      LAPEL_HTTP_PORT: String(http),
      LAPEL_ADMIN_PORT: String(admin),
      LAPEL_MQTT_PORT: String(mqtt),
      LAPEL_OBJECTS_PORT: String(objects),
      LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
      LAPEL_ALLOW_HTTP_WEBHOOKS: 'true',
      LAPEL_RATE_LIMIT: '0',
      LAPEL_LOG_LEVEL: 'warn',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    };
    const settings = Object.entries(env).map(([name, value]) => `'${name}=${value}'`);
    // The shell stays the leader of the process group, as it does for a command of several parts.
    const service = `env -u LAPEL_TEST_DATABASE ${settings.join(' ')} '${process.execPath}' '${MAIN}' serve; exit $?`;
    const at = `--api http://127.0.0.1:${http} --admin http://127.0.0.1:${admin} --mqtt mqtt://127.0.0.1:${mqtt}`;
    const line = `run outage --count 10 --faster 12 ${at} --data-dir ${env.LAPEL_DATA_DIR} --report ${folder}`;
    const { record, gone } = await play([...line.split(' '), '--service', service]);
    t.equal(gone, null);
    t.strictSame(record.faults, { ...record.faults, restart: 2, kill: 3, freeze: 1 });
    t.strictSame(
      record.requirements.filter(({ text, holds }) => text.startsWith('played') && !holds),
      [],
    );
    const promises =
      /^(crashes|lost|doubled|unordered|forged|violations|eventsLost|reused|unaccounted|wrong|repeated|hammering)\b/;
    const held = record.verdicts.filter(({ text }) => promises.test(text));
    t.equal(held.length, 12);
    for (const { text, holds, shown, story } of held) t.ok(holds, `${text}: ${shown}`, { story });
    const [whole] = record.chapters;
    t.ok(Number(whole?.fleet['recovery']) > 0, 'it was away');
    t.equal(record.looks?.['service-ends'], 1, 'the run has looked whether it ended by itself');
    t.ok(whole?.figures && whole.figures.succeeded > 0);
    t.equal(record.troubles.filter((text) => text.includes('the service ended')).length, 0);
    const starts = readFileSync(join(folder, 'service-1.log'), 'utf8').match(/"msg":"listening"/g);
    // A start on a busy machine can be killed before it listens.
    t.ok(starts && starts.length > 3, 'its output is kept over its starts');
    await refusedOn(http!);
  },
);

t.test('a command of the user learns the fault from its environment', async (t) => {
  await using broker = await startBroker();
  const { folder, line } = smallScenario(t, BAD_FAULT);
  const said = join(folder, 'said');
  const write = `echo "$SERVICE_FAULT $SERVICE_FAULT_SECONDS $SERVICE_FAULT_NODE" >> '${said}'`;
  const { record } = await play([...line, '--mqtt', broker.url, '--service-fault', write]);
  t.equal(readFileSync(said, 'utf8'), 'kill 0.25 2\n');
  t.strictSame(record.faults, { kill: 1 });
  t.strictSame(record.notRun, []);
});

t.test('a run whose fault of the service could not be played is NOT RUN, and says why', async (t) => {
  await using broker = await startBroker();
  const { line } = smallScenario(t, BAD_FAULT);
  const { record } = await play([...line, '--mqtt', broker.url, '--service-fault', 'echo no such node; exit 3']);
  t.strictSame(record.troubles, [
    'the fault kill of the service: the command of --service-fault ended with exit code 3 at kill: no such node',
  ]);
  t.match(record.notRun, [/played\(kill\) >= 1/]);
});

t.test(
  'after a fault that could not be played the service is judged as before, and each fault is required',
  async (t) => {
    await using broker = await startBroker();
    const { folder, line } = smallScenario(
      t,
      'phases: [{ name: work, duration: 100ms, service: [{ fault: kill }, { fault: kill }] }]',
    );
    // The first call fails, the second one does not.
    const once = `[ -e '${folder}/called' ] || { touch '${folder}/called'; exit 1; }`;
    const { record } = await play([...line, '--mqtt', broker.url, '--service-fault', once]);
    t.strictSame(record.faults, { kill: 1 });
    t.match(record.notRun, [/played\(kill\) >= 2/]);

    const told: string[] = [];
    const faults = createServiceFaults({
      control: faultCommand('exit 1', new AbortController().signal),
      timers: systemTimers,
      stopped: new AbortController().signal,
      reachable: async () => {},
      onAway: () => told.push('away'),
      onBack: () => told.push('back'),
      onTrouble: () => told.push('trouble'),
    });
    faults.begin([{ fault: 'kill', node: null, after: 0, lasts: 0 }]);
    await faults.over();
    t.strictSame(told, ['away', 'back', 'trouble']);
  },
);

t.test(
  'a service that ends although nobody told it to is a broken promise, also if a fault starts it again',
  async (t) => {
    await using broker = await startBroker();
    const { folder, line } = smallScenario(
      t,
      'phases: [{ name: work, duration: 500ms, service: [{ fault: kill, after: 400ms, lasts: 0s }] }]',
    );
    const mark = `'${folder}/crashed'`;
    const crashing = `[ -e ${mark} ] && exec sleep 60; touch ${mark}; sleep 0.1; echo out of order; exit 5`;
    const { record } = await play([...line, '--mqtt', broker.url, '--service', crashing]);
    const verdict = record.verdicts.find(({ text }) => text === 'crashes == 0');
    t.match(verdict, { holds: false, value: 1, story: ['the service ended with exit code 5: out of order'] });
    t.ok(verdict && isBrokenPromise(verdict));
    t.strictSame(record.faults, { kill: 1 });
  },
);

t.test('faults of the service that cannot be played are refused before the run', async (t) => {
  const { line } = smallScenario(t, BAD_FAULT);
  const service = ['--service', 'sleep 60'];
  await t.rejects(play(line), {
    message: /^--service.* or --service-fault is needed, because the scenario has faults/,
  });
  await t.rejects(play([...line, ...service]), {
    message: /--service.* is given once, but the scenario has a fault of node 2/,
  });
  t.throws(() => readCommandLine([...line, ...service, '--service-fault', 'x'], {}), { message: /--service-fault/ });
  await t.rejects(play([...line, '--shard', '1/2', ...service]), { message: /^--shard.* faults of the service/ });
});

t.test('of several nodes only the named one has the fault', async (t) => {
  await using broker = await startBroker();
  const { folder, line } = smallScenario(
    t,
    'phases: [{ name: work, duration: 1s, service: [{ fault: restart, node: 2, lasts: 0s }] }]',
  );
  const node = (number: number): string[] => ['--service', `echo started >> '${folder}/node-${number}'; exec sleep 60`];
  const starts = (number: number): number =>
    readFileSync(join(folder, `node-${number}`), 'utf8').split('\n').length - 1;
  const { record } = await play([...line, '--mqtt', broker.url, ...node(1), ...node(2), ...node(3)]);
  t.strictSame(record.faults, { restart: 1 });
  t.strictSame([starts(1), starts(2), starts(3)], [1, 2, 1]);
});

t.test('a service that ends when it is started is told with its last words', async (t) => {
  const { line } = smallScenario(t, 'phases: [{ name: work, duration: 100ms }]');
  const port = await freePort();
  const away = ['--mqtt', `mqtt://127.0.0.1:${port}`];
  await t.rejects(play([...line, ...away, '--service', 'echo no port left >&2; exit 7']), {
    message: /--service.*the service ended with exit code 7: no port left/,
  });
});

t.test('the command for compose.cluster.yaml stops, kills and pauses the nodes, and brings them back', (t) => {
  const folder = t.testdir({ docker: '#!/bin/sh\necho "$@" >> "$CALLS"\n' });
  chmodSync(join(folder, 'docker'), 0o755);
  const calls = join(folder, 'calls');
  const fail = (fault: string, node: string) =>
    spawnSync(join(ROOT, 'deploy/service-fault.sh'), {
      env: {
        PATH: `${folder}:${process.env['PATH']}`,
        CALLS: calls,
        SERVICE_FAULT: fault,
        SERVICE_FAULT_SECONDS: '0',
        SERVICE_FAULT_NODE: node,
      },
      encoding: 'utf8',
    });
  writeFileSync(calls, '');
  for (const fault of ['restart', 'kill', 'freeze']) t.equal(fail(fault, fault === 'kill' ? '2' : 'all').status, 0);
  t.strictSame(readFileSync(calls, 'utf8').trim().split('\n'), [
    'compose -f compose.cluster.yaml stop node-1 node-2 node-3',
    'compose -f compose.cluster.yaml start node-1 node-2 node-3',
    'compose -f compose.cluster.yaml kill node-2',
    'compose -f compose.cluster.yaml start node-2',
    'compose -f compose.cluster.yaml pause node-1 node-2 node-3',
    'compose -f compose.cluster.yaml unpause node-1 node-2 node-3',
  ]);
  const { status, stderr } = fail('melt', 'all');
  t.equal(status, 2);
  t.match(stderr, /SERVICE_FAULT is "melt", not restart, kill or freeze/);
  t.end();
});
