// npm run try -- NAME ... [options]: carries out trials that are too long, or need too much of a machine, for the tests.
// A trial that passes without options is recorded in docs/contributing/trials.md.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createRecorder } from './trial/passes.ts';
import { TRIALS } from './trial/trials.ts';

const ROOT = join(import.meta.dirname, '../..');
const BAD_USAGE = 2;

/** Those of .ci/run that this machine can carry out. */
function namesInCi(): string[] {
  return Object.entries(TRIALS).flatMap(([name, { inCi }]) => {
    if (!inCi) return [];
    const reason = inCi();
    if (reason !== false) process.stdout.write(`${name} is not tried: ${reason}\n`);
    return reason === false ? [name] : [];
  });
}

const args = process.argv.slice(2);
const isCi = args.length === 1 && args[0] === '--ci';
const found = args.findIndex((word) => !Object.hasOwn(TRIALS, word));
const names = isCi ? namesInCi() : found < 0 ? args : args.slice(0, found);
if (names.length === 0 && !isCi) {
  const rows = Object.entries(TRIALS).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}\n`);
  const help = `npm run try -- NAME ... [options]
npm run try -- --ci                those that .ci/run carries out

${rows.join('')}
Options belong to a trial: npm run try -- NAME --help
`;
  const isHelp = args.length === 0 || args[0] === '--help';
  process.stderr.write(isHelp ? help : `${args[0]} is no trial\n\n${help}`);
  process.exit(isHelp ? 0 : BAD_USAGE);
}
const options = isCi ? [] : args.slice(names.length);
const recorder = createRecorder(ROOT);
const passed: string[] = [];
let status = 0;
for (const name of names) {
  const { file, options: own = [] } = TRIALS[name]!;
  const command = ['--disable-warning=ExperimentalWarning', join(ROOT, file), ...own, ...options];
  // A test process ends after half a minute by itself; a trial of the console takes minutes.
  const env = { TAP_TIMEOUT: '600', ...process.env };
  status = spawnSync(process.execPath, command, { stdio: 'inherit', cwd: ROOT, env }).status ?? 1;
  if (status !== 0) break;
  if (options.length === 0 && !TRIALS[name]!.inCi) passed.push(name);
}
if (passed.length > 0) process.stderr.write(`${recorder.record(passed, new Date().toISOString().slice(0, 10))}\n`);
process.exit(status);
