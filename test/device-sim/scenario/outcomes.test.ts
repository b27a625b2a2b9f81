import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as pass } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { mergeReports } from '@lapel/device-sim/merge';
import { writeReport } from '@lapel/device-sim/report/write-report';
import { run } from '@lapel/device-sim/run';
import t from 'tap';
import { ADMIN_TOKEN, startProcess } from '../../flow/service-process.ts';
import { until } from '../../until.ts';
import { simulateHere } from '../simulate-here.ts';

const MAIN = join(import.meta.dirname, '../../../device-sim/main.ts');
const options = { stopped: new AbortController().signal, stream: { write: () => {} } };

t.test('the end of a run', { timeout: 300_000 }, async (t) => {
  const folder = t.testdir({ data: {} });
  const service = await startProcess(t, { LAPEL_DATA_DIR: join(folder, 'data') });
  const { admin, http, mqtt } = service.addresses;
  const at = `--admin ${admin} --api ${http} --mqtt ${mqtt}`;
  const env = { LAPEL_ADMIN_TOKEN: ADMIN_TOKEN };

  function write(name: string, scenario: string): string {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, `name: ${name}\n${scenario}`);
    return file;
  }
  const simulate = (line: string, api = http) => simulateHere(`${line} ${at} --api ${api}`.split(' '), { env });
  async function runHere(line: string, more = '') {
    const command = readCommandLine(`${line} ${at}${more}`.split(' '), env);
    if (command.do !== 'run') throw new Error('no run');
    return run(command.settings, options);
  }

  t.test(
    'with several addresses the devices spread over the nodes, and figures can be those of one node',
    async (t) => {
      // Two names of one service stand for two nodes.
      const both = (url: string): string => `${url},${url.replace('127.0.0.1', 'localhost')}`;
      const file = write(
        'nodes',
        `devices: 6
phases: [{ name: work, duration: 300ms, actions: [{ do: setWifi, each: 2 }] }]
settle: 5s
expectations: [connections(1) == 3, connections(2) == 3, "accepted(node: 1) == 9", "succeeded(node: 2) == 100 %"]
`,
      );
      const { record } = await runHere(`run ${file}`, ` --mqtt ${both(mqtt)} --api ${both(http)}`);
      for (const { text, holds, shown } of record.verdicts) t.ok(holds, `${text}: ${shown}`);
      t.equal(record.chapters[0]?.scopes?.['node: 2']?.accepted, 9);
      t.equal(record.chapters[0]?.figures?.errors, 0);
    },
  );

  t.test('an expectation that does not hold is exit code 1, with the story of a device', async (t) => {
    const file = write(
      'failing',
      `devices: 4
groups: [{ name: good }, { name: bad, count: 1, faults: [{ fault: fails, probability: 1, operations: [setWifi] }] }]
phases: [{ name: work, duration: 300ms, actions: [{ do: setWifi, each: 1 }] }]
expectations: [lost == 0, { expect: succeeded == 100 %, phase: work }]
`,
    );
    const out = join(folder, 'out');
    const { stdout, code } = await simulate(`run ${file} --report ${out}`);
    t.equal(code, 1);
    t.match(stdout, /^failing: (10 of 11|9 of 10) expectations hold/);
    t.match(
      stdout,
      /NOT OK {2}succeeded == 100 % \(work\): 75 %\n(.*\n){0,2}.*customer {2}asks \d{15} for setWifi \(action \d\): 201, transaction \d+/,
    );
    t.match(stdout, /receiver {2}gets the result of transaction \d+: failed INTERNAL/);
    const junit = readFileSync(join(out, 'junit.xml'), 'utf8');
    t.match(junit, /tests="(11|10)" failures="1"/);
    t.match(junit, /<failure message="found 75 %">/);
  });

  t.test('a run that did not take place is exit code 4, with the reason', async (t) => {
    const file = write(
      'nothing',
      `devices: 2
groups: [{ name: all, faults: [{ fault: fails, probability: 0 %, operations: [setWifi] }] }]
phases: [{ name: work, duration: 100ms, actions: [{ do: setWifi, each: 1 }] }]
takesPlace: { activated: 100 %, refused: 0 %, made: 100 %, faults: true }
expectations: [lost == 0, succeeded == 100 %]
`,
    );
    const out = join(folder, 'not-run');
    const { stdout, code } = await simulate(`run ${file} --report ${out}`);
    t.equal(code, 4);
    t.match(stdout, /^nothing: NOT RUN; (11 of 11|10 of 10) expectations hold/);
    t.match(stdout, /\n {2}NOT RUN {2}played\(fails\) >= 1 is required: 0\n/);
    t.match(readFileSync(join(out, 'junit.xml'), 'utf8'), /errors="1"(.|\n)*name="it has taken place"/);
    const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
    t.match(report, { notRun: ['played(fails) >= 1 is required: 0'], own: { standstill: Number } });
    t.strictSame(
      report.requirements.map(({ text, phase, holds }: Record<string, unknown>) => [text, phase, holds]),
      [
        ['activated >= 100 %', 'start', true],
        ['refused <= 0 %', null, true],
        ['made >= 100 %', 'work', true],
        ['played(fails) >= 1', null, false],
      ],
    );
  });

  t.test('if a service gives an id twice, the first transaction is lost, and the run fails in any case', async (t) => {
    const file = write(
      'twice',
      'devices: 2\nphases: [{ name: work, duration: 300ms, actions: [{ do: setWifi, each: 3 }] }]\nsettle: 500ms\n',
    );
    const ids: number[] = [];
    const proxy = createServer((request, response) => {
      const { method = 'GET', url = '/' } = request;
      const passed = pass(`${http}${url}`, { method, headers: request.headers }, (reply) => {
        void text(reply).then((body) => {
          const { transactionId } = body.includes('"transactionId"') ? JSON.parse(body) : {};
          const asked = url.endsWith('/settings/wifi') && transactionId !== undefined;
          if (asked) ids.push(transactionId);
          const given = asked && ids.length === 3 ? body.replace(String(transactionId), String(ids[0])) : body;
          response
            .writeHead(reply.statusCode ?? 500, { 'content-type': reply.headers['content-type'] ?? '' })
            .end(given);
        });
      });
      request.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    t.teardown(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const { port } = proxy.address() as AddressInfo;
    const { stdout, code } = await simulate(`run ${file} --json`, `http://127.0.0.1:${port}`);
    const { chapters, verdicts, troubles } = JSON.parse(stdout);
    t.equal(code, 1);
    const { accepted, lost, reused, violations } = chapters[0].figures;
    t.strictSame({ accepted, reused, violations }, { accepted: 8, reused: 1, violations: 1 });
    t.ok(lost <= 1, 'it is lost unless its result was there already');
    t.match(verdicts, [
      {
        text: 'reused == 0',
        holds: false,
        value: 1,
        story: [/the service gave the transactionId \d+ to two requests/],
      },
      { text: 'unaccounted == 0', holds: true },
    ]);
    t.match(troubles.join('\n'), /the service gave the transactionId \d+ to two requests/);
  });

  t.test('smoke is played by the mqtt package as well; what it cannot play is refused', async (t) => {
    const { record } = await runHere('run smoke --client mqtt --run package --count 3 --faster 10 --clean');
    // Latencies, and a service that stands still, say how busy the machine is, not whether the client works.
    const ofAnySpeed = record.verdicts.filter(({ text }) => !/^(p\d|stalled|halted)/.test(text));
    t.ok(ofAnySpeed.length >= 10);
    for (const { text, holds, measurable, shown } of ofAnySpeed) t.ok(holds || !measurable, `${text}: ${shown}`);
    t.match(record.requirements, [{ holds: true }, { holds: true }, { holds: true }, { holds: true }, { holds: true }]);
    t.match(record.chapters[0]?.fleet, { devices: 3, activated: 3, complaints: 0 });
    await t.rejects(runHere('run hostile --client mqtt --run package'), {
      message: /^--client: the mqtt package cannot play/,
    });
    t.throws(() => readCommandLine(['run', 'smoke', '--client', 'other'], env), {
      message: /neither "lean" nor "mqtt"/,
    });
  });

  t.test('two runs of one scenario and seed take the same decisions, however long anything takes', async (t) => {
    const scenario = (name: string, latency: string) =>
      write(
        name,
        `devices: 8
seed: 5
groups:
  - name: some
    share: 50 %
    behaviour: { latency: 0ms-20ms, failures: 20 %, repeats: 20 % }
    faults: [{ fault: answers-late, probability: 30 %, delay: ${latency} }, { fault: answers-twice, probability: 20 % }]
  - name: others
phases:
  - name: work
    duration: 500ms
    actions: [{ do: setWifi, rate: 60/s }, { do: setLanguage, each: 2 }, { do: pressButton, each: 1 }]
`,
      );
    const decisions: string[] = [];
    for (const [name, latency] of [
      ['quick', '1ms'],
      ['slow', '100ms'],
    ] as const) {
      const log = join(folder, `${name}.ndjson`);
      await runHere(`run ${scenario('same', latency)} --run same --clean --decisions ${log}`);
      decisions.push(readFileSync(log, 'utf8'));
    }
    const delays = /answers-late \d+/g;
    t.ok(decisions[0]!.split('\n').length > 100, 'there are decisions');
    t.match(decisions[0], delays);
    t.equal(decisions[0]!.replace(delays, 'answers-late'), decisions[1]!.replace(delays, 'answers-late'));
  });

  t.test('another seed decides otherwise', async (t) => {
    const log = join(folder, 'other.ndjson');
    await runHere(`run ${join(folder, 'same.yaml')} --run same --seed 6 --decisions ${log}`);
    t.not(readFileSync(log, 'utf8'), readFileSync(join(folder, 'quick.ndjson'), 'utf8'));
  });

  t.test('processes that share a run have all of its devices and actions, each one once', async (t) => {
    const file = write(
      'shared',
      `devices: 7
phases: [{ name: work, duration: 400ms, actions: [{ do: setWifi, each: 2 }, { do: setApn, rate: 20/s }] }]
expectations: [lost == 0, doubled == 0, succeeded == 100 %, devices == 7]
`,
    );
    const shards = await Promise.all(
      [1, 2].map(async (index) => {
        const { record } = await runHere(`run ${file} --shard ${index}/2`);
        const out = join(folder, `shard-${index}`);
        writeReport(out, record);
        return { record, out };
      }),
    );
    const all = mergeReports(shards.map(({ out }) => out));
    t.strictSame(
      shards.map(({ record }) => record.chapters[0]?.fleet['devices']),
      [4, 3],
    );
    t.match(all, { shard: null, chapters: [{ fleet: { devices: 7, activated: 7 } }] });
    t.equal(all.chapters.find(({ name }) => name === 'work')?.figures?.accepted, 7 * 2 + 8);
    t.ok(all.verdicts.every(({ holds }) => holds));
    t.throws(() => mergeReports([shards[0]!.out]), { message: /^merge: / });
  });

  t.test('devices of another run are left alone: exit code 2', async (t) => {
    const file = write('mine', 'devices: 2\nphases: [{ name: work, duration: 10ms }]\n');
    const first = await runHere(`run ${file} --developer one`);
    t.ok(first.record.verdicts.every(({ holds }) => holds));
    const { code, stderr } = await simulate(`run ${file} --developer two`);
    t.equal(code, 2);
    t.match(stderr, /^--run: device \d{15} exists already and belongs to developer one/);
  });

  t.test('a service that disappears during a run is exit code 3, with a report', async (t) => {
    const file = write('gone', 'devices: 2\nactivate: false\nsettle: 0s\nphases: [{ name: work, duration: 4s }]\n');
    const metric = async (pattern: RegExp): Promise<number> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const metrics = await (await fetch(`${admin}/metrics`, { headers })).text();
      return Number(pattern.exec(metrics)?.[1] ?? 0);
    };
    const statusReports = (): Promise<number> => metric(/^lapel_mqtt_messages_total\{topic="status"\} (\d+)$/m);
    const connected = (): Promise<number> => metric(/^lapel_devices_connected (\d+)$/m);
    while ((await connected()) > 0); // devices of the runs before
    const reports = await statusReports();
    t.ok(reports > 0);
    const child = spawn(process.execPath, [MAIN, ...`run ${file} --wait 0 --json ${at}`.split(' ')], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, exit] = [text(child.stdout), once(child, 'exit')];
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    while (!said.includes(' start: ')) await once(child.stderr, 'data');
    // Both are connected and have reported their status, so they know it.
    await until(async () => (await connected()) >= 2 && (await statusReports()) >= reports + 2);
    service.signal('SIGKILL');
    t.equal((await exit)[0], 3);
    t.match(said, /the service could not be reached at /);
    if ((await output) === '') t.fail(said);
    t.match(JSON.parse(await output), {
      scenario: 'gone',
      chapters: [{ name: 'run' }, { name: 'start' }, { name: 'work' }],
    });
  });
});
