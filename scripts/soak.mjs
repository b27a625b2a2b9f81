#!/usr/bin/env node
// npm run soak: runs the crash tests with a chosen number of crashes. It prints the seed, so that a run can be repeated.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const HELP = `npm run soak -- [options]

  --rounds N   crashes in each kind of crash test (40)
  --seed N     the seed of the run (random); a failed run fails again with its seed, unless the machine's timing differs
  --only NAME  process or cluster (both)
`;

const FILES = { process: 'test/flow/crash.test.ts', cluster: 'test/cluster/crash.test.ts' };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const files = values.only === undefined ? Object.values(FILES) : [FILES[values.only]];
if (files.includes(undefined)) {
  process.stderr.write(HELP);
  process.exit(2);
}
process.stdout.write(`seed ${values.seed}, ${values.rounds} rounds\n`);
const env = { ...process.env, CRASH_ROUNDS: values.rounds, CRASH_SEED: values.seed, TAP_TIMEOUT: '0' };
for (const file of files) if (spawnSync('node', [file], { stdio: 'inherit', env }).status !== 0) process.exitCode = 1;
