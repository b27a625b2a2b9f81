// npm test: runs the tests in several processes, and prints a line for each, then each failure.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { inParallel } from '@lapel/device-sim/customer/service-client';
import { beginRecord, failedFiles } from './failed-tests.ts';
import { allFiles, GROUPS, SUITES } from './groups.ts';
import { missingCodes } from './missing-codes.ts';
import type { Outcome } from './outcome.ts';
import { RECORD } from './received-codes.ts';
import { RESULTS, runTestProcess } from './test-process.ts';

/** More processes would disturb tests that prefer the same ports. */
const MOST = 5;

/** If more files fail, none is run again: it is no accident. */
const MOST_AGAIN = 5;

const PREPARED = pathToFileURL(join(import.meta.dirname, 'prepared.ts')).href;

const HELP = `npm test -- [options] [FILE, FOLDER or GROUP ...]

  --suite S  service (usual): the service by itself; journeys: a user's way through the browser, the guides, the demo and
             the device simulator, and simulated worlds; all: both
  --postgres tests that use the embedded database use PostgreSQL instead, where it is installed
  --mqtt-5   devices of tests that ask for no version of MQTT speak 5
  --again    each file with a failure is run once more, alone, when all others have ended, and only that run counts; the
             first failure is told. If more than ${MOST_AGAIN} files fail, none is
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
    again: { type: 'boolean', default: false },
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
mkdirSync(RESULTS, { recursive: true });
if (record !== undefined) {
  writeFileSync(record, '');
  process.env[RECORD] = resolve(record);
}
/** A process of tests. `files`: those with a failure; undefined when a failure is of none of them. */
interface Ran {
  name: string;
  outcome: Outcome;
  files: readonly string[] | undefined;
}

async function run(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const from = performance.now();
  const outcome = await runTestProcess(name, args, { ending: ending.signal, env });
  const { failures, passed, skipped } = outcome;
  const parts = [`${passed} passed`, `${failures.length} failed`, `${skipped.length} skipped`, seconds(from)];
  process.stdout.write(`${failures.length === 0 ? 'ok' : 'NOT OK'} ${name}: ${parts.join(', ')}\n`);
  return outcome;
}
const runFile = (file: string, name = file): Promise<Outcome> => run(name, ['--import', PREPARED, `test/${file}`]);

const ran = await inParallel(runs, jobs, async (names): Promise<Ran> => {
  const name = names.join('+');
  if (names.some((one) => !(one in GROUPS))) return { name, outcome: await runFile(name), files: [name] };
  const path = join(RESULTS, `${name}.failed`);
  const outcome = await run(name, ['test/runs/group.ts', ...names], beginRecord(path));
  return { name, outcome, files: failedFiles(outcome, path) };
});

/** Runs the files with a failure again. Returns those that passed. */
async function runAgain(files: readonly string[]): Promise<Set<string>> {
  const good = new Set<string>();
  if (files.length > MOST_AGAIN) {
    process.stdout.write(`${files.length} files failed, so none is run again\n`);
    return good;
  }
  for (const file of files) if ((await runFile(file, `again/${file}`)).failures.length === 0) good.add(file);
  return good;
}
const red = ran.filter(({ outcome }) => outcome.failures.length > 0);
const passedAgain = values.again ? await runAgain(red.flatMap(({ files = [] }) => files)) : new Set();

let [passed, skipped, failed] = [0, 0, 0];
for (const { name, outcome, files } of ran) {
  const isMended = files?.every((file) => passedAgain.has(file)) ?? false;
  passed += outcome.passed;
  skipped += outcome.skipped.length;
  failed += isMended ? 0 : outcome.failures.length;
  for (const reason of outcome.skipped) process.stdout.write(`skipped: ${name}: ${reason}\n`);
  const fate = isMended ? 'FAILED, AND PASSED ALONE' : 'FAILED';
  for (const failure of outcome.failures) process.stdout.write(`\n${fate}: ${name}: ${failure}\n`);
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
