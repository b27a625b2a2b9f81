import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Characters of the command's output that an error quotes. */
const QUOTED = 500;
/** The time in which the last output of a command that failed must come, in milliseconds. */
const LAST_OUTPUT_MS = 1_000;

/** Sends a signal to a command and to all programs that it has started. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? Number.NaN), signal);
  } catch {
    child.kill(signal); // a system without groups of processes
  }
}

/**
 * Runs a command of the user in a shell. Resolves to the reason why it failed; undefined: it did not. A program that the
 * command has started in the background keeps running, and this process reads its output as long as it runs itself.
 */
export async function runCommand(
  command: string,
  { stopped, withinMs }: { stopped: AbortSignal; withinMs: number },
): Promise<string | undefined> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-QUOTED);
    });
  let isLate = false;
  const end = (): void => signalAll(child, 'SIGTERM');
  const late = setTimeout(() => {
    isLate = true;
    signalAll(child, 'SIGKILL');
  }, withinMs);
  stopped.addEventListener('abort', end, { once: true });
  const closed = new Promise((resolve) => child.once('close', resolve));
  // Not `close`: that waits for every program that has inherited the pipes.
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  clearTimeout(late);
  stopped.removeEventListener('abort', end);
  if (code !== 0) await Promise.race([closed, pause(LAST_OUTPUT_MS, undefined, { ref: false })]);
  for (const stream of [child.stdout, child.stderr]) (stream as Socket).unref();
  if (code === 0) return undefined;
  const ended = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
  const how = isLate ? `did not end within ${withinMs / 1000} s` : ended;
  return `the command of --restart ${how}: ${output.trim() || 'no output'}`;
}
