import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Outcome, outcomeOf } from './outcome.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The output of each process, kept until its next run. */
export const RESULTS = '.tap/test-results';

/** Seconds that one test may take. */
const LONGEST_TEST = 240;
/** Milliseconds after which a process is killed. Tests end far earlier; a process whose loop is blocked cannot end one. */
const LONGEST_PROCESS = 1_200_000;

/**
 * Runs Node with the arguments, and keeps its TAP in `RESULTS`, under the given name. Resolves to the outcome; an exit
 * code or a signal without a failed assertion is a failure as well.
 */
export async function runTestProcess(
  name: string,
  args: readonly string[],
  { ending, env = {} }: { ending: AbortSignal; env?: NodeJS.ProcessEnv },
): Promise<Outcome> {
  const file = join(ROOT, RESULTS, `${name}.tap`);
  mkdirSync(dirname(file), { recursive: true });
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      ...env,
      NODE_COMPILE_CACHE: join(ROOT, '.tap/compile-cache'),
      TAP_TIMEOUT: process.env['TAP_TIMEOUT'] ?? `${LONGEST_TEST}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LONGEST_PROCESS,
    killSignal: 'SIGKILL',
    signal: ending,
  });
  const exit = once(child, 'exit') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  await pipeline(child.stdout, createWriteStream(file));
  const [code, signal] = await exit;
  const outcome = outcomeOf(readFileSync(file, 'utf8'));
  if (code === 0 || outcome.failures.length > 0) return outcome;
  const end = signal === null ? `exit code ${code}` : signal;
  return { ...outcome, failures: [`no assertion failed, and the process ended with ${end}`] };
}
