// npm test: runs the tests in several processes, and prints a line for each, then each failure.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { inParallel } from '@lapel/device-sim/customer/service-client';
import { allFiles, GROUPS, SUITES } from './groups.ts';
import { missingCodes } from './missing-codes.ts';
import type { Outcome } from './outcome.ts';
import { RECORD } from './received-codes.ts';
import { RESULTS, runTestProcess } from './test-process.ts';

/** More processes would disturb tests that prefer the same ports. */
const MOST = 5;

const PREPARED = pathToFileURL(join(import.meta.dirname, 'prepared.ts')).href;

const HELP = `npm test -- [options] [FILE, FOLDER or GROUP ...]

  --suite S  service (usual): the service by itself; journeys: a user's way through the browser, the guides, the demo and
             the device simulator, and simulated worlds; all: both
  --postgres tests that use the embedded database use PostgreSQL instead, where it is installed
  --mqtt-5   devices of tests that ask for no version of MQTT speak 5
  --jobs N   processes that run at a time (one more than there are processors, at most ${MOST})

Groups: ${Object.keys(GROUPS).join(', ')}
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string', default: 'service' },
    jobs: { type: 'string' },
    postgres: { type: 'boolean', default: false },
    'mqtt-5': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (values.postgres) process.env['LAPEL_TEST_DATABASE'] = 'postgres';
if (values['mqtt-5']) process.env['LAPEL_TEST_MQTT'] = '5';
const jobs = Number(values.jobs ?? Math.min(availableParallelism() + 1, MOST));
const unknown = positionals.find((name) => !(name in GROUPS || existsSync(name)));
const suite = (SUITES as Record<string, readonly (readonly string[])[] | undefined>)[values.suite];
let problem = unknown && `${unknown} is no file and no group`;
if (!suite) problem = `--suite: ${values.suite} is no suite`;
if (!Number.isInteger(jobs) || jobs <= 0) problem = `--jobs: ${values.jobs} is no number of processes`;
if (problem !== undefined) {
  process.stderr.write(`${problem}\n\n${HELP}`);
  process.exit(2);
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());

const begun = performance.now();
/** The runs that a name means: a group, a file, or the files of a folder that is no group. */
function runsOf(name: string): string[][] {
  const path = name in GROUPS ? name : relative('test', name);
  if (path in GROUPS || !statSync(name).isDirectory()) return [[path]];
  return allFiles()
    .filter((file) => file.startsWith(`${path}/`))
    .map((file) => [file]);
}
const wanted = positionals.flatMap(runsOf);
const runs = wanted.length > 0 || !suite ? wanted : suite;
/** A whole suite that has the tests of the service must have received each error code. */
const record = runs === SUITES.service || runs === SUITES.all ? join(RESULTS, 'received-codes') : undefined;
if (record !== undefined) {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(record, '');
  process.env[RECORD] = resolve(record);
}
const outcomes = await inParallel(runs, jobs, async (names): Promise<[name: string, outcome: Outcome]> => {
  const from = performance.now();
  const name = names.join('+');
  const isFile = names.some((one) => !(one in GROUPS));
  const args = isFile ? ['--import', PREPARED, `test/${name}`] : ['test/runs/group.ts', ...names];
  const outcome = await runTestProcess(name, args, ending.signal);
  const { failures, passed, skipped } = outcome;
  const parts = [`${passed} passed`, `${failures.length} failed`, `${skipped.length} skipped`, seconds(from)];
  process.stdout.write(`${failures.length === 0 ? 'ok' : 'NOT OK'} ${name}: ${parts.join(', ')}\n`);
  return [name, outcome];
});

let [passed, skipped, failed] = [0, 0, 0];
for (const [name, outcome] of outcomes) {
  passed += outcome.passed;
  skipped += outcome.skipped.length;
  failed += outcome.failures.length;
  for (const reason of outcome.skipped) process.stdout.write(`skipped: ${name}: ${reason}\n`);
  for (const failure of outcome.failures) process.stdout.write(`\nFAILED: ${name}: ${failure}\n`);
}
const missing = record === undefined ? [] : missingCodes(readFileSync(record, 'utf8'));
for (const code of missing) {
  const fate = skipped === 0 ? '\nFAILED' : 'skipped'; // a test that was skipped may be the one that receives it
  process.stdout.write(`${fate}: the error code ${code}: no client of a test has received it from a service\n`);
}
if (skipped === 0) failed += missing.length;
process.stdout.write(
  `\n${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds(begun)}. All output: ${RESULTS}\n`,
);
if (runs === SUITES.service)
  process.stdout.write(
    'Not run: the console, the guides, the demo, the simulator and its worlds. `npm test -- --suite all` runs these as well.\n',
  );
process.exitCode = failed === 0 ? 0 : 1;
