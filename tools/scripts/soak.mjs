#!/usr/bin/env node
// npm run try -- soak: runs the crash tests with a chosen number of crashes, or gives changed documents to the parsers of foreign
// bytes. It prints the seed, so that a run can be repeated.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const HELP = `npm run try -- soak [options]
npm run try -- soak fuzz [options]

  --rounds N   crashes in each kind of crash test (40)
  --seed N     the seed of the run (random); a failed run fails again with its seed, unless the machine's timing differs
  --only NAME  process, cluster, rollout or rollout-nodes (all)

  fuzz         changed documents for each parser of foreign bytes
  --minutes N  for all parsers together (8)
  --seed N     the seed of the run (random); the same seed gives the same inputs
  --only NAME  mqtt, websocket, apk, axml, csv, ndjson, yaml, json, form, payload, message, selector or filter (all)
  --number N   only the input of this number, as a finding names it
`;

const ROLLOUT = 'test/rollouts/crash.test.ts';
const RUNS = {
  process: { file: 'test/flow/crash.test.ts' },
  cluster: { file: 'test/cluster/crash.test.ts' },
  rollout: { file: ROLLOUT, env: { CRASH_DEVICES: '2000' } },
  'rollout-nodes': { file: ROLLOUT, env: { CRASH_DEVICES: '2000', CRASH_NODES: '3' } },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string' },
    number: { type: 'string' },
    rounds: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help || positionals.length > 1 || (positionals.length === 1 && positionals[0] !== 'fuzz')) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 2);
}
if (positionals[0] === 'fuzz') {
  const given = ['seed', 'minutes', 'only', 'number'].filter((name) => values[name] !== undefined);
  const args = ['test/fuzz/main.ts', ...given.map((name) => `--${name}=${values[name]}`)];
  process.exit(spawnSync('node', args, { stdio: 'inherit' }).status ?? 1);
}
const runs = values.only === undefined ? Object.values(RUNS) : [RUNS[values.only]];
if (runs.includes(undefined)) {
  process.stderr.write(HELP);
  process.exit(2);
}
process.stdout.write(`seed ${values.seed}, ${values.rounds} rounds\n`);
for (const { file, env: own } of runs) {
  const env = { ...process.env, CRASH_ROUNDS: values.rounds, CRASH_SEED: values.seed, TAP_TIMEOUT: '0', ...own };
  if (spawnSync('node', [file], { stdio: 'inherit', env }).status !== 0) process.exitCode = 1;
}
