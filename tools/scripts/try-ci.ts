// npm run try -- ci: runs the jobs for a CI that docs/qa.md shows, as they stand there, each in a fresh clone with an
// empty HOME. It installs all packages twice, so it is not part of `npm test`. It needs Linux, bash, git and python3.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SETTINGS } from '@lapel/schemas/contracts/settings';
import { type CiJob, ciJobs, type Step } from './ci-jobs.ts';
import { endProcesses } from './ci-processes.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The jobs name no ports, so the service and the simulator use the defaults. */
const PORTS = ['LAPEL_HTTP_PORT', 'LAPEL_ADMIN_PORT', 'LAPEL_OBJECTS_PORT', 'LAPEL_MQTT_PORT'];
/** Variables without which this machine may have no network. */
const NETWORK = /^((https?|no|all)_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|npm_config_registry)$/i;
const STEP_MS = 15 * 60_000;
const SHOWN_LINES = 60;

const interrupted = new AbortController();
const interruption = interrupted.signal;
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());

/** Why a job is not as it should be. */
class Wrong extends Error {}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** PATH without the programs of this project's packages: a CI starts with the Node of its machine. */
const pathOfMachine = (): string =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes(`${sep}node_modules${sep}`))
    .join(delimiter);

async function refuseBusyPorts(): Promise<void> {
  for (const name of PORTS) {
    const port = Number(SETTINGS.find((setting) => setting.name === name)?.fallback);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening').catch(() => {
      throw new Wrong(`port ${port} is busy, and the jobs use it (${name}): end the program that listens on it`);
    });
    server.close();
    await once(server, 'close');
  }
}

/** The calls of npm that have installed something: npm writes a log of each call into HOME. */
function installations(home: string): string[] {
  const folder = join(home, '.npm/_logs');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const [, title = ''] = / verbose title (npm .*)/.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
    return /^npm (ci|i|install)\b/.test(title) ? [title] : [];
  });
}

const JUNIT = `import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
counts = {name: len(list(root.iter(name))) for name in ("testcase", "failure", "error")}
print(json.dumps({"root": root.tag, **root.attrib, **counts}))`;

/** Checks that the file is XML, and has tests, each of which has passed. */
function checkJUnit(file: string): void {
  if (!existsSync(file)) throw new Wrong(`${file} is missing`);
  const told = execFileSync('python3', ['-c', JUNIT, file], { encoding: 'utf8' });
  const read = JSON.parse(told) as Record<string, unknown>;
  const { root, testcase, failure, error, failures, errors } = read;
  const passed = root === 'testsuites' && Number(testcase) > 0 && failure === 0 && error === 0;
  if (!passed || failures !== '0' || errors !== '0') throw new Wrong(`${file} is not the report of a success: ${told}`);
}

/** Everything that a job gets from its runner: a checkout, an empty HOME, and folders for temporary files. */
function prepare() {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-ci-'));
  const checkout = join(folder, 'checkout');
  const home = join(folder, 'home');
  const temp = join(folder, 'temp');
  mkdirSync(home);
  mkdirSync(temp);
  execFileSync('git', ['clone', '--quiet', ROOT, checkout]);
  const kept = Object.entries(process.env).filter(([name]) => NETWORK.test(name));
  const env = { ...Object.fromEntries(kept), PATH: pathOfMachine(), HOME: home, RUNNER_TEMP: temp, CI: 'true' };
  return { folder, checkout, home, temp, env };
}

type Place = ReturnType<typeof prepare>;

/** Runs a step, as the runners do: `bash -e` with its commands as a file. Its output goes to `output`. */
async function run({ script }: Step, { temp, checkout, env }: Place, output: string, groups: number[]): Promise<void> {
  const file = join(temp, `step-${groups.length}.sh`);
  writeFileSync(file, `${script}\n`);
  // The output is a file: a pipe would stay open as long as programs in the background.
  const to = openSync(output, 'a');
  const shell: ChildProcess = spawn('bash', ['-e', file], {
    cwd: checkout,
    env,
    detached: true,
    stdio: ['ignore', to, to],
  });
  closeSync(to);
  if (shell.pid === undefined) throw new Wrong('bash cannot be started');
  groups.push(shell.pid);
  const done = new AbortController();
  const ended = once(shell, 'exit', { signal: interruption })
    .catch(() => {
      throw new Wrong('interrupted');
    })
    .finally(() => done.abort());
  const tooLong = setTimeout(STEP_MS, 'too long', { signal: done.signal }).catch(() => undefined);
  if ((await Promise.race([ended, tooLong])) === 'too long')
    throw new Wrong(`has not ended in ${STEP_MS / 60_000} minutes`);
  if (shell.exitCode !== 0) throw new Wrong(`exit code ${shell.exitCode ?? shell.signalCode}`);
}

/** Folders outside of the checkout that the job names, and that are new on the machine of a CI. */
const foldersOf = ({ steps }: CiJob): string[] =>
  steps.flatMap(({ script }) => [...script.matchAll(/LAPEL_DATA_DIR=(\/\S+)/g)].map(([, folder = '']) => folder));

async function tryJob(job: CiJob, place: Place): Promise<void> {
  const output = join(place.folder, 'output');
  const groups: number[] = [];
  const folders = foldersOf(job);
  for (const folder of folders)
    if (existsSync(folder)) throw new Wrong(`${folder} exists already, and the job uses it: remove it`);
  await refuseBusyPorts();
  try {
    for (const step of job.steps) {
      print(`  ${step.name}`);
      for (const line of step.script.trim().split('\n')) print(`    $ ${line}`);
      const began = performance.now();
      const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
      await run(step, place, output, groups).catch((error: unknown) => {
        throw error instanceof Wrong ? new Wrong(`"${step.name}": ${error.message}, after ${seconds()}`) : error;
      });
      print(`    exit code 0 after ${seconds()}`);
    }
    const calls = installations(place.home);
    if (calls.length !== 1) throw new Wrong(`npm has installed ${calls.length} times: ${calls.join(', ')}`);
    for (const path of job.artifacts)
      if (!existsSync(join(place.checkout, path))) throw new Wrong(`the artifact ${path} is missing`);
    for (const path of job.reports) checkJUnit(join(place.checkout, path));
  } catch (error) {
    const lines = existsSync(output) ? readFileSync(output, 'utf8').trimEnd().split('\n') : [];
    for (const line of lines.slice(-SHOWN_LINES)) print(`    | ${line}`);
    throw error;
  } finally {
    const left = await endProcesses(groups, place.home);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    for (const command of left) {
      print(`  NOT OK  a process was left behind: ${command}`);
      process.exitCode = 1;
    }
  }
  print(`  ok  one installation, ${job.reports.join(', ')} without failures, no process left behind`);
}

if (execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' }) !== '')
  print('Changes that are not committed are not tried.');
const jobs = ciJobs(execFileSync('git', ['show', 'HEAD:docs/qa.md'], { cwd: ROOT, encoding: 'utf8' }));
if (jobs.length === 0) throw new Error('docs/qa.md shows no job');
for (const job of jobs) {
  if (interruption.aborted) break;
  print(`The job for ${job.runner}`);
  const place = prepare();
  try {
    await tryJob(job, place);
  } catch (error) {
    print(`  NOT OK  ${error instanceof Wrong ? error.message : (error as Error).stack}`);
    process.exitCode = 1;
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}
